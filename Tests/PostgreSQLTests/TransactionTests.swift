import TestSupport
import Testing

@testable import PostgreSQL

@Suite(.needsPostgres, .hangGuard) struct TransactionTests {
    @Test func aTransactionReadsAndThenWrites() async throws {
        try await withClient { client in
            let before = client.statistics.roundTrips
            let last = try await client.withTransaction { transaction in
                let last = try await transaction.query("SELECT coalesce(max(id), 0) FROM notes")[0].int(0)
                var pipeline = PostgresPipeline()
                pipeline.add("INSERT INTO notes VALUES ($1, 'a')", .int(last + 1))
                _ = try await transaction.commit(pipeline)
                return last
            }
            expectEqual(last, 0)
            // The transaction's beginning goes with the first statement, its end with the last.
            expectEqual(client.statistics.roundTrips - before, 2)
            try await expectEqual(client.notes(), [1])
            try await client.withTransaction { _ = try await $0.query("INSERT INTO notes VALUES (2, 'b')") }
            try await expectEqual(client.notes(), [1, 2])
        }
    }

    @Test func throwingTransactionsChangeNothing() async throws {
        struct Refused: Error {}
        try await withClient { client in
            await #expect(throws: Refused.self) {
                try await client.withTransaction { transaction in
                    try await transaction.query("INSERT INTO notes VALUES (1, 'a')")
                    throw Refused()
                }
            }
            let afterRefusal = try await client.notes()
            expectEqual(afterRefusal, [])
            // An error that the body swallows has rolled back all the same, and is not taken for a success.
            let error = await #expect(throws: PostgresError.self) {
                try await client.withTransaction { transaction in
                    try await transaction.query("INSERT INTO notes VALUES (1, 'a')")
                    _ = try? await transaction.query("INSERT INTO notes VALUES (1, 'a')")
                }
            }
            expectEqual(error?.kind, .other)
            try await expectEqual(client.notes(), [])
        }
    }

    /// Two read the same before either writes: one of them is refused and repeated, and they add up as if they had run one
    /// after the other.
    @Test func transactionsInEachOthersWayAreRepeated() async throws {
        try await withClient({ $0.sessions = 2 }) { client in
            try await client.execute("INSERT INTO notes VALUES (0, '0')")
            let readers = Readers(expected: 2)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<2 {
                    group.addTask {
                        try await client.withTransaction(.serializable) { transaction in
                            let body = try await transaction.query("SELECT body FROM notes WHERE id = 0")[0].text(0)
                            await readers.arrive()
                            try await transaction.query(
                                "UPDATE notes SET body = $1 WHERE id = 0", .text(String((Int(body) ?? 0) + 1)))
                        }
                    }
                }
                try await group.waitForAll()
            }
            try await expectEqual(client.query("SELECT body FROM notes")[0].text(0), "2")
            expectTrue(client.statistics.conflicts > 0)
        }
    }

    @Test func aPipelineInADeadlockIsRepeated() async throws {
        try await withClient { client in
            try await client.execute("INSERT INTO notes VALUES (1, '0'), (2, '0')")
            func add(_ first: Int, _ second: Int) -> PostgresPipeline {
                PostgresPipeline(
                    "UPDATE notes SET body = (body::int + 1)::text WHERE id = \(first)", "SELECT pg_sleep(0.3)",
                    "UPDATE notes SET body = (body::int + 1)::text WHERE id = \(second)")
            }
            let (there, back) = (add(1, 2), add(2, 1))
            // Again until each has taken its first note before the other asks for it, which a busy machine may delay.
            var rounds = 0
            repeat {
                rounds += 1
                async let one = client.run(there, .write())
                async let two = client.run(back, .write())
                _ = try await (one, two)
            } while client.statistics.conflicts == 0 && rounds < 20
            let both = "\(2 * rounds)"
            try await expectEqual(client.query("SELECT body FROM notes").map { $0.text(0) }, [both, both])
            expectTrue(client.statistics.conflicts > 0)
        }
    }

    @Test func aSnapshotStandsStill() async throws {
        try await withClient { client in
            try await client.execute("INSERT INTO notes VALUES (1, 'a')")
            try await client.withSnapshot { snapshot in
                try await expectEqual(snapshot.query("SELECT count(*) FROM notes")[0].int(0), 1)
                try await client.execute("INSERT INTO notes VALUES (2, 'b')")
                try await expectEqual(snapshot.query("SELECT count(*) FROM notes")[0].int(0), 1)
                try await expectEqual(client.notes(), [1, 2])
            }
            let error = await #expect(throws: PostgresError.self) {
                try await client.withSnapshot { try await $0.query("INSERT INTO notes VALUES (3, 'c')") }
            }
            expectEqual(error?.kind, .readOnly)
        }
    }

    /// However many snapshots are open, pipelines have connections.
    @Test func transactionsLeaveConnectionsToOthers() async throws {
        try await withClient({ change in
            change.connections = 1
            change.sessions = 2
        }) { client in
            try await client.withSnapshot { _ in
                try await client.withSnapshot { second in
                    try await expectEqual(second.query("SELECT 1")[0].int(0), 1)
                    let third = Task { try await client.withSnapshot { try await $0.query("SELECT 3")[0].int(0) } }
                    try await Task.sleep(for: .milliseconds(50))
                    try await expectEqual(client.notes(), [])
                    third.cancel()
                    let error = await #expect(throws: PostgresError.self) { try await third.value }
                    expectEqual(error?.kind, .cancelled)
                }
            }
        }
    }
}

/// The transactions that have read: each waits until all that are expected have; a repeated transaction finds them gone
/// on.
private actor Readers {
    private var expected: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(expected: Int) { self.expected = expected }

    func arrive() async {
        expected -= 1
        guard expected > 0 else {
            waiting.forEach { $0.resume() }
            waiting = []
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }
}
