import Foundation
import Logging
import TestSupport
import Testing

@testable import PostgreSQL

struct SynchronousStandbysTests {
    private func state(
        names: String = "a, b", commit: String = "on", connected: [String] = [], synchronous: Int? = 0,
        waiting: Int = 0, longest: Int = 0
    ) -> SynchronousStandbys {
        SynchronousStandbys(
            names: names, commit: commit, connected: connected, synchronous: synchronous, waiting: waiting,
            longest: longest)
    }

    @Test func commitsThatWaitForNobodyHaveNoObstacle() {
        expectTrue(state(names: " ").obstacle == nil)
        expectTrue(state(commit: "off").obstacle == nil && state(commit: "local").obstacle == nil)
        expectTrue(state(connected: ["a (sync)"], synchronous: 1).obstacle == nil)
        expectTrue(state(connected: ["a (sync)"], synchronous: 1, waiting: 3, longest: 1).obstacle == nil)
        // A role that may not see which of them are synchronous.
        expectTrue(state(connected: ["a"], synchronous: nil).obstacle == nil)
    }

    @Test(arguments: [
        ([], 0, 0, ["no standby is connected", "'a, b'"]), (["c (async)"], 0, 0, ["connected: c (async)"]),
        ([], 2, 40, ["2 commits wait, the first for 40 s", "pg_reload_conf()"]),
    ])
    func missingStandbysAreNamedWithWhatToDo(
        _ connected: [String], _ waiting: Int, _ longest: Int, _ words: [String]
    ) throws {
        let text = try #require(state(connected: connected, waiting: waiting, longest: longest).obstacle)
        expectTrue(words.allSatisfy(text.contains), "\(text)")
    }

    @Test func aStandbyThatDoesNotConfirmIsAnObstacle() {
        expectTrue(state(connected: ["a (sync)"], synchronous: 1, waiting: 1, longest: 30).obstacle != nil)
        expectTrue(state(connected: ["a"], synchronous: nil, waiting: 1, longest: 30).obstacle != nil)
    }
}

/// A server whose commits wait for a standby that is not there.
@Suite(.needsPostgres, .hangGuard) struct MissingStandbyTests {
    @Test func anErrorSaysWhatTheCommitWaitsFor() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "alone-\(UInt32.random(in: 0 ... .max))")
            .path
        func run() async throws {
            let printed = try await TestPostgres.run(["start", folder])
            let line = printed.split(separator: "\n").first { $0.hasPrefix("SLUICE_TEST_POSTGRES_URL=") }
            let url = String(try #require(line).dropFirst("SLUICE_TEST_POSTGRES_URL=".count))
            // As processes have it: a role that may see next to nothing of the server.
            for statement in [
                "CREATE ROLE worker LOGIN PASSWORD 'w'", "CREATE SCHEMA s AUTHORIZATION worker",
                "ALTER SYSTEM SET synchronous_standby_names = 'second'", "SELECT pg_reload_conf()",
            ] { _ = try await TestPostgres.run(["sql", folder, statement]) }
            var configuration = try PostgresConfiguration(url.replacing(/sluice:[0-9a-f]+@/, with: "worker:w@"))
            configuration.searchPath = "s"
            configuration.connections = 1
            configuration.sessions = 0
            configuration.timeout = .seconds(4)
            configuration.patience = .seconds(1)
            let client = PostgresClient(configuration, logger: Logger(label: "test"))
            await expectEqual(client.obstacle()?.contains("no standby is connected"), true)
            // The statement that waits for the standby, and that which waits for its connection. On a busy machine the
            // second may find the connection free again: then both are written once more.
            var kinds: Set<PostgresError.Kind?> = []
            var pair = 0
            while kinds != [.timeout, .busy], pair < 12 {
                pair += 1
                let names = ["a\(pair)", "b\(pair)"]
                async let first = #expect(throws: PostgresError.self) {
                    try await client.execute("CREATE TABLE \(names[0]) (n int)")
                }
                try await Task.sleep(for: .milliseconds(300))
                let second = await #expect(throws: PostgresError.self) {
                    try await client.execute("CREATE TABLE \(names[1]) (n int)")
                }
                for error in [await first, second] {
                    kinds.insert(error?.kind)
                    expectEqual(
                        error?.message.contains("synchronous_standby_names is 'second'"), true, "\(error as Any)")
                }
            }
            expectEqual(kinds, [.timeout, .busy])
            await client.close()
        }
        let result: Result<Void, any Error>
        do { result = .success(try await run()) } catch { result = .failure(error) }
        _ = try? await TestPostgres.run(["stop", folder, "--kill"])
        try? FileManager.default.removeItem(atPath: folder)
        try result.get()
    }
}
