import Foundation
import Synchronization

/// A cluster of Sluice processes on this machine and the operator's shell beside it: for the demo and the end-to-end tests.
package final class LocalCluster: Sendable {
    package let amqpURL: String
    package let folder: String
    /// The binary.
    package let sluice: String
    private let count: Mutex<Int>
    package let prefix: String
    package let gatewayPort = FreePort.next()
    package let coordinatorPort = FreePort.next()
    private let adminToken = UUID().uuidString
    private let extra: [String: String]
    private let entrance: String?
    private let processes = Mutex<[String: ManagedProcess]>([:])

    /// - Parameters:
    ///   - prefix: of all queues, so that clusters can share a broker.
    ///   - environment: further settings of the processes, before those that all clusters have.
    ///   - entrance: where clients connect to, if not to the one gateway at `gatewayPort`.
    package init(
        amqpURL: String, folder: String, sluice: String, slices: Int = 8, prefix: String = "sluice",
        environment: [String: String] = [:], entrance: String? = nil
    ) {
        self.amqpURL = amqpURL
        self.folder = folder
        self.sluice = sluice
        count = Mutex(slices)
        self.prefix = prefix
        extra = environment
        self.entrance = entrance
    }

    /// How many slices processes and commands are told that there are.
    package var slices: Int {
        get { count.withLock { $0 } }
        set { count.withLock { $0 = newValue } }
    }

    /// The ids of the processes that were started and not stopped, by name.
    package var processIdentifiers: [String: Int32] { processes.withLock { $0.mapValues(\.pid) } }

    package var gatewayURL: String { entrance ?? "\(scheme("GATEWAY"))://127.0.0.1:\(gatewayPort)" }
    package var coordinatorURL: String { "\(scheme("COORDINATOR"))://127.0.0.1:\(coordinatorPort)" }
    /// The file of authorities that its clients trust beside the system's.
    package var authoritiesFile: String? { extra["SLUICE_TLS_CA_FILE"] }

    private func scheme(_ role: String) -> String {
        extra["SLUICE_\(role)_TLS_CERTIFICATE"] == nil ? "http" : "https"
    }

    /// What a process or an operator's shell needs to know of the cluster.
    package var environment: [String: String] {
        var environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("SLUICE_") }
        environment["SLUICE_AMQP_URL"] = amqpURL
        environment["SLUICE_AMQP_PREFIX"] = prefix
        environment["SLUICE_STORE_URL"] = "sqlite:\(folder)/store"
        environment["SLUICE_ADMIN_TOKEN"] = adminToken
        environment["SLUICE_COORDINATOR_URL"] = coordinatorURL
        environment["SLUICE_SLICES"] = "\(slices)"
        environment["SLUICE_LOG_LEVEL"] = "info"
        // A build for debugging hashes many times more slowly, on threads that let all others go first.
        environment["SLUICE_GATEWAY_PASSWORD_COST"] = "14"
        return environment.merging(extra) { $1 }
    }

    package func start(_ name: String, _ arguments: String...) async throws { try await start(name, arguments) }

    /// - Parameters:
    ///   - settings: of this process alone, before those of the cluster.
    ///   - prefix: a program and its arguments that become `sluice` with its arguments, such as `/usr/bin/env`.
    ///   - binary: of another version; nil: the cluster's.
    package func start(
        _ name: String, _ arguments: [String], settings: [String: String] = [:], through prefix: [String] = [],
        binary: String? = nil
    ) async throws {
        let command = prefix + [binary ?? sluice] + arguments
        let process = try await ManagedProcess.start(
            name: name, executable: command[0], arguments: Array(command.dropFirst()),
            environment: environment.merging(settings) { $1 }, logFolder: folder + "/logs")
        processes.withLock { $0[name] = process }
    }

    /// Whether a process of that name was started and has not ended.
    package func isRunning(_ name: String) -> Bool { process(name)?.isRunning ?? false }
    package func pause(_ name: String) { process(name)?.pause() }
    package func resume(_ name: String) { process(name)?.resume() }

    private func process(_ name: String) -> ManagedProcess? { processes.withLock { $0[name] } }

    /// Starts the roles: a coordinator, a gateway at `gatewayPort`, and workers named worker-1 ...
    package func startAll(workers: Int = 2) async throws {
        try await startCoordinator()
        for number in 1...max(workers, 1) { try await startWorker("worker-\(number)") }
        try await startGateway()
    }

    package func startCoordinator() async throws {
        try await start("coordinator", "coordinator", "--port", "\(coordinatorPort)")
    }
    package func startGateway() async throws { try await start("gateway", "gateway", "--port", "\(gatewayPort)") }
    package func startWorker(_ id: String) async throws { try await start(id, "worker", "--id", id) }

    /// What a process has logged so far.
    package func log(of name: String) -> String {
        (try? String(contentsOfFile: "\(folder)/logs/\(name).log", encoding: .utf8)) ?? ""
    }

    package func kill(_ name: String) async {
        guard let process = processes.withLock({ $0.removeValue(forKey: name) }) else { return }
        process.kill()
        await process.wait(upTo: .seconds(60))
    }

    /// SIGTERM, and the wait for an orderly end, for which the process has `shutdown.seconds` by its own clock.
    package func stop(_ name: String) async {
        guard let process = processes.withLock({ $0.removeValue(forKey: name) }) else { return }
        process.terminate()
        await process.wait(upTo: .seconds(150))
    }

    package func stop() async {
        let all = processes.withLock { processes in
            defer { processes = [:] }
            return Array(processes.values)
        }
        for process in all { process.terminate() }
        for process in all { await process.wait(upTo: .seconds(10)) }
    }

    /// Runs `sluice` as an operator would; standard output on success, its standard error in the error otherwise.
    @discardableResult
    package func operate(_ arguments: String...) async throws -> String { try await operate(arguments) }

    /// - Parameter binary: of another version; nil: the cluster's.
    package func operate(_ arguments: [String], binary: String? = nil) async throws -> String {
        try await Program.run(binary ?? sluice, arguments, environment: environment, called: "sluice")
    }

    /// Runs any program of the operator's shell.
    package func shell(_ program: String, _ arguments: [String]) async throws -> String {
        try await Program.run("/usr/bin/env", [program] + arguments, environment: environment, called: program)
    }

    package func operateJSON<Value: Decodable>(_ type: Value.Type, _ arguments: String...) async throws -> Value {
        try await operateJSON(type, arguments)
    }

    package func operateJSON<Value: Decodable>(_ type: Value.Type, _ arguments: [String]) async throws -> Value {
        let text = try await operate(arguments + ["--json"])
        do {
            return try JSONDecoder().decode(Value.self, from: Data(text.utf8))
        } catch {
            throw LocalClusterError(
                "sluice \(arguments.joined(separator: " ")) --json printed \(text.prefix(300)): \(error)")
        }
    }

    /// Repeats `body` until it does not throw; its last error is in the one thrown when time is up.
    package static func retrying<Value>(
        _ what: String, upTo limit: Duration = .seconds(300), _ body: () async throws -> Value
    ) async throws -> Value {
        let deadline = ContinuousClock.now + limit
        while true {
            do { return try await body() } catch {
                guard ContinuousClock.now < deadline else {
                    throw LocalClusterError("waited \(limit) until \(what); \(error)")
                }
                try await Task.sleep(for: .milliseconds(200))
            }
        }
    }

    /// Waits until the coordinator answers and every slice has an owner, and a stand-by if there is more than one worker.
    package func waitUntilReady(workers: Int) async throws {
        struct Slice: Decodable {
            var owner: String?
            var standBy: [String]
        }
        try await Self.retrying("the coordinator answers") { _ = try await operate("apps", "list") }
        try await Self.retrying("every slice has an owner and a stand-by") {
            let all = try await operateJSON([Slice].self, "slices")
            let ready = all.filter { $0.owner != nil && (workers < 2 || !$0.standBy.isEmpty) }.count
            guard ready == slices else { throw LocalClusterError("\(ready) of \(slices) slices are served") }
        }
    }
}
