import AMQP
import ArgumentParser
import Messages
import Storage
import SyncModel

/// The operator's way out where a process refuses a part of the cluster. Says first what it will mean.
struct StoreAdopt: ClusterCommand {
    static let configuration = CommandConfiguration(
        commandName: "adopt",
        abstract: "Make the cluster take a broker, a slice or an empty folder that it refuses.",
        discussion: "Stop the cluster's processes first. Without --yes it says what would happen, and changes nothing.")

    @OptionGroup(title: "The cluster") var cluster: ClusterOptions
    @Flag(help: "Use the broker at amqp.url, with amqp.prefix, whatever it bears.") var broker = false
    @Option(help: "Take this slice as it is: an older copy, another cluster's, or none at all; may be repeated.")
    var slice: [Int] = []
    @Flag(help: "Begin anew in an empty folder, though the broker knows a cluster.") var new = false
    @Flag(help: "The whole store was put back to an earlier state (point-in-time recovery, a snapshot, a dump).")
    var rewound = false
    @Flag(help: "Do it.") var yes = false

    func run(_ settings: ClusterSettings) async throws {
        guard broker || new || rewound || !slice.isEmpty, !(new && (broker || rewound || !slice.isEmpty)),
            !(rewound && !slice.isEmpty)
        else {
            throw CommandFailure(
                .badInput, "say what to adopt: --broker, --slice N or --rewound, --broker with one of those, or --new")
        }
        let stores = try settings.stores()
        guard let place = stores.inspector().place else {
            throw CommandFailure(.badInput, "a store in memory belongs to its process: set store.url")
        }
        var steps: [Step] = []
        switch (try await stores.inspector().cluster(), new) {
        case (.none, true): steps = [beginning(at: place, stores, settings)]
        case (_, true):
            throw CommandFailure(.badInput, "there is a store at \(place): --new is for an empty folder")
        case (.none, false): throw CommandFailure(.notFound, "there is no store at \(place)")
        case (.unnamed, false):
            throw CommandFailure(.badInput, "the store has no id yet and takes everything: start a process")
        case (.named(let cluster), false):
            if broker { steps.append(taking(settings, for: cluster, stores)) }
            if rewound { steps.append(rewinding(at: place, stores, settings)) }
            for number in slice {
                guard let step = try await taking(SliceNumber(number), for: cluster, stores) else {
                    Printing.note("slice \(number) is this cluster's and up to date: nothing to adopt")
                    continue
                }
                steps.append(step)
            }
        }
        for step in steps {
            Printing.line("\(yes ? "" : "would ")\(step.what)")
            if yes { try await step.act() }
        }
        guard yes || steps.isEmpty else {
            throw CommandFailure(.badInput, "nothing was changed; say --yes to do it")
        }
    }

    private struct Step {
        /// What it does and what follows for clients, after "would".
        var what: String
        var act: () async throws -> Void
    }

    private func beginning(at place: String, _ stores: any Stores, _ settings: ClusterSettings) -> Step {
        let prefix = settings.topology.prefix
        return Step(
            what: """
                make a new, empty cluster at \(place). There are no apps and no users: whoever used the lost cluster's must \
                register again, and their devices keep what they have in files of their own
                """
        ) {
            let control = try await stores.control()
            let cluster = try await control.cluster(orCreate: .new(prefix: prefix))
            try await Self.mark(for: cluster.id, settings)
            _ = try await control.updateCluster { $0.hasMarkedBroker = true }
        }
    }

    private func rewinding(at place: String, _ stores: any Stores, _ settings: ClusterSettings) -> Step {
        let restore = RestoreRecord.now()
        return Step(
            what: """
                take the store at \(place), all of it, for an earlier state of itself: raise epochs, leave out idents, publish \
                the latest terminations again. Clients that are ahead of it must reset, under the campaigns \(restore.id).APP: \
                those with our SDK bring back what they uploaded since, others lose it
                """
        ) {
            try await settings.requireStopped("They would go on with what was before")
            try await StoreRewind(stores: stores, restore: restore).act()
        }
    }

    private func taking(_ settings: ClusterSettings, for cluster: ClusterRecord, _ stores: any Stores) -> Step {
        let prefix = settings.topology.prefix
        return Step(
            what: """
                use the broker at \(settings.brokerPlace) for cluster \(cluster.id). Uploads that waited elsewhere come again \
                from their clients. Terminations and resets that were published and not carried out are lost: publish them \
                again (sluice sync terminate APP --campaign ID), and look at sluice campaigns list
                """
        ) {
            try await Self.mark(for: cluster.id, settings)
            _ = try await stores.control().updateCluster {
                $0.prefix = prefix
                $0.hasMarkedBroker = true
            }
        }
    }

    private static func mark(for cluster: String, _ settings: ClusterSettings) async throws {
        try await settings.withBroker(name: "store") { connection in
            let channel = try await connection.openChannel()
            try await BrokerMark(settings.topology, cluster: cluster).replace(on: channel)
        }
    }

    /// Nil if the cluster takes the slice by itself.
    private func taking(
        _ slice: SliceNumber, for cluster: ClusterRecord, _ stores: any Stores
    ) async throws -> Step? {
        let control = try await stores.control()
        guard let known = try await control.slicesMade()[slice] else {
            throw CommandFailure(.notFound, "cluster \(cluster.id) has never made a slice \(slice)")
        }
        let store: any SliceStore
        do throws(StoreError) {
            store = try await stores.store(for: slice, mayMake: false)
        } catch {
            guard error.code == .notFound else { throw error }
            return Step(
                what: """
                    make slice \(slice) anew, empty. Every client realm in it must reset, onto an empty copy: what the clients \
                    had uploaded is gone from the cluster, and goes from every device that resets with anything but manual \
                    handling
                    """
            ) { try await control.forgetSlice(slice) }
        }
        let borne = try await store.cluster()
        let epoch = try await store.ownership()?.epoch ?? Epoch(0)
        guard borne != cluster.id && borne != nil || epoch < known else { return nil }
        return Step(
            what: """
                take slice \(slice) as it is, of \(borne.map { "cluster \($0)" } ?? "no cluster"), epoch \(epoch) (the cluster \
                has seen epoch \(known)). Clients that are ahead of it must reset, all of an app under one campaign: those with \
                our SDK bring back what they uploaded since, others lose it
                """
        ) {
            try await store.setCluster(cluster.id)
            try await store.putBack(.now(), epoch: known)
            // In case that the copy is ahead.
            try await control.recordSlice(slice, epoch: max(epoch, known))
        }
    }
}
