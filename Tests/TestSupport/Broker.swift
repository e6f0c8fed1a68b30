import Foundation
import LocalCluster
package import Testing

/// The message broker of the tests, started beside them with `Tests/broker start DIR`, which prints the variables read
/// here.
package enum TestBroker {
    /// The broker that a suite has for itself (`OwnBroker`), which then comes before the environment's.
    @TaskLocal static var own: [String: String]?

    /// The broker's address, `amqp://user:password@host:port/vhost`.
    package static var url: String? { environment("SLUICE_TEST_AMQP_URL") }

    /// The address of its TLS listener, when it was started with `--tls`.
    package static var tlsURL: String? { environment("SLUICE_TEST_AMQPS_URL") }

    /// The address of its management plugin without the user and password in it, when it was started with `--management`.
    package static var managementURL: String? { environment("MANAGEMENT_URL")?.replacing("guest:guest@", with: "") }

    /// The folder it was started in: what `control` needs.
    package static var folder: String? { environment("SLUICE_TEST_BROKER_DIR") }

    /// Whether suites that need the broker run. Where it is required (continuous integration) they do without one too,
    /// and fail.
    package static var isAvailable: Bool { url != nil || isRequired }

    /// Whether a missing broker is a failure rather than a reason to skip.
    package static var isRequired: Bool {
        environment("CI") == "true" || environment("SLUICE_REQUIRE_BROKER") == "1"
    }

    /// The broker's address, or an error that says how to get one.
    package static func requireURL() throws -> String {
        guard let url else {
            throw TestBrokerError(
                "no broker: set SLUICE_TEST_AMQP_URL, as in: set -a; eval \"$(Tests/broker start DIR)\"; set +a")
        }
        return url
    }

    /// Whether `control` can be used: a broker elsewhere cannot be broken on purpose.
    package static var isControllable: Bool { folder != nil || isRequired }

    /// Runs `rabbitmqctl` with these arguments against the broker and returns what it printed.
    @discardableResult
    package static func control(_ arguments: String...) async throws -> String { try await control(arguments) }

    @discardableResult
    package static func control(_ arguments: [String]) async throws -> String {
        guard let folder else { throw TestBrokerError("no broker folder: set SLUICE_TEST_BROKER_DIR") }
        var attempts = 0
        while true {
            do {
                return try await run(["ctl", folder] + arguments)
            } catch {
                attempts += 1
                // rabbitmqctl gives a node seven seconds to take its connection, which a busy node does not always do.
                guard attempts < 5, "\(error)".contains("unable to perform an operation on node") else { throw error }
            }
        }
    }

    /// Declares what a test needs. A busy broker may not get a quorum queue to elect its leader in the time that it gives
    /// itself, and ends the connection (541, cluster_not_formed): the next time finds it quieter.
    package static func declaring<Value>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Value
    ) async throws -> Value {
        for _ in 0..<5 {
            if let value = try? await body() { return value }
            try await Task.sleep(for: .seconds(3))
        }
        return try await body()
    }

    /// A name no other test or run uses.
    package static func uniqueName(_ base: String = #function) -> String {
        let word = base.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
        return "test.\(word).\(String(UInt64.random(in: 0 ... .max), radix: 36))"
    }

    /// Stops the broker of this suite's own, or has it crash, and starts it again with its ports and its data.
    package static func restart(crash: Bool = false) async throws {
        guard own != nil, let folder else { throw TestBrokerError("only a suite's own broker may be stopped") }
        _ = try await run(["stop", folder] + (crash ? ["--kill"] : []))
        _ = try await run(["start", folder])
    }

    /// Stops one node of a suite's own cluster (`ownBroker("--nodes", "3")`), or has the node crash.
    package static func stopNode(_ number: Int, crash: Bool) async throws {
        _ = try await run(["stop", try node(number)] + (crash ? ["--kill"] : []))
    }

    package static func startNode(_ number: Int) async throws { _ = try await run(["start", try node(number)]) }

    /// Has one node of a suite's own cluster hang, or go on.
    package static func signalNode(_ number: Int, _ signal: String) async throws {
        let text = try String(contentsOfFile: "\(try node(number))/node.pid", encoding: .utf8)
        _ = try await shell(["kill", "-\(signal)", text.trimmingCharacters(in: .whitespacesAndNewlines)])
    }

    private static func node(_ number: Int) throws -> String {
        guard own != nil, let folder else { throw TestBrokerError("only nodes of a suite's own broker may be stopped") }
        return "\(folder)/node-\(number)"
    }

    private static func environment(_ name: String) -> String? {
        if let own { return own[name] }
        let value = ProcessInfo.processInfo.environment[name]
        return value?.isEmpty == false ? value : nil
    }

    /// Runs `Tests/broker`, found from this file.
    static func run(_ arguments: [String]) async throws -> String {
        let script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "broker").path
        return try await shell(["bash", script] + arguments)
    }

    /// Runs a program, and returns what it printed.
    @discardableResult
    package static func shell(_ command: [String]) async throws -> String {
        try await Program.run("/usr/bin/env", command)
    }
}

/// Why a test could not reach or control its broker.
package struct TestBrokerError: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}

extension Trait where Self == ConditionTrait {
    /// Skips, visibly, where there is no broker and none is required.
    package static var needsBroker: Self {
        .enabled(if: TestBroker.isAvailable, "needs a broker: set SLUICE_TEST_AMQP_URL (Tests/broker start DIR)")
    }

    /// Skips, visibly, where the broker cannot be controlled through `Tests/broker ctl`.
    package static var needsBrokerControl: Self {
        .enabled(if: TestBroker.isAvailable && TestBroker.isControllable, "needs SLUICE_TEST_BROKER_DIR")
    }
}
