import Foundation
import Synchronization

/// A cluster as docs/deploy.md sets it up on three hosts: a broker node, a worker and a gateway on each, coordinators on two,
/// and PostgreSQL with a synchronous standby on the same two; in front of the gateways something that spreads clients over those
/// that are ready.
package final class HostCluster: Sendable {
    package let room: MachineRoom
    package let cluster: LocalCluster
    package let database: HostDatabase
    package let brokers: [String: PrivateBroker]
    package let balancer: LoadBalancer
    private let coordinators: TCPProxy
    private let supervisor: Supervisor
    /// Hosts whose broker node is down, and hosts without power.
    private let nodesDown = Mutex<Set<String>>([])

    package var hosts: [String] { room.hosts }
    /// Where clients connect to.
    package var url: String { balancer.url }
    /// How often a process ended that nobody had ended.
    package var unexpectedEnds: Int { supervisor.unexpectedEnds }

    /// The scripts that everything is started with.
    package struct Scripts: Sendable {
        package var hosts: String
        package var broker: String
        package var postgres: String

        /// - Parameter folder: where Sluice's Tests folder is.
        package init(in folder: String) {
            hosts = folder + "/hosts"
            broker = folder + "/broker"
            postgres = folder + "/postgres"
        }
    }

    /// Builds the hosts, and starts the database and the broker on them.
    ///
    /// - Parameter environment: further settings of all processes.
    package static func build(
        hosts count: Int, folder: String, sluice: String, scripts: Scripts, slices: Int = 8, prefix: String = "sluice",
        environment: [String: String] = [:]
    ) async throws -> HostCluster {
        let room = try await MachineRoom.build(hosts: count, script: scripts.hosts)
        let database = HostDatabase(
            script: scripts.postgres, folder: folder, room: room, primary: room.hosts[0], standby: room.hosts[1])
        var brokers: [String: PrivateBroker] = [:]
        for host in room.hosts {
            let joined = host == room.hosts[0] ? [] : ["--join", "\(folder)/broker-\(room.hosts[0])"]
            brokers[host] = PrivateBroker(
                script: scripts.broker, folder: "\(folder)/broker-\(host)", through: room.prefix(of: host),
                options: ["--host", host] + joined)
        }
        async let databaseIsUp: Void = database.start()
        var addresses: [String] = []
        // One after the other: each joins the cluster that is there.
        for host in room.hosts {
            guard let url = try await brokers[host]?.start(), let address = url.split(separator: "@").last else {
                continue
            }
            addresses.append(String(address))
        }
        try await databaseIsUp
        return try await HostCluster(
            room: room, database: database, brokers: brokers,
            amqpURL: "amqp://guest:guest@" + addresses.joined(separator: ","), folder: folder, sluice: sluice,
            slices: slices,
            prefix: prefix, environment: environment)
    }

    private init(
        room: MachineRoom, database: HostDatabase, brokers: [String: PrivateBroker], amqpURL: String, folder: String,
        sluice: String, slices: Int, prefix: String, environment: [String: String]
    ) async throws {
        self.room = room
        self.database = database
        self.brokers = brokers
        balancer = LoadBalancer(
            gateways: room.hosts.map { .init(host: $0, port: Ports.gateway, operationsPort: Ports.gatewayOperations) })
        coordinators = TCPProxy(targets: room.hosts.prefix(2).map { .init(host: $0, port: Ports.coordinator) })
        try await balancer.start()
        try await coordinators.start()
        var settings = environment
        settings["SLUICE_STORE_URL"] = database.url(user: HostDatabase.owner)
        settings["PGPASSWORD"] = database.ownerPassword
        settings["SLUICE_COORDINATOR_URL"] = "http://127.0.0.1:\(coordinators.port)"
        settings["SLUICE_GATEWAY_PUBLIC_URL"] = balancer.url
        cluster = LocalCluster(
            amqpURL: amqpURL, folder: folder, sluice: sluice, slices: slices, prefix: prefix, environment: settings,
            entrance: balancer.url)
        supervisor = Supervisor(cluster, names: room.hosts.flatMap { Self.processes(on: $0) })
    }

    private enum Ports {
        static let gateway = 9080
        static let coordinator = 9090
        static let workerOperations = 9101
        static let gatewayOperations = 9102
        static let coordinatorOperations = 9103
    }

    /// The names of the processes of ours on a host.
    package static func processes(on host: String) -> [String] {
        let number = host.dropFirst("host-".count)
        return (number == "1" || number == "2" ? ["coordinator-\(number)"] : []) + [
            "worker-\(number)", "gateway-\(number)",
        ]
    }

    /// The host that a process of that name is on.
    package func host(of process: String) -> String { "host-" + (process.split(separator: "-").last ?? "") }

    /// Makes the tables, starts everything and returns when clients can come.
    package func start() async throws {
        // The roles' passwords are the owner's here, as one person reads this machine's memory anyway.
        var environment = cluster.environment
        for role in ["GATEWAY", "WORKER", "COORDINATOR"] {
            environment["SLUICE_STORE_\(role)_PASSWORD"] = database.ownerPassword
        }
        try await Program.run(cluster.sluice, ["store", "init"], environment: environment, called: "sluice")
        for host in hosts {
            for process in Self.processes(on: host) { try await start(process) }
        }
        try await cluster.waitUntilReady(workers: hosts.count)
    }

    package func start(_ process: String) async throws {
        let role = String(process.prefix { $0 != "-" })
        var settings = [
            "SLUICE_STORE_URL": database.url(user: "sluice_\(role)"), "SLUICE_OPERATIONS_HOST": "0.0.0.0",
            "SLUICE_GATEWAY_HOST": "0.0.0.0", "SLUICE_COORDINATOR_HOST": "0.0.0.0",
        ]
        var arguments = [role, "--id", process]
        switch role {
        case "gateway":
            arguments += ["--port", "\(Ports.gateway)"]
            settings["SLUICE_OPERATIONS_PORT"] = "\(Ports.gatewayOperations)"
        case "coordinator":
            arguments += ["--port", "\(Ports.coordinator)"]
            settings["SLUICE_OPERATIONS_PORT"] = "\(Ports.coordinatorOperations)"
        default: settings["SLUICE_OPERATIONS_PORT"] = "\(Ports.workerOperations)"
        }
        try await cluster.start(
            process, arguments, settings: settings, through: room.prefix(of: host(of: process)))
        supervisor.setDown(process, false)
    }

    /// Ends the processes of ours; the room's end is that of all others.
    package func stop() async {
        await cluster.stop()
        await balancer.stop()
        await coordinators.stop()
    }

    /// Starts again what has ended by itself; until it is cancelled.
    package func supervise(_ journal: Journal) async { await supervisor.run(journal) { try await start($0) } }
}

// What happens to hosts, and what the people do who look after them.
extension HostCluster {
    /// Pulls a host's cable and cuts its power: every process on it is killed, and nobody hears of that.
    package func lose(_ host: String) async throws {
        try await room.unplug(host)
        for process in Self.processes(on: host) {
            supervisor.setDown(process, true)
            await cluster.kill(process)
        }
        try await killNode(on: host)
        if [database.primary, database.standby].contains(host) { try await database.kill(on: host) }
    }

    /// What an administrator does about a host that will not be back soon: the database goes on with the other one.
    package func goOn(without host: String) async throws {
        if database.primary == host {
            try await database.promote()
        } else if database.standby == host {
            try await database.goAlone()
        }
    }

    /// Brings a lost host back: its cable, its broker node, its database as the other's standby, its processes.
    package func bringBack(_ host: String) async throws {
        try await room.plug(host)
        try await startNode(on: host)
        if database.standby == host { try await database.follow() }
        for process in Self.processes(on: host) where !cluster.isRunning(process) { try await start(process) }
    }

    package func killNode(on host: String) async throws {
        nodesDown.withLock { _ = $0.insert(host) }
        try await brokers[host]?.kill()
    }

    package func startNode(on host: String) async throws {
        _ = try await brokers[host]?.start()
        nodesDown.withLock { _ = $0.remove(host) }
    }

    /// SIGSTOP to a broker node: its sockets stay open, and nothing answers.
    package func pauseNode(on host: String) { signal(SIGSTOP, toNodeOn: host) }
    package func resumeNode(on host: String) { signal(SIGCONT, toNodeOn: host) }

    private func signal(_ signal: Int32, toNodeOn host: String) {
        if let process = brokers[host]?.nodeProcess { _ = kill(process, signal) }
    }

    /// Kills the primary, lets its standby take over, and makes a new standby of it.
    ///
    /// - Parameter delay: how long it takes somebody to notice.
    package func failOver(after delay: Duration) async throws {
        try await database.kill(on: database.primary)
        try? await Task.sleep(for: delay)
        try await database.promote()
        try await database.follow()
    }

    /// Puts everything right: cables, broker nodes, processes.
    package func heal() async throws {
        try await room.restore()
        for host in hosts {
            resumeNode(on: host)
            if nodesDown.withLock({ $0.contains(host) }) { try await startNode(on: host) }
            for process in Self.processes(on: host) where !cluster.isRunning(process) { try await start(process) }
        }
        try await cluster.waitUntilReady(workers: hosts.count)
    }
}
