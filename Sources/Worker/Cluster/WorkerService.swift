import AMQP
package import Logging
import Messages
package import Operations
import ServiceLifecycle
package import Storage
import SyncModel
import Synchronization

/// A worker: hears the others, consumes the slices of which it is first or second choice, and owns those that the broker
/// gives it.
package final class WorkerService: Service {
    private let configuration: WorkerConfiguration
    private let apps: AppDirectory
    private let stores: any SliceStores
    private let readiness: Readiness
    private let clock: WorkerClock
    private let metrics = WorkerMetrics()
    private let logger: Logger
    private let spool: AMQPSpool
    private let merges = AsidePool()
    private let looks = AsidePool()
    private let peers: Mutex<Peers>
    private let connections = Mutex<[AMQPConnection]>([])
    private let runners = Mutex<[SliceRunner]>([])
    /// What keeps the store from acknowledging anything.
    private let obstacle = Mutex<String?>(nil)

    package init(
        configuration: WorkerConfiguration, apps: any AppStore, stores: any SliceStores, readiness: Readiness,
        logger: Logger, clock: WorkerClock = .system
    ) {
        self.configuration = configuration
        self.apps = AppDirectory(store: apps)
        spool = AMQPSpool(folder: configuration.spoolFolder, maxHeldBytes: configuration.limits.maxHeldBytes)
        self.stores = stores
        self.readiness = readiness
        self.clock = clock
        var logger = logger
        logger[metadataKey: "worker"] = "\(configuration.id)"
        self.logger = logger
        peers = Mutex(
            Peers(own: configuration.id, patience: configuration.heartbeatInterval.milliseconds &* 3 &+ 500))
        for component in ["worker.broker", "worker.store", "worker.slices"] {
            readiness.set(component, ready: false, reason: "starting")
        }
    }

    package func run() async throws {
        let consuming = try await connect("consume")
        let publishing = try await connect("publish")
        do {
            try await work(consuming, publishing)
        } catch {
            await consuming.close()
            await publishing.close()
            throw error
        }
        await consuming.close()
        await publishing.close()
        readiness.set("worker.slices", ready: false, reason: "stopped")
    }

    /// Drops everything without a word, as a crash does: the slices stay claimed in the store.
    package func abandon() async {
        for runner in runners.withLock({ $0 }) { await runner.abandon() }
        for connection in connections.withLock({ $0 }) { await connection.close() }
    }

    // MARK: Connecting

    private func connect(_ purpose: String) async throws -> AMQPConnection {
        var amqp = configuration.amqp
        amqp.connectionName = "\(configuration.id) \(purpose)"
        // A worker that hangs keeps its slices until the broker gives its connection up, after two heartbeats.
        let patience = configuration.leaseDuration / 3
        if amqp.heartbeat == .zero || amqp.heartbeat > patience { amqp.heartbeat = patience }
        var attempt = 0
        while true {
            let connection = AMQPConnection(configuration: amqp, logger: logger)
            do {
                try await connection.start()
                connections.withLock { $0.append(connection) }
                return connection
            } catch {
                readiness.set("worker.broker", ready: false, reason: error.message)
                // Only a person can change that: the process ends, with the exit code that says so.
                if error.code == .authenticationFailed { throw error }
                logger.warning("broker cannot be reached", metadata: ["error": "\(error)"])
                attempt += 1
                let pause = Duration.milliseconds(min(5_000, 250 << min(attempt, 5)))
                try await cancelWhenGracefulShutdown { try await Task.sleep(for: pause) }
            }
        }
    }

    // MARK: Working

    private func work(_ consuming: AMQPConnection, _ publishing: AMQPConnection) async throws {
        let topology = configuration.topology
        let control = try await consuming.openChannel()
        try await configuration.gate?.enter(consuming, control)
        try await topology.declareShared(on: control, slices: configuration.slices)
        // On the connection that consumes: when it is lost, so are the slices.
        try await control.declareQueue(
            AMQPQueueDeclaration(name: topology.workerAlive(configuration.id), durable: false, exclusive: true))
        let presence = PresenceListener(connection: consuming, exchange: topology.presence, logger: logger)
        // Before the first heartbeat: nobody is to be taken for absent who was merely not heard yet.
        let heartbeats = try await presence.subscribe()
        let channel = try await publishing.openChannel(confirms: true)
        let dependencies = SliceRunner.Dependencies(
            configuration: configuration, consuming: consuming,
            publisher: WorkerPublisher(channel: channel, topology: topology, metrics: metrics, logger: logger),
            spool: spool, merges: merges, looks: looks, apps: apps, clock: clock, metrics: metrics, logger: logger)
        var runners: [SliceRunner] = []
        for slice in configuration.slices.all {
            let store =
                if let registry = configuration.registry { try await registry.open(slice, in: stores) } else {
                    try await stores.store(for: slice)
                }
            runners.append(SliceRunner(store: store, with: dependencies))
        }
        let all = runners
        self.runners.withLock { $0 = all }
        readiness.set("worker.store", ready: true)
        await supervise(
            Supervision(
                runners: runners, presence: presence, heartbeats: heartbeats, consuming: consuming,
                publishing: publishing, channel: channel))
        _ = await heartbeat(runners, on: channel, isStaying: false, load: 0)
    }

    private struct Supervision: Sendable {
        var runners: [SliceRunner]
        var presence: PresenceListener
        var heartbeats: AMQPConsumer
        var consuming: AMQPConnection
        var publishing: AMQPConnection
        var channel: AMQPChannel
    }

    /// Runs the slices until the service is told to stop and they have let go of everything.
    private func supervise(_ supervision: Supervision) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                await supervision.presence.listen(on: supervision.heartbeats) { heartbeat in
                    let now = self.clock.now()
                    self.peers.withLock { $0.heard(heartbeat, at: now) }
                }
            }
            group.addTask { await self.beat(supervision) }
            group.addTask { await self.watchStore(supervision) }
            group.addTask {
                try? await gracefulShutdown()
                await withTaskGroup(of: Void.self) { stopping in
                    for runner in supervision.runners { stopping.addTask { await runner.stop() } }
                }
            }
            await withTaskGroup(of: Void.self) { slices in
                for runner in supervision.runners { slices.addTask { await runner.run() } }
            }
            group.cancelAll()
        }
    }

    /// Says that this worker lives, and brings the slices in line with who else does.
    private func beat(_ supervision: Supervision) async {
        var handled = 0
        while !Task.isCancelled {
            let now = clock.now()
            for runner in supervision.runners {
                let (role, canHandOver) = peers.withLock {
                    ($0.role(in: runner.slice, at: now), $0.canHandOver(runner.slice, at: now))
                }
                await runner.want(role != .none, handOver: role == .second && canHandOver)
            }
            var total = 0
            for runner in supervision.runners { total += await runner.handled }
            let seconds = max(0.001, Double(configuration.heartbeatInterval.milliseconds) / 1_000)
            let owned = await heartbeat(
                supervision.runners, on: supervision.channel, isStaying: true, load: Double(total - handled) / seconds)
            handled = total
            metrics.owns(owned)
            await reportReadiness(supervision, owned: owned)
            try? await Task.sleep(for: configuration.heartbeatInterval)
        }
    }

    /// Looks after what the slices' owners cannot find out by themselves: who else has taken a slice, and what the store waits for
    /// when they wait for the store. Apart from the heartbeats: a store that does not answer
    /// makes this wait for each slice in turn, and a worker that is silent meanwhile would be taken for gone.
    private func watchStore(_ supervision: Supervision) async {
        while !Task.isCancelled {
            let found = await isHeldUp(supervision.runners) ? await stores.obstacle() : nil
            obstacle.withLock { $0 = found }
            for runner in supervision.runners {
                await runner.checkOwnership()
                if case .connected(let generation) = supervision.consuming.state { await runner.connected(generation) }
            }
            try? await Task.sleep(for: configuration.heartbeatInterval)
        }
    }

    private func isHeldUp(_ runners: [SliceRunner]) async -> Bool {
        for runner in runners {
            if await runner.trouble?.cause == .store { return true }
            if await runner.isHeldUp(for: configuration.limits.maxQuietStore) { return true }
        }
        return false
    }

    /// - Returns: how many slices are owned.
    private func heartbeat(
        _ runners: [SliceRunner], on channel: AMQPChannel, isStaying: Bool, load: Double
    ) async -> Int {
        var owns: [SliceNumber] = []
        var standsBy: [SliceNumber] = []
        var epochs: [String: UInt64] = [:]
        var holds: [String: Int] = [:]
        var lags: [String: SliceLag] = [:]
        var held: [HeldResets] = []
        var activity: [SliceActivity] = []
        for runner in runners {
            held += await runner.heldResets.map {
                HeldResets(
                    slice: runner.slice, app: $0.app, since: $0.heldSince ?? 0, asked: $0.asked,
                    clientFiles: $0.clientFiles)
            }
            if let busy = await runner.activity { activity.append(busy) }
            if await runner.isConsuming {
                holds[runner.slice.description] = await runner.unacknowledged
                lags[runner.slice.description] = await runner.lag()
            }
            if let epoch = await runner.epoch {
                owns.append(runner.slice)
                epochs[runner.slice.description] = epoch.value
            } else if await runner.isConsuming {
                standsBy.append(runner.slice)
            }
        }
        if activity.count > ActivityTally.maxSlices {
            activity.sort { ($0.apps.first?.changesets ?? 0) > ($1.apps.first?.changesets ?? 0) }
            activity.removeLast(activity.count - ActivityTally.maxSlices)
        }
        let message = HeartbeatMessage(
            worker: configuration.id, at: clock.now(), owns: owns, standsBy: standsBy, epochs: epochs, holds: holds,
            lags: lags, heldResets: held.isEmpty ? nil : held, totals: metrics.totals,
            activity: activity.isEmpty ? nil : activity, process: configuration.process?(), load: load,
            isStaying: isStaying)
        if let message = try? AMQPMessage(message, persistent: false) {
            try? await channel.publish(
                message, exchange: configuration.topology.presence, routingKey: "", timeout: .seconds(2))
        }
        return owns.count
    }

    private func reportReadiness(_ supervision: Supervision, owned: Int) async {
        let missing = supervision.consuming.obstacle ?? supervision.publishing.obstacle
        readiness.set("worker.broker", ready: missing == nil, reason: missing ?? "")
        var consuming = 0
        var holding = 0
        var still = 0
        var troubles: [(slice: SliceNumber, trouble: SliceTrouble)] = []
        for runner in supervision.runners {
            if await runner.isConsuming { consuming += 1 }
            if let trouble = await runner.trouble { troubles.append((runner.slice, trouble)) }
            if let trouble = await runner.standstill {
                still += 1
                troubles.append((runner.slice, trouble))
            }
            if let hold = await runner.heldResets.first {
                holding += 1
                troubles.append((runner.slice, SliceTrouble(hold)))
            }
        }
        metrics.holdsResets(holding)
        metrics.standsStill(still)
        metrics.holds(spool.statistics)
        func reason(_ found: (slice: SliceNumber, trouble: SliceTrouble)) -> String {
            "slice \(found.slice): \(found.trouble)"
        }
        let ofStore = troubles.first { $0.trouble.cause == .store }
        let obstacle = obstacle.withLock(\.self)
        readiness.set(
            "worker.store", ready: ofStore == nil && obstacle == nil, reason: obstacle ?? ofStore.map(reason) ?? "")
        readiness.set(
            "worker.slices", ready: troubles.isEmpty,
            reason: troubles.first.map(reason) ?? "owns \(owned), stands by \(consuming - min(consuming, owned))")
    }
}
