import AMQP
import Logging
import Messages
import Metrics
import Operations
import Storage
import StorageSQLite
import SyncModel

/// Brings a process into the cluster that its settings name: no part of it is opened that is another's, and no store is made
/// where one is missing.
struct ClusterEntrance {
    let settings: ClusterSettings
    let slices: SliceCount
    let stores: any Stores
    let logger: Logger
    /// Told what the process waits for, and why; nil: for nothing any more.
    var waits: @Sendable (Waiting, String?) -> Void = { _, _ in }

    enum Waiting { case store, broker }

    /// The control store, and what lets the process use the rest of the cluster.
    struct Admission {
        var control: any ControlStore
        var gate: BrokerGate
        /// Nil for stores in memory, which are always new.
        var registry: SliceRegistry?
    }

    /// - Throws: `StoreError` (`mismatch`) with what to do; what opening the store or reaching the broker throws.
    func enter() async throws -> Admission {
        guard let place = stores.inspector().place else {
            let gate = BrokerGate(onlyIfUnmarked: mark(of: "in memory"), place: settings.brokerPlace)
            return Admission(control: try await stores.control(), gate: gate)
        }
        let cluster = try await cluster(at: place)
        let control = try await stores.control()
        let gate = BrokerGate(
            mark: mark(of: cluster.id), place: settings.brokerPlace,
            folder: try stores.inspector().files.map {
                FolderClaim(settings.topology, folder: try StoreFolder($0.folder).name)
            },
            wasMarked: { try await control.cluster()?.hasMarkedBroker == true },
            didMark: { _ = try await control.updateCluster { $0.hasMarkedBroker = true } })
        return Admission(
            control: control, gate: gate, registry: SliceRegistry(cluster: cluster.id, control: control))
    }

    private func mark(of cluster: String) -> BrokerMark { BrokerMark(settings.topology, cluster: cluster) }

    private func cluster(at place: String) async throws -> ClusterRecord {
        let prefix = settings.topology.prefix
        var broker: BrokerMark.Finding?
        while true {
            let inspector = stores.inspector()
            let entry = try ClusterEntry(
                try await found(by: inspector), slices: (try? await inspector.slices()) ?? [], count: slices,
                prefix: prefix,
                place: place)
            switch entry {
            case .enter(let cluster): return cluster
            case .adopt(let made):
                let control = try await stores.control()
                for slice in made { try await control.recordSlice(slice, epoch: Epoch(0)) }
                let cluster = try await control.cluster(orCreate: .new(prefix: prefix))
                logger.notice(
                    "the store of an earlier version got a cluster's id", metadata: ["cluster": "\(cluster.id)"])
            case .create:
                // Another process may be making the cluster: whoever finds the broker marked looks at the store again.
                if let broker, broker != .none { throw Self.missing(place, broker, at: settings.brokerPlace) }
                broker = try await findMark()
                guard broker == BrokerMark.Finding.none else { continue }
                let cluster = try await stores.control().cluster(orCreate: .new(prefix: prefix))
                logger.notice("a new cluster", metadata: ["cluster": "\(cluster.id)", "store": "\(place)"])
            }
        }
    }

    /// What is there of a cluster, after as long as the store takes to be reached.
    private func found(by inspector: any StoreInspector) async throws -> StoredCluster {
        var pause = Duration.milliseconds(250)
        while true {
            do throws(StoreError) {
                let cluster = try await inspector.cluster()
                waits(.store, "the store is there, and what is in it is being opened")
                return cluster
            } catch {
                guard error.isRetriable, inspector.files == nil else { throw error }
                waits(.store, error.words)
                // The watch of the store begins when the process has entered.
                Gauge(label: "sluice.store.up").record(0)
                logger.warning("the store cannot be reached", metadata: ["error": "\(error)"])
            }
            try await Task.sleep(for: pause)
            pause = min(pause * 2, .seconds(5))
        }
    }

    private static func missing(_ place: String, _ broker: BrokerMark.Finding, at address: String) -> StoreError {
        var name = "a cluster"
        if case .foreign(let id?) = broker { name = "cluster \(id)" }
        return StoreError(
            .mismatch,
            """
            there is no store at \(place), and the broker at \(address) keeps the queues of \(name): see that the disk is \
            mounted and that store.url is right, or restore the store (sluice restore). Nothing was made there. To begin anew \
            with nothing: sluice store adopt --new
            """)
    }

    /// Asks the broker for its mark, for as long as it takes: only the broker can tell a new cluster from one that has lost
    /// its store.
    private func findMark() async throws -> BrokerMark.Finding {
        var pause = Duration.milliseconds(250)
        while true {
            do {
                let found = try await settings.withBroker(name: "entrance") { connection in
                    try await mark(of: "none").find(on: connection)
                }
                waits(.broker, nil)
                return found
            } catch let error as AMQPError where error.isRetriable {
                waits(.broker, error.message)
                logger.warning(
                    "the broker cannot be reached; a cluster is made only when the broker knows of none",
                    metadata: ["error": "\(error)"])
            }
            try await Task.sleep(for: pause)
            pause = min(pause * 2, .seconds(5))
        }
    }
}

extension ClusterSettings {
    /// The broker as errors name it, without its credentials.
    var brokerPlace: String {
        guard let amqp = try? AMQPConfiguration(url: configuration.amqpURL.revealed) else { return "amqp.url" }
        let endpoints = amqp.endpoints.map(\.description).joined(separator: ", ")
        return "\(endpoints), virtual host \(amqp.virtualHost), prefix \(topology.prefix)"
    }
}
