import Changesets
import PostgreSQL
import Storage
import SyncModel
import TestSupport
import Testing

@testable import StoragePostgreSQL

/// What statements cost once tables have grown, though the database has taken all of them for small and no statistics were made since.
extension PostgresSliceTests {
    @Test func aBatchReadsWhatItNamesWhateverElseIsThere() async throws {
        try await withPostgres({ $0.connections = 1 }) { stores, _ in
            let store = try #require(try await stores.store(for: slice) as? PostgresSliceStore)
            let epoch = try await store.take()
            func removal(of id: Int64) -> SliceBatch {
                let history = HistoryKey(realm: RealmID(id), generation: 1)
                let file = ClientFileKey(realm: RealmID(id), ident: 2)
                var batch = SliceBatch()
                batch.objectRemovals = [RealmID(id): [ObjectRow(table: 0, key: .int(id))]]
                batch.indexRemovals = [
                    RealmID(id): [IndexEntry(row: ObjectRow(table: 0, key: .int(id)), column: 1, value: [1])]
                ]
                batch.historyTrims = [history: 1]
                batch.historyDigests = [HistoryDigest(key: history, after: 0, through: 1, body: [1])]
                batch.reciprocalTrims = [file: 1]
                batch.clientFileRemovals = [file]
                return batch
            }
            for batch in [batch(1...2), removal(of: 1)] { try await store.commit(batch, epoch: epoch) }
            _ = try await store.read(lookup(2...2))
            for hundred in 0..<60 as Range<Int64> {
                try await store.commit(batch(hundred * 100 + 3...hundred * 100 + 102), epoch: epoch)
            }

            func run(_ pipeline: PostgresPipeline) async throws -> Int64? {
                var pipeline = pipeline
                let last = pipeline.add(
                    """
                    SELECT sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::bigint FROM pg_stat_xact_user_tables
                    WHERE schemaname = current_schema()
                    """)
                return try await stores.client.run(pipeline, .write())[last].first?.int(0)
            }
            func rowsRead(_ pipeline: PostgresPipeline) async throws -> Int64? {
                // The server adds up over transactions until one ends a second after it began to. A new connection's first plans are that
                // old at most, too.
                try await Task.sleep(for: .milliseconds(1_100))
                _ = try await run(PostgresPipeline())
                return try await run(pipeline)
            }
            var token = try #require(store.ledger.token(epoch))
            func commit(_ batch: SliceBatch) -> PostgresPipeline {
                let next = CommitLedger.makeToken()
                defer { token = next }
                return PostgresCommit(batch, slice: slice, epoch: epoch, previous: token, token: next).pipeline
            }
            let written = try #require(try await rowsRead(commit(batch(9_000...9_000))))
            expectTrue((1...60).contains(written))
            let removed = try #require(try await rowsRead(commit(removal(of: 700))))
            expectTrue((1...60).contains(removed))
            let found = try #require(try await rowsRead(PostgresLookup(lookup(800...800), slice: slice).pipeline))
            expectTrue((1...60).contains(found))
        }
    }
}
