import Foundation
import Logging
import TestSupport
import Testing

@testable import PostgreSQL

@Suite(.needsPostgres, .hangGuard) struct ClientTests {
    @Test func statementsArePreparedAnewBesideAnyTransaction() async throws {
        try await withClient({ $0.connections = 1 }) { client in
            let prepared =
                "SELECT extract(epoch FROM prepare_time)::double precision FROM pg_prepared_statements ORDER BY prepare_time LIMIT 1"
            _ = try await client.query(prepared)
            try await Task.sleep(for: .milliseconds(1_200))
            let slept = Date().timeIntervalSince1970
            // The transaction's isolation has to be said before its first query.
            _ = try await client.run(PostgresPipeline("INSERT INTO notes VALUES (1, 'a')"), .write(.serializable))
            let oldest = try #require(try await client.query(prepared).first)
            expectTrue(oldest.real(0) > slept)
            try await expectEqual(client.notes(), [1])
        }
    }

    @Test func everyKindOfValueComesBackAsItWent() async throws {
        try await withClient { client in
            var pipeline = PostgresPipeline()
            pipeline.add(
                "SELECT $1, $2, $3, $4, $5, $6, $7", .int(.min), .real(-0.5), true, "häuser\u{1F600}",
                .bytes([0, 255, 39]),
                .int(nil), .text(nil))
            pipeline.add(
                "SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7)", .ints([1, -2, .max]), .optionalInts([nil, 7, nil]),
                .reals([0.5, .infinity, -1]), .bools([true, false, true]), .texts(["", "b", "'"]),
                .optionalTexts([nil, "", "x"]), .byteStrings([[], [0], [1, 2, 3]]))
            pipeline.add("SELECT * FROM unnest($1, $2)", .ints([]), .byteStrings([]))
            pipeline.add("SELECT 5::smallint, 6::integer, false")
            let answer = try await client.run(pipeline)
            let row = answer[0][0]
            expectTrue(row.int(0) == .min && row.real(1) == -0.5 && row.bool(2) && row.text(3) == "häuser\u{1F600}")
            expectTrue(row.bytes(4) == [0, 255, 39] && row.byteCount(4) == 3)
            expectTrue(row.isNull(5) && row.optionalInt(5) == nil && row.optionalText(6) == nil)
            expectEqual(answer[1].map { $0.int(0) }, [1, -2, .max])
            expectEqual(answer[1].map { $0.optionalInt(1) }, [nil, 7, nil])
            expectEqual(answer[1].map { $0.real(2) }, [0.5, .infinity, -1])
            expectEqual(answer[1].map { $0.bool(3) }, [true, false, true])
            expectEqual(answer[1].map { $0.text(4) }, ["", "b", "'"])
            expectEqual(answer[1].map { $0.optionalText(5) }, [nil, "", "x"])
            expectEqual(answer[1].map { $0.bytes(6) }, [[], [0], [1, 2, 3]])
            expectTrue(answer[2].isEmpty)
            expectTrue(answer[3][0].int(0) == 5 && answer[3][0].int(1) == 6 && !answer[3][0].bool(2))
        }
    }

    /// What is paid for is the way to the server and back, not the statements.
    @Test func aPipelineIsOneRoundTripAndKeepsItsOrder() async throws {
        try await withClient { client in
            var pipeline = PostgresPipeline()
            for id in 1...500 {
                pipeline.add("INSERT INTO notes VALUES ($1, (SELECT count(*)::text FROM notes))", .int(Int64(id)))
            }
            let before = client.statistics
            let answer = try await client.run(pipeline, .write())
            expectEqual(client.statistics.roundTrips - before.roundTrips, 1)
            expectEqual(client.statistics.statements - before.statements, 500)
            expectEqual(answer.count, 500)
            expectEqual(answer[499].affected, 1)
            let rows = try await client.query("SELECT body FROM notes ORDER BY id")
            expectEqual(rows.map { $0.text(0) }, (0..<500).map(String.init))
        }
    }

    @Test func allStatementsOfAWriteTakeEffectOrNone() async throws {
        try await withClient { client in
            let pipeline = PostgresPipeline(
                "INSERT INTO notes VALUES (1, 'a')", "INSERT INTO notes VALUES (1, 'secret')",
                "INSERT INTO notes VALUES (2, 'b')")
            let error = await #expect(throws: PostgresError.self) { try await client.run(pipeline, .write()) }
            expectEqual(error?.kind, .unique)
            expectEqual(error?.sqlState, "23505")
            expectEqual(error?.statement, 1)
            expectEqual(error?.constraint, "notes_pkey")
            expectEqual(error?.mayHaveHappened, false)
            // The connection serves again, without the transaction that has failed.
            for _ in 0..<8 { try await expectEqual(client.notes(), []) }
            try await client.execute("INSERT INTO notes VALUES (2, 'b')")
            try await expectEqual(client.notes(), [2])
            expectEqual(client.statistics.losses, 0)
        }
    }

    @Test func statementErrorsAreTold() async throws {
        try await withClient { client in
            let table = await #expect(throws: PostgresError.self) { try await client.query("SELECT * FROM nowhere") }
            expectEqual(table?.kind, .undefinedTable)
            let syntax = await #expect(throws: PostgresError.self) {
                try await client.run(PostgresPipeline("SELECT 1", "SELEC 2", "SELECT 3"))
            }
            expectEqual(syntax?.kind, .other)
            expectEqual(syntax?.statement, 1)
            let other = await #expect(throws: PostgresError.self) { try await client.query("SELECT 1 / $1", 0) }
            expectEqual(other?.sqlState, "22012")
            // A statement that was prepared before it failed is prepared still.
            let again = try await client.query("SELECT 1 / $1", 1)
            expectEqual(again[0].int(0), 1)
        }
    }

    @Test func deniedConnectionsFailAtOnce() async throws {
        let url = try TestPostgres.requireURL()
        let scheme = "postgres://"
        let place = try #require(url.split(separator: "@").last)
        for wrong in ["\(scheme)sluice:wrong@\(place)", "\(scheme)nobody:wrong@\(place)", url + "_is_not_there"] {
            var configuration = try PostgresConfiguration(wrong)
            // Longer than the suite may take: nobody waits for a right that will not come.
            configuration.patience = .seconds(3600)
            let client = PostgresClient(configuration, logger: Logger(label: "test"))
            let error = await #expect(throws: PostgresError.self) { try await client.query("SELECT 1") }
            expectEqual(error?.kind, .denied)
            expectEqual(error.map { !"\($0)".contains("wrong") }, true)
            await client.close()
        }
    }

    @Test func aServerThatIsNotThereIsWaitedFor() async throws {
        var configuration = try PostgresConfiguration("postgres://sluice@127.0.0.1:1/nothing")
        configuration.patience = .milliseconds(300)
        let client = PostgresClient(configuration, logger: Logger(label: "test"))
        let started = ContinuousClock.now
        let error = await #expect(throws: PostgresError.self) { try await client.query("SELECT 1") }
        expectEqual(error?.kind, .unreachable)
        expectEqual(error?.isRetriable, true)
        expectTrue(.now - started >= .milliseconds(300))
        await client.close()
    }

    @Test func aServerThatIsKnownToBeAwayIsNotWaitedForInAHurry() async throws {
        var configuration = try PostgresConfiguration("postgres://sluice@127.0.0.1:1/nothing")
        // Longer than the suite may take.
        configuration.patience = .seconds(3600)
        configuration.outage = .milliseconds(300)
        let client = PostgresClient(configuration, logger: Logger(label: "test"))
        let started = ContinuousClock.now
        let pipeline = PostgresPipeline("SELECT 1")
        for _ in 0..<3 {
            let error = await #expect(throws: PostgresError.self) {
                try await client.run(pipeline, hurry: .milliseconds(10))
            }
            expectEqual(error?.kind, .unreachable)
        }
        let error = await #expect(throws: PostgresError.self) {
            try await client.withTransaction(hurry: .milliseconds(10)) { try await $0.query("SELECT 1") }
        }
        expectEqual(error?.kind, .unreachable)
        // The first has waited until the server was known to be away.
        expectTrue(.now - started >= .milliseconds(300))
        await client.close()
    }

    @Test func aServerThatTakesNoWritesIsTold() async throws {
        let url = try TestPostgres.requireURL() + "?options=-cdefault_transaction_read_only%3Don"
        let client = PostgresClient(try PostgresConfiguration(url), logger: Logger(label: "test"))
        try await expectEqual(client.query("SELECT 1")[0].int(0), 1)
        let error = await #expect(throws: PostgresError.self) {
            try await client.run(PostgresPipeline("CREATE TABLE t (a int)"))
        }
        expectEqual(error?.kind, .readOnly)
        expectEqual(error?.isRetriable, true)
        await client.close()
    }

    @Test func settingsCountForEveryConnection() async throws {
        try await withClient({ $0.serverSettings = ["enable_seqscan": "off", "of_another_server": "1"] }) { client in
            try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<20 { group.addTask { try await client.query("SHOW enable_seqscan")[0].text(0) } }
                for try await value in group { expectEqual(value, "off") }
            }
        }
    }

    @Test func manyAskAtOnceAndShareAFewConnections() async throws {
        try await withClient { client in
            try await withThrowingTaskGroup(of: Int64.self) { group in
                for id in 0..<Int64(300) {
                    group.addTask { try await client.query("SELECT $1 * 2", .int(id))[0].int(0) / 2 }
                }
                let found = try await group.reduce(into: Set<Int64>()) { $0.insert($1) }
                expectEqual(found, Set(0..<300))
            }
            expectTrue(client.statistics.connects <= 6)
        }
    }

    @Test func statementsBeyondTheWaitingLimitAreRefused() async throws {
        try await withClient({ change in
            change.connections = 1
            change.maxWaiting = 2
        }) { client in
            async let long = client.query("SELECT pg_sleep(1)")
            try await eventually { client.statistics.statements >= 3 }
            let kinds = await withTaskGroup(of: PostgresError.Kind?.self) { group in
                for _ in 0..<50 {
                    group.addTask {
                        do throws(PostgresError) {
                            _ = try await client.query("SELECT pg_sleep(0.01)")
                            return nil
                        } catch {
                            return error.kind
                        }
                    }
                }
                return await group.reduce(into: [PostgresError.Kind?]()) { $0.append($1) }
            }
            expectTrue(kinds.contains(.busy))
            expectTrue(kinds.contains(nil))
            _ = try await long
        }
    }

    @Test func statementCancelledWhileWaitingIsLetGo() async throws {
        try await withClient({ change in
            change.connections = 1
            change.sessions = 0
        }) { client in
            async let long = client.query("SELECT pg_sleep(0.5)")
            try await eventually { client.statistics.statements >= 3 }
            let waiting = Task { try await client.execute("INSERT INTO notes VALUES (1, 'a')") }
            try await Task.sleep(for: .milliseconds(50))
            waiting.cancel()
            let error = await #expect(throws: PostgresError.self) { _ = try await waiting.value }
            expectEqual(error?.kind, .cancelled)
            _ = try await long
            try await expectEqual(client.notes(), [])
        }
    }

    @Test func aStatementThatTakesTooLongIsEnded() async throws {
        try await withClient({ $0.timeout = .milliseconds(200) }) { client in
            let error = await #expect(throws: PostgresError.self) { try await client.query("SELECT pg_sleep(20)") }
            expectEqual(error?.kind, .timeout)
            let next = try await client.query("SELECT 1")
            expectEqual(next[0].int(0), 1)
        }
    }

    /// Somebody waits for an answer that takes milliseconds: a server that hangs is given up long before the longest statement's time.
    @Test func anAnswerThatSomebodyWaitsForIsNotWaitedForLong() async throws {
        try await withClient { client in
            let error = await #expect(throws: PostgresError.self) {
                try await client.run(PostgresPipeline("SELECT pg_sleep(50)"), within: .milliseconds(200))
            }
            expectEqual(error?.kind, .timeout)
            expectEqual(error?.message.contains("0.2 seconds"), true, "\(String(describing: error))")
            let next = try await client.query("SELECT 1")
            expectEqual(next[0].int(0), 1)
        }
    }

    /// More than both sockets' buffers hold, in both directions at once.
    @Test func muchIsSentWhileMuchIsAnswered() async throws {
        try await withClient { client in
            let body = [UInt8](repeating: 7, count: 1 << 20)
            var pipeline = PostgresPipeline()
            for _ in 0..<32 { pipeline.add("SELECT $1", .bytes(body)) }
            let answer = try await client.run(pipeline)
            expectEqual(answer.count, 32)
            for index in 0..<32 { expectTrue(answer[index][0].byteCount(0) == 1 << 20) }
        }
    }

    /// A migration may change what a statement returns that was prepared before.
    @Test func statementsOutliveAChangeOfTheirTables() async throws {
        try await withClient { client in
            try await client.execute("INSERT INTO notes VALUES (1, 'a')")
            for _ in 0..<4 { try await expectEqual(client.query("SELECT * FROM notes")[0].text(1), "a") }
            try await client.execute("ALTER TABLE notes ADD COLUMN more bigint DEFAULT 5")
            for _ in 0..<4 { try await expectEqual(client.query("SELECT * FROM notes")[0].int(2), 5) }
        }
    }

    @Test func aClientThatWasClosedSaysSo() async throws {
        try await withClient { client in
            await client.close()
            let error = await #expect(throws: PostgresError.self) { try await client.query("SELECT 1") }
            expectEqual(error?.kind, .closed)
            await client.close()
        }
    }
}
