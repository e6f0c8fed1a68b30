import Changesets
import Messages
import RealmState
import Storage
import Testing

@testable import Worker

extension OwnerHarness {
    /// Limits under which everything that can be compacted is, in small pieces.
    static var eager: WorkerLimits {
        var limits = WorkerLimits()
        limits.compaction.minVersions = 8
        limits.compaction.minBytes = 0
        limits.compaction.timePerRun = .seconds(60)
        limits.compaction.versionsPerStep = 3
        limits.compaction.pageBytes = 300
        limits.compaction.changesetBytes = 200
        limits.restart.stepsAtOnce = 1_000
        return limits
    }

    /// A tick, and whatever it has set in motion.
    func tick() async throws {
        try await send(TickMessage(at: time.now()))
        await owner.finishWriting()
    }

    func record() async throws -> RealmRecord { try #require(try await store.realm(realm)) }

    /// Returns the digest of the state as the store has it.
    func digest() async throws -> StateDigest {
        let record = try await record()
        let schema = record.schema.isEmpty ? Schema() : try Schema(decoding: record.schema)
        var digest = StateDigest(schema: schema)
        for (row, body) in try await store.objects(in: record.id, after: nil, maxBytes: .max) {
            let table = try #require(schema.table(TableID(rawValue: row.table)))
            digest.add(ObjectAddress(table.name, row.key), try StoredObject(decoding: body), schema: schema)
        }
        return digest
    }

    /// A new client file that has downloaded everything, in pages of that size.
    func fresh(session: UInt64, maxBytes: Int = 1 << 18) async throws -> SyncingClient {
        var client = SyncingClient(file: try await join(session: session), session: session)
        while try await !client.download(from: self, maxBytes: maxBytes) {}
        return client
    }
}
