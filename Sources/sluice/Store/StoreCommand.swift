import AMQP
import ArgumentParser
import Messages
import Storage
import SyncModel

struct StoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store",
        abstract: "Show what belongs to the cluster, or make it take a part that it refuses.",
        discussion: """
            Control store, slices and broker bear the id of their cluster. A process refuses parts that are missing, \
            empty, older than what the cluster has seen, or another cluster's, and says so. Mount, put back or \
            restore what is missing; adopt only what is lost for good.

              sluice store show
              sluice store verify --all      # realms verify, without a coordinator
              sluice store adopt --broker    # the broker was replaced, or its prefix
              sluice store adopt --slice 3   # there is no other copy of slice 3
              sluice store adopt --new       # everything is lost: begin anew

            Of a store in PostgreSQL, the tables and the database roles of the cluster's processes:

              sluice store init       # make them
              sluice store migrate    # bring them to this version
              sluice store check      # what is wrong with them
              sluice store copy sqlite:/var/lib/sluice postgres://owner@db/sluice
            """,
        subcommands: [
            StoreShow.self, StoreAdopt.self, StoreInit.self, StoreMigrate.self, StoreCheck.self, StoreVerify.self,
            StoreCopyCommand.self,
        ], defaultSubcommand: StoreShow.self)
}

struct StoreShow: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "The cluster's id, its slices, and whether the broker is the cluster's.")

    @OptionGroup var common: ReportOptions

    private struct Report: Encodable {
        var store: String
        var cluster: String?
        var prefix: String?
        /// The slices that were made, and those of them that have no file.
        var made: [Int]
        var missing: [Int]
        var broker: String
    }

    func run(_ settings: ClusterSettings) async throws {
        let inspector = try settings.stores().inspector()
        guard let place = inspector.place else {
            throw CommandFailure(.badInput, "a store in memory belongs to its process: set store.url")
        }
        var report = Report(store: place, made: [], missing: [], broker: "not marked yet")
        switch try await inspector.cluster() {
        case .none: throw CommandFailure(.notFound, "there is no store at \(place)")
        case .unnamed: break
        case .named(let cluster):
            report.cluster = cluster.id
            report.prefix = cluster.prefix
            let there = Set(try await inspector.slices())
            let made = try await inspector.slicesMade().keys.sorted()
            report.made = made.map(\.value)
            report.missing = made.filter { !there.contains($0) }.map(\.value)
            report.broker = try await broker(cluster, settings)
        }
        try output.show(
            report,
            """
            store    \(report.store)
            cluster  \(report.cluster ?? "no id yet: it gets one when a process starts")
            prefix   \(report.prefix ?? "-")
            slices   \(report.made.count) made, missing: \(report.missing.isEmpty ? "none" : "\(report.missing)")
            broker   \(report.broker)
            """)
    }

    private func broker(_ cluster: ClusterRecord, _ settings: ClusterSettings) async throws -> String {
        do {
            let finding = try await settings.withBroker(name: "store") { connection in
                try await BrokerMark(settings.topology, cluster: cluster.id).find(on: connection)
            }
            switch finding {
            case .own: return "this cluster's"
            case .none where cluster.hasMarkedBroker: return "has no mark, though the cluster has made one"
            case .none: return "not marked yet"
            case .unproven: return "has a cluster's mark that this user may not compare"
            case .foreign(let other): return "of \(other.map { "cluster \($0)" } ?? "another cluster")"
            }
        } catch let error as AMQPError {
            return "cannot be asked: \(error)"
        }
    }
}
