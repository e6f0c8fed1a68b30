import Foundation
package import Testing

/// The PostgreSQL server that tests run against: that of the environment, or a suite's own (`Tests/postgres`).
package enum TestPostgres {
    @TaskLocal static var own: [String: String]?

    /// The address of its superuser.
    package static var url: String? { environment("SLUICE_TEST_POSTGRES_URL") }

    /// Whether suites that need the server run. Where it is required (continuous integration) they do without one too, and fail.
    package static var isAvailable: Bool { url != nil || isRequired }

    /// Whether a missing server is a failure rather than a reason to skip.
    package static var isRequired: Bool {
        environment("CI") == "true" || environment("SLUICE_REQUIRE_POSTGRES") == "1"
    }

    /// The server's address, or an error that says how to get one.
    package static func requireURL() throws -> String {
        guard let url else {
            throw TestBrokerError(
                "no server: set SLUICE_TEST_POSTGRES_URL, as in: set -a; eval \"$(Tests/postgres start DIR)\"; set +a")
        }
        return url
    }

    /// A name of a schema that no other test or run uses.
    package static func uniqueName() -> String { "test_\(UInt64.random(in: 0 ... .max))" }

    /// Stops the server of this suite's own, or has it crash.
    package static func stop(crash: Bool = false) async throws {
        _ = try await run(["stop", try ownFolder()] + (crash ? ["--kill"] : []))
    }

    /// Starts the server of this suite's own again with its port and its data.
    package static func start() async throws { _ = try await run(["start", try ownFolder()]) }

    private static func ownFolder() throws -> String {
        guard let folder = own?["SLUICE_TEST_POSTGRES_DIR"] else {
            throw TestBrokerError("only a suite's own server may be stopped")
        }
        return folder
    }

    private static func environment(_ name: String) -> String? {
        if let own { return own[name] }
        let value = ProcessInfo.processInfo.environment[name]
        return value?.isEmpty == false ? value : nil
    }

    /// Runs `Tests/postgres`, found from this file.
    package static func run(_ arguments: [String]) async throws -> String {
        let script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "postgres").path
        return try await TestBroker.shell(["bash", script] + arguments)
    }
}

/// Gives a suite a server of its own, which it may stop without hurting others.
package struct OwnPostgres: SuiteTrait, TestScoping {
    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "pg-\(UInt32.random(in: 0 ... .max))").path
        let printed = try await TestPostgres.run(["start", folder])
        var environment: [String: String] = [:]
        for line in printed.split(separator: "\n") {
            let parts = line.split(separator: "=", maxSplits: 1)
            if parts.count == 2 { environment[String(parts[0])] = String(parts[1]) }
        }
        let result: Result<Void, any Error>
        do {
            result = .success(try await TestPostgres.$own.withValue(environment, operation: function))
        } catch {
            result = .failure(error)
        }
        _ = try await TestPostgres.run(["stop", folder, "--kill"])
        try? FileManager.default.removeItem(atPath: folder)
        try result.get()
    }
}

extension Trait where Self == OwnPostgres {
    /// A server for this suite alone.
    package static var ownPostgres: Self { OwnPostgres() }
}

extension Trait where Self == ConditionTrait {
    /// Skips, visibly, where there is no PostgreSQL server and none is required.
    package static var needsPostgres: Self {
        .enabled(
            if: TestPostgres.isAvailable, "needs PostgreSQL: set SLUICE_TEST_POSTGRES_URL (Tests/postgres start DIR)")
    }
}
