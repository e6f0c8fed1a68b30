import AMQP
import ArgumentParser
import Foundation
import Inspection
import Messages
import SyncModel

struct TailCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "tail",
        abstract: "Show messages as they pass.",
        discussion: """
            Copies of what passes the exchanges, through a queue of its own: the workers' queues get everything all \
            the same. A line shows whom a message is about and how large it is; what users wrote is shown with \
            --bodies only.

            --session follows one client's session, by the name that the logs of gateways and workers have for it: what \
            its gateway asks, uploads and tells for it. What owners answer goes past the exchanges; what they tell all \
            gateways is the realm's.

            The cluster's clock passes all the time, also when nobody writes: ticks, and what follows them \
            (generations, and where realms stand that have come to rest, told once more). It is shown with --clock, \
            or where --type names it. Heartbeats likewise, with --presence.

            Where the terminal is slower than the cluster, messages are left out, and a line says how many.
            """)

    @OptionGroup var common: ReportOptions
    @Option(help: "Only this app's.", completion: .apps) var app: String?
    @Option(help: "Only this realm's: a partition value.") var realm: String?
    @Flag(help: "Only those of apps' flexible realms.") var flexible = false
    @Option(help: "Only those of this session: GATEWAY/NUMBER, as logs name it.") var session: String?
    @Option(help: "Only messages of this type, such as changeset; repeat it for several.") var type: [String] = []
    @Option(help: "No messages of this type; repeat it for several.") var notType: [String] = []
    @Option(help: "End after so many.") var count: Int?
    @Flag(help: "Ticks too, and what follows them.") var clock = false
    @Flag(help: "The workers' heartbeats too.") var presence = false
    @Flag(help: "Show the ids of messages, and the sessions that they are of.") var ids = false
    @Flag(help: "Show the bodies: users' data.") var bodies = false

    func run(_ settings: ClusterSettings) async throws {
        if let stranger = (type + notType).first(where: { !MessageSummary.types.contains($0) }) {
            throw CommandFailure(
                .badInput,
                "\(type.contains(stranger) ? "--type" : "--not-type"): there is no type \(stranger.prefix(40)); expected one of "
                    + MessageSummary.types.sorted().joined(separator: ", "))
        }
        if flexible, realm != nil {
            throw CommandFailure(.badInput, "--flexible is the realm without a partition: leave --realm out")
        }
        if let count, count < 1 { throw CommandFailure(.badInput, "--count: expected 1 or more, found \(count)") }
        let slices = try settings.sliceCount()
        try await settings.withBroker(name: "tail") { connection in
            let tap = try await open(connection, settings, slices)
            let filter = MessageFilter(
                app: app, partition: flexible ? "" : realm.map { RealmName.partition(fromText: $0) },
                session: session, types: Set(type),
                refused: Set(notType), withClock: clock || !type.isEmpty)
            let tail = MessageTail(
                tap: tap, slices: slices, filter: filter, limit: count,
                printer: TailPrinter(json: output.json, bodies: bodies, ids: ids), dead: settings.topology.dead)
            let place = connection.configuration.endpoints.first?.description ?? "the broker"
            Printing.note("following \(settings.topology.prefix) at \(place); interrupt to end")
            try await tail.run()
        }
    }

    private func open(
        _ connection: AMQPConnection, _ settings: ClusterSettings, _ slices: SliceCount
    ) async throws -> MessageTap {
        do throws(AMQPError) {
            return try await MessageTap.open(
                on: connection, topology: settings.topology, slices: slices,
                includesPresence: presence || type.contains(HeartbeatMessage.type))
        } catch {
            guard error.code == .notFound else { throw error }
            throw CommandFailure(
                .notFound, "there is no cluster with prefix \(settings.topology.prefix) at this broker: \(error)")
        }
    }
}

/// The app, partition, session and types of the messages that are wanted.
struct MessageFilter {
    var app: String?
    var partition: String?
    var session: String?
    /// The types to show; empty: all but `refused`.
    var types: Set<String>
    var refused: Set<String> = []
    /// Whether what passes because time does is shown, too.
    var withClock = false

    func accepts(_ summary: MessageSummary) -> Bool {
        (app == nil || summary.app == app) && (partition == nil || summary.partition == partition)
            && (session == nil || summary.session == session) && (types.isEmpty || types.contains(summary.type))
            && !refused.contains(summary.type)
            && (withClock || !summary.isOfClock)
    }
}
