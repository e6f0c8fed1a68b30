import AMQP
import Foundation
import Logging
import Messages
import MessagingSupport
import Operations
import ServiceLifecycle
import Storage
import StorageSQLite
import SyncModel
import Synchronization
import TestSupport
import Testing

@testable import Worker

/// Workers on the real broker, with a gateway's and a coordinator's ears.
final class Cluster: Sendable {
    let topology: Topology
    let control: any ControlStore
    let stores: any SliceStores
    let connection: AMQPConnection
    let channel: AMQPChannel
    let slices: SliceCount
    /// Everything that reached the gateway's queue, the outcomes and the dead letters.
    let heard = Mutex<[AMQPMessage]>([])

    private init(
        topology: Topology, control: any ControlStore, stores: any SliceStores, connection: AMQPConnection,
        channel: AMQPChannel, slices: SliceCount
    ) {
        self.topology = topology
        self.control = control
        self.stores = stores
        self.connection = connection
        self.channel = channel
        self.slices = slices
    }

    static let app = "tasks"
    let realm = RealmName(app: Cluster.app, partition: "\"store\"")
    var slice: SliceNumber { realm.slice(of: slices) }

    /// - Parameter hearsDeadLetters: whether it listens to their queue, again should that be deleted and made anew.
    static func with(
        slices count: Int = 2, stores given: [any SliceStore] = [], hearsDeadLetters: Bool = true,
        _ body: @escaping @Sendable (Cluster) async throws -> Void
    ) async throws {
        let shared = try await TestTopology.open(
            Topology(prefix: TestBroker.uniqueName("worker")), slices: try #require(SliceCount(count)),
            amqp: try TestTopology.configuration())
        let (topology, connection, channel) = (shared.topology, shared.connection, shared.channel)
        let control = try await SQLiteStores.inMemory().control()
        try await control.insert(AppRecord(id: app, createdAt: 0))
        let cluster = Cluster(
            topology: topology, control: control, stores: GivenStores(given),
            connection: connection, channel: channel, slices: shared.slices)
        let gateway = try await channel.declareQueue(
            AMQPQueueDeclaration(name: topology.gateway("g"), durable: false, exclusive: true))
        for key in [cluster.realm.topicKey, ResetNotice.topicKey(app: app)] {
            try await channel.bindQueue(gateway.name, exchange: topology.realms, routingKey: key)
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for queue in [gateway.name, topology.outcomes] + (hearsDeadLetters ? [topology.dead] : []) {
                let consumer = try await connection.openChannel().consume(queue: queue)
                group.addTask {
                    while let batch = try? await consumer.nextBatch(max: 100), let last = batch.last {
                        cluster.heard.withLock { $0 += batch.map(\.message) }
                        try? await consumer.ack(upTo: last)
                    }
                }
            }
            let result: Result<Void, any Error>
            do { result = .success(try await body(cluster)) } catch { result = .failure(error) }
            group.cancelAll()
            // The listeners end with their queues.
            await shared.close()
            try result.get()
        }
    }

    // MARK: Workers

    final class RunningWorker: Sendable {
        let id: String
        let service: WorkerService
        private let trigger: @Sendable () -> Void
        private let task: Task<Void, any Error>

        /// - Parameter grace: after which a worker that was told to stop is cancelled; nil: it may take as long as it likes.
        init(id: String, service: WorkerService, grace: Duration? = nil) {
            self.id = id
            self.service = service
            var configuration = ServiceGroupConfiguration(services: [service], logger: TestTopology.logger)
            configuration.maximumGracefulShutdownDuration = grace
            let group = ServiceGroup(configuration: configuration)
            trigger = { Task { await group.triggerGracefulShutdown() } }
            task = Task { try await group.run() }
        }

        func stop() async throws {
            trigger()
            do {
                try await task.value
            } catch is CancellationError {
                // The worker's grace was over; `RoleRunner` takes that for an orderly end, too.
            }
        }

        /// Ends the worker as a crash does: nothing is handed over.
        func kill() async {
            await service.abandon()
            task.cancel()
            _ = try? await task.value
        }
    }

    /// - Parameter lease: how long the worker may be silent follows from it, too: generous for a busy machine.
    func startWorker(
        _ id: String, lease: Duration = .seconds(90), prefetch: Int = 200, readiness: Readiness = Readiness(),
        limits: WorkerLimits = WorkerLimits(), grace: Duration? = nil
    ) throws -> RunningWorker {
        let configuration = WorkerConfiguration(
            id: id, amqp: try TestTopology.configuration(), topology: topology, slices: slices,
            prefetch: prefetch, heartbeatInterval: .milliseconds(300), leaseDuration: lease, limits: limits)
        return RunningWorker(
            id: id,
            service: WorkerService(
                configuration: configuration, apps: control, stores: stores, readiness: readiness,
                logger: TestTopology.logger), grace: grace)
    }

    /// Waits until somebody owns the realm's slice, and says who.
    func ownership(where condition: (SliceOwnership) -> Bool = { _ in true }) async throws -> SliceOwnership {
        let store = try await stores.store(for: slice)
        while true {
            if let owned = try await store.ownership(), !owned.isReleased, condition(owned) { return owned }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Waits until the worker that is first choice among these has the slice, with ticks all the while.
    func settledOwnership(among workers: [String]) async throws -> SliceOwnership {
        let first = Rendezvous.ranking(of: workers, for: slice).first
        let store = try await stores.store(for: slice)
        while true {
            try await send(TickMessage(at: 0))
            if let owned = try await store.ownership(), !owned.isReleased, owned.owner == first { return owned }
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    // MARK: Speaking

    func send(_ message: some Message, to slice: SliceNumber? = nil) async throws {
        try await send(AMQPMessage(message, correlationID: "c", replyTo: topology.gateway("g")), to: slice)
    }

    func send(_ message: AMQPMessage, to slice: SliceNumber? = nil) async throws {
        try await channel.publish(
            message, exchange: topology.slices, routingKey: "\(slice ?? self.slice)", mandatory: true,
            timeout: .seconds(120))
    }

    /// The first message of a type that fits; waits for it.
    func next<M: Message>(_ type: M.Type, where condition: (M) -> Bool = { _ in true }) async throws -> M {
        while true {
            let found = heard.withLock { heard -> M? in
                for (index, message) in heard.enumerated() where message.properties.type == M.type {
                    guard let decoded = try? message.decode(type), condition(decoded) else { continue }
                    heard.remove(at: index)
                    return decoded
                }
                return nil
            }
            if let found { return found }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    func nextDead() async throws -> AMQPMessage {
        while true {
            let found = heard.withLock { heard in
                heard.firstIndex { $0.properties.headers[DeadLetter.reasonHeader] != nil }.map { heard.remove(at: $0) }
            }
            if let found { return found }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    /// - Parameter other: instead of the cluster's own realm.
    func join(session: UInt64, to other: RealmName? = nil) async throws -> (file: ClientFileIdent, generation: UInt64) {
        let realm = other ?? realm
        let context = RequestContext(
            realm: realm, session: SessionReference(gateway: "g", number: session), sentAt: 0, patience: .max,
            rights: .all)
        try await send(
            BindRequest(
                context: context, user: "u", connection: "c", needsClientFile: true, sessionReason: 0,
                protocolVersion: 10, userAgent: "test"), to: realm.slice(of: slices))
        let bound = try await next(BoundAnswer.self)
        let file = try #require(bound.clientFile)
        try await identify(file, session: session, in: realm)
        _ = try await next(IdentifiedAnswer.self)
        return (file, bound.generation)
    }

    func identify(_ file: ClientFileIdent, session: UInt64, in other: RealmName? = nil) async throws {
        let realm = other ?? realm
        let context = RequestContext(
            realm: realm, session: SessionReference(gateway: "g", number: session), sentAt: 0, patience: .max,
            rights: .all)
        try await send(
            IdentifyRequest(
                context: context, user: "u", clientFile: file, download: DownloadCursor(),
                latest: SaltedServerVersion(version: 0, salt: 0)), to: realm.slice(of: slices))
    }

    func upload(
        _ file: ClientFileIdent, follows: ClientVersion = 0, base: ServerVersion = 0, timestamp: SyncTimestamp = 1_000,
        _ changesets: [[UInt8]]
    ) -> ChangesetMessage {
        let entries = changesets.enumerated().map { index, bytes in
            UploadedChangeset(
                clientVersion: follows + 1 + UInt64(index), serverVersion: base, timestamp: timestamp, changeset: bytes)
        }
        return ChangesetMessage(
            realm: realm,
            upload: .init(
                session: SessionReference(gateway: "g", number: file.ident.rawValue), clientFile: file.ident,
                generation: 1,
                follows: follows,
                progress: UploadCursor(clientVersion: follows + UInt64(changesets.count), serverVersion: base),
                lockedServerVersion: 0, rights: .all), entries: entries)
    }
}
