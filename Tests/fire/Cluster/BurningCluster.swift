import Foundation
import LocalCluster
import Synchronization

/// A cluster whose every connection can be cut and whose every process is started again when it ends by itself, as a
/// machine's service manager would.
final class BurningCluster: Sendable {
    let cluster: LocalCluster
    let broker: PrivateBroker
    let workers: [String]
    let gateways: [String]
    /// Where the clients connect to: spreads them over the gateways.
    let entrance: TCPProxy
    /// The proxies between each worker and gateway, by name, and the broker.
    let lines: [String: TCPProxy]
    /// The file system that the stores are alone on, if there could be one.
    let disk: Disk?
    /// What makes a worker's or the coordinator's clock wrong, if the run is to do so.
    let clock: WrongClock?
    /// Settings that make a run of minutes see what otherwise takes hours.
    static let haste = [
        "SLUICE_COORDINATOR_TICK_SECONDS": "0.5", "SLUICE_WORKER_HEARTBEAT_SECONDS": "1",
        // Histories are compacted in each run all the same.
        "SLUICE_WORKER_COMPACTION_VERSIONS": "150", "SLUICE_WORKER_COMPACTION_BYTES": "4096",
    ]
    /// The programs of processes that are not of the cluster's version.
    private let binaries = Mutex<[String: String]>([:])
    private let ports: [String: Int]
    private let supervisor: Supervisor
    private let queuesGivenUp = Mutex(0)
    /// What a fault is at.
    private let claimed = Mutex<Set<String>>([])

    init(
        folder: String, sluice: String, broker: PrivateBroker, amqpURL: String, workers: Int, gateways: Int,
        clock: WrongClock?, settings: [String: String] = [:]
    ) async throws {
        self.broker = broker
        self.workers = (1...workers).map { "worker-\($0)" }
        self.gateways = (1...gateways).map { "gateway-\($0)" }
        disk = await Disk.mount(at: folder + "/store")
        self.clock = clock
        cluster = LocalCluster(
            amqpURL: amqpURL, folder: folder, sluice: sluice, slices: 8, prefix: "fire",
            environment: Self.haste.merging(settings) { $1 })
        supervisor = Supervisor(cluster, names: ["coordinator"] + self.workers + self.gateways)
        ports = Dictionary(uniqueKeysWithValues: self.gateways.map { ($0, FreePort.next()) })
        let brokerPort = URLComponents(string: amqpURL)?.port ?? 5672
        lines = Dictionary(
            uniqueKeysWithValues: (self.workers + self.gateways).map {
                ($0, TCPProxy(targets: [.init(port: brokerPort)]))
            })
        entrance = TCPProxy(targets: self.gateways.compactMap { [ports] in ports[$0] }.map { .init(port: $0) })
    }

    var url: String { "http://127.0.0.1:\(entrance.port)" }
    /// How often a process ended that nobody had ended.
    var unexpectedEnds: Int { supervisor.unexpectedEnds }
    /// How many queues were deleted because the broker could not bring them up after a crash of its own.
    var deletedQueues: Int { queuesGivenUp.withLock { $0 } }

    func start() async throws {
        try await entrance.start()
        for line in lines.values { try await line.start() }
        try await start("coordinator")
        for name in workers + gateways { try await start(name) }
        try await cluster.waitUntilReady(workers: workers.count)
    }

    func stop() async {
        await cluster.stop()
        await entrance.stop()
        for line in lines.values { await line.stop() }
        await disk?.unmount()
    }

    /// - Parameter clockOffset: by how many seconds its clock is wrong.
    func start(_ name: String, clockOffset: Int? = nil) async throws {
        var settings: [String: String] = [:]
        if let line = lines[name], var components = URLComponents(string: cluster.amqpURL) {
            components.port = line.port
            settings["SLUICE_AMQP_URL"] = components.string
        }
        if let clockOffset, let clock { settings.merge(clock.settings(offset: clockOffset)) { $1 } }
        var arguments = [String(name.prefix { $0 != "-" })]
        switch arguments[0] {
        case "worker": arguments += ["--id", name]
        case "gateway": arguments += ["--id", name, "--port", "\(ports[name] ?? 0)"]
        default: arguments += ["--port", "\(cluster.coordinatorPort)"]
        }
        // The library changes the environment of the first process that loads it, and Swift's runtime then finds no
        // arguments; a process that becomes another is the first.
        try await cluster.start(
            name, arguments, settings: settings, through: clockOffset == nil ? [] : ["/usr/bin/env"],
            binary: binaries.withLock { $0[name] })
        supervisor.setDown(name, false)
    }

    /// Has processes be of another version whenever they are started from now on.
    func use(_ binary: String?, for names: [String]) {
        binaries.withLock { binaries in for name in names { binaries[name] = binary } }
    }

    /// Reserves one of some, from the chosen one on; nil if all are taken.
    func claim(oneOf names: [String], choice: UInt64) -> String? {
        claimed.withLock { claimed in
            let first = Int(choice % UInt64(names.count))
            let free = (0..<names.count).map { names[(first + $0) % names.count] }.first { !claimed.contains($0) }
            if let free { claimed.insert(free) }
            return free
        }
    }

    func release(_ name: String) { claimed.withLock { _ = $0.remove(name) } }

    /// Ends a process on purpose; `start` brings it back.
    func end(_ name: String, orderly: Bool) async {
        supervisor.setDown(name, true)
        if orderly { await cluster.stop(name) } else { await cluster.kill(name) }
    }

    /// Starts again what has ended by itself; until it is cancelled.
    func supervise(_ journal: Journal) async { await supervisor.run(journal) { try await start($0) } }

    /// Puts everything right: all processes up, nothing held, no alarm, room on the disk.
    func heal(_ journal: Journal) async throws {
        entrance.hold(false)
        for line in lines.values { line.hold(false) }
        disk?.free()
        _ = try await broker.start()
        try await broker.control("set_vm_memory_high_watermark", "absolute", "2GB")
        for name in ["coordinator"] + workers + gateways {
            cluster.resume(name)
            if !cluster.isRunning(name) { try await start(name) }
        }
        do {
            try await cluster.waitUntilReady(workers: workers.count)
        } catch {
            // RabbitMQ 3.10 can lose the process of a quorum queue that was deleted and declared anew, when it is killed
            // soon afterwards; docs/runbook.md tells an operator what to do.
            let broken = try await broker.queuesThatAreDown()
            guard !broken.isEmpty else { throw error }
            for queue in broken {
                journal.note("the broker cannot bring queue \(queue) up, so it is deleted, as an operator would")
                try await broker.control("delete_queue", queue)
            }
            queuesGivenUp.withLock { $0 += broken.count }
            try await cluster.waitUntilReady(workers: workers.count)
        }
        journal.note("everything is up again")
    }
}
