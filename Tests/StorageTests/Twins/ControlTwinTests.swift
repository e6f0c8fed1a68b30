import MemoryStorage
import Storage
import StoragePostgreSQL
import StorageSQLite
import StorageSupport
import TestSupport
import Testing

/// All engines side by side: whatever is done with a control store, each has done the same with it.
@Suite(.hangGuard) struct ControlTwinTests {
    private static let steps = 100

    @Test(arguments: [1, 2] as [UInt64])
    func enginesAgreeAfterEveryStep(_ seed: UInt64) async throws {
        try await withControlFolder { folder in
            let stores: [(engine: String, store: any ControlStore)] = [
                ("memory", MemoryControlStore()),
                ("SQLite", try await SQLiteStores(folder: folder).control()),
            ]
            guard TestPostgres.isAvailable else { return try await run(stores, seed) }
            try await withPostgresSchema { schema in
                let postgres = try await PostgresControlStore.open(schema.client())
                try await run(stores + [("PostgreSQL", postgres)], seed)
            }
        }
    }

    private func run(_ stores: [(engine: String, store: any ControlStore)], _ seed: UInt64) async throws {
        var maker = ControlStepMaker(seed: seed)
        for number in 1...Self.steps {
            let step = maker.next()
            let limit = 1 + maker.below(3)
            var readings: [(engine: String, found: [Reading])] = []
            for (engine, store) in stores {
                let outcome = await step.outcome(on: store)
                readings.append((engine, [outcome] + (try await store.readings(turn: number, limit: limit))))
            }
            if let difference = [Reading].difference(readings) {
                Issue.record("seed \(seed), step \(number): \(step)\n\(difference)")
                return
            }
        }
    }
}
