import Changesets
import PostgreSQL
import Storage
import StoragePostgreSQL
import StorageSupport
import SyncModel
import TestSupport
import Testing

/// What becomes of a slice in PostgreSQL whose connections are lost.
@Suite(.needsPostgres, .hangGuard) struct PostgresLossTests {
    private let slice = SliceNumber(0)

    private func batch(_ version: ServerVersion) -> SliceBatch {
        var batch = SliceBatch()
        batch.realms = [Sample.realm(1, latest: version)]
        batch.history[HistoryKey(realm: RealmID(1), generation: 1)] = [Sample.entry(version)]
        batch.outbox = [OutboxRecord(id: "m\(version)", body: [1])]
        return batch
    }

    /// Whether a connection of the stores is lost before the commit, in it, or after it has gone through and before the answer:
    /// the version is in the history once.
    @Test func aCommitIsMadeOnceWhateverBecomesOfItsAnswer() async throws {
        let name = TestPostgres.uniqueName()
        try await withPostgres(leases: .database, { $0.applicationName = name }) { stores, schema in
            let store = try await stores.store(for: slice)
            let epoch = try await store.take()
            let other = try schema.client()
            let killer = Task {
                while !Task.isCancelled {
                    // Where a server has no connection to spare, it is tried again.
                    _ = try? await other.execute(
                        """
                        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                        WHERE application_name = $1 AND state <> 'idle'
                        """, .text(name))
                    try await Task.sleep(for: .milliseconds(10))
                }
            }
            var version: ServerVersion = 0
            // Until a connection was ended, too, which a machine that is busy may take long for.
            let end = ContinuousClock.now + .seconds(90)
            while version < 80 || stores.client.statistics.losses == 0 && ContinuousClock.now < end {
                version = ServerVersion(version.rawValue + 1)
                // Five losses one after the other are told; then the same is asked again.
                while true {
                    do {
                        try await store.commit(batch(version), epoch: epoch)
                        break
                    } catch let error as StoreError where error.code == .unavailable {
                        let latest = try? await store.realm(Sample.realm(1).name)?.latest.version
                        if latest == version { break }
                    }
                }
            }
            killer.cancel()
            _ = try? await killer.value
            let key = HistoryKey(realm: RealmID(1), generation: 1)
            let history = try await store.history(of: key, after: 0, through: version, maxBytes: .max)
            expectEqual(history.map(\.version.rawValue), (1...version.rawValue).map { $0 })
            try await expectEqual(store.outbox(after: 0, maxBytes: .max).count, Int(version.rawValue))
            expectTrue(stores.client.statistics.losses > 0)
        }
    }

    /// The server has committed, and the connection ends before anybody hears of it.
    @Test func anAnswerThatWasLostIsReadBack() async throws {
        let name = TestPostgres.uniqueName()
        try await withPostgres(leases: .database, { $0.applicationName = name }) { stores, schema in
            let store = try await stores.store(for: slice)
            let epoch = try await store.take()
            try await store.commit(batch(1), epoch: epoch)
            let other = try schema.client()
            let killer = try schema.client()
            // What the commit waits for, so that it is under way when its connection ends: a lock on what it writes.
            let commit = try await other.withTransaction { transaction in
                try await transaction.query("LOCK TABLE outbox IN ACCESS EXCLUSIVE MODE")
                let second = batch(2)
                let commit = Task { try await store.commit(second, epoch: epoch) }
                try await eventually("the commit waits") {
                    try await killer.execute(
                        """
                        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                        WHERE application_name = $1 AND wait_event_type = 'Lock'
                        """, .text(name)
                    ).count > 0
                }
                return commit
            }
            try await commit.value
            expectTrue(stores.client.statistics.losses > 0)
            try await expectEqual(store.outbox(after: 0, maxBytes: .max).map(\.record.id), ["m1", "m2"])
        }
    }

    @Test func missingSlicesAndOtherSchemaVersionsAreRefused() async throws {
        try await withPostgres { stores, schema in
            let missing = await #expect(throws: StoreError.self) { try await stores.store(for: slice, mayMake: false) }
            expectEqual(missing?.code, .notFound)
            _ = try await stores.store(for: slice)
            let other = try schema.stores()
            let unmade = await #expect(throws: StoreError.self) {
                try await other.store(for: SliceNumber(9), mayMake: false)
            }
            expectEqual(unmade?.code, .notFound)
            try await stores.client.execute("UPDATE sluice_schema SET version = version + 1")
            for mayMake in [true, false] {
                let newer = try schema.stores()
                let error = await #expect(throws: StoreError.self) {
                    try await newer.store(for: slice, mayMake: mayMake)
                }
                expectEqual(error?.code, .mismatch)
                expectEqual(error?.message.contains("newer version"), true)
                await newer.close()
            }
            try await stores.client.execute("UPDATE sluice_schema SET version = 0")
            let older = try schema.stores()
            let behind = await #expect(throws: StoreError.self) { try await older.store(for: slice, mayMake: false) }
            expectEqual(behind?.code, .mismatch)
            await older.close()
            await other.close()
        }
    }

    @Test func workersThatBeginAtOnceMakeTheTablesOnce() async throws {
        try await withPostgres { stores, schema in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<6 {
                    group.addTask {
                        let mine = try schema.stores()
                        _ = try await mine.store(for: slice)
                        await mine.close()
                    }
                }
                try await group.waitForAll()
            }
            try await expectEqual(stores.client.query("SELECT count(*) FROM ownership")[0].int(0), 1)
        }
    }
}
