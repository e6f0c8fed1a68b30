import TestSupport
import Testing

@testable import PostgreSQL

@Suite(.needsPostgres, .hangGuard) struct LossTests {
    /// Ends every connection of a client whose statements are in the schema's name.
    private func cut(_ client: PostgresClient, _ other: PostgresClient) async throws {
        let name = client.configuration.applicationName
        try await other.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1", .text(name))
    }

    /// Returns once a statement of the client's rests in the server.
    private func rests(_ client: PostgresClient, _ other: PostgresClient) async throws {
        let name = client.configuration.applicationName
        try await eventually("the statement runs") {
            let rows = try await other.query(
                "SELECT 1 FROM pg_stat_activity WHERE application_name = $1 AND wait_event = 'PgSleep'", .text(name))
            return !rows.isEmpty
        }
    }

    private func withTwo(_ body: (PostgresClient, PostgresClient) async throws -> Void) async throws {
        let name = TestPostgres.uniqueName()
        try await withClient({ $0.applicationName = name }) { client in
            try await withClient { other in try await body(client, other) }
        }
    }

    @Test func aReadIsRepeatedOnAnotherConnection() async throws {
        try await withTwo { client, other in
            async let slow = client.query("SELECT pg_sleep(1), 7")
            try await rests(client, other)
            try await cut(client, other)
            try await expectEqual(slow[0].int(1), 7)
            expectTrue(client.statistics.losses > 0)
        }
    }

    @Test func aConnectionThatWasIdleIsMadeAgain() async throws {
        try await withTwo { client, other in
            for round in 1...5 {
                try await cut(client, other)
                try await eventually { client.statistics.losses >= round }
                try await client.execute("INSERT INTO notes VALUES ($1, 'a')", .int(Int64(round)))
            }
            try await expectEqual(client.notes(), [1, 2, 3, 4, 5])
        }
    }

    /// Nobody but who asked can say whether a commit may be repeated.
    @Test func aCommitIsNotRepeatedByItself() async throws {
        try await withTwo { client, other in
            let pipeline = PostgresPipeline("INSERT INTO notes VALUES (1, 'a')", "SELECT pg_sleep(60)")
            async let slow = client.run(pipeline, .write())
            try await rests(client, other)
            try await cut(client, other)
            do {
                _ = try await slow
                Issue.record("the connection should have been lost")
            } catch let error as PostgresError {
                expectEqual(error.kind, .lost)
                expectTrue(error.mayHaveHappened)
            }
            try await expectEqual(client.notes(), [])
        }
    }

    @Test func aTransactionThatLosesItsConnectionSaysSo() async throws {
        try await withTwo { client, other in
            let error = await #expect(throws: PostgresError.self) {
                try await client.withTransaction { transaction in
                    try await transaction.query("INSERT INTO notes VALUES (1, 'a')")
                    try await cut(client, other)
                    try await transaction.query("INSERT INTO notes VALUES (2, 'a')")
                }
            }
            expectEqual(error?.kind, .lost)
            expectEqual(error?.mayHaveHappened, false)
            let notes = try await client.notes()
            expectEqual(notes, [])
        }
    }

    @Test func aTransactionIsRolledBackWhenItsTaskIsCancelled() async throws {
        try await withClient { client in
            let task = Task {
                try await client.withTransaction { transaction in
                    try await transaction.query("INSERT INTO notes VALUES (1, 'a')")
                    try await Task.sleep(for: .seconds(60))
                }
            }
            try await eventually { client.statistics.statements >= 3 }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            try await client.execute("INSERT INTO notes VALUES (1, 'b')")
            try await expectEqual(client.notes(), [1])
        }
    }
}

@Suite(.needsPostgres, .ownPostgres, .serialized, .hangGuard) struct RestartTests {
    @Test func aServerThatWasAwayIsFoundAgain() async throws {
        try await withClient { client in
            try await client.execute("INSERT INTO notes VALUES (1, 'a')")
            try await TestPostgres.stop(crash: true)
            async let waiting = client.notes()
            async let writing = client.execute("INSERT INTO notes VALUES (2, 'b')")
            try await Task.sleep(for: .milliseconds(200))
            try await TestPostgres.start()
            // The read and the write have waited: nothing of them was sent.
            try await expectTrue([[1], [1, 2]].contains(waiting))
            _ = try await writing
            try await expectEqual(client.notes(), [1, 2])
        }
    }
}
