package import Logging
package import PostgreSQL
package import Storage
package import SyncModel

/// A cluster's stores in a PostgreSQL database: one schema, in whose tables the slices stand side by side.
package actor PostgresStores: SliceStores {
    package nonisolated let client: PostgresClient
    private let leases: LeaseClock
    private var slices: [SliceNumber: Task<any SliceStore, any Error>] = [:]
    private var migration: Task<Void, any Error>?

    /// Connects when a store is first used.
    ///
    /// - Parameters:
    ///   - schema: the cluster's own.
    ///   - leases: whose clock tells how long a slice's lease lasts.
    package init(
        _ configuration: PostgresConfiguration, schema: String, leases: LeaseClock = .database, logger: Logger
    ) {
        var configuration = configuration
        configuration.searchPath = schema
        configuration.metrics = "sluice.store"
        configuration.serverSettings.merge(Self.plans) { set, _ in set }
        client = PostgresClient(configuration, logger: logger)
        self.leases = leases
    }

    /// Every statement goes by an index, and is planned once a minute for each connection: a plan that was made while a table was
    /// small must not be one that reads all of it. Where a statement joins what was asked for to a table by several columns, it also says
    /// which comes first (`CROSS JOIN LATERAL (... OFFSET 0)`), since no setting does.
    package static let plans = [
        "enable_seqscan": "off", "enable_hashjoin": "off", "enable_mergejoin": "off", "enable_bitmapscan": "off",
        "enable_material": "off", "enable_memoize": "off", "plan_cache_mode": "force_generic_plan", "jit": "off",
    ]

    package func store(for slice: SliceNumber, mayMake: Bool) async throws(StoreError) -> any SliceStore {
        let opening =
            slices[slice]
            ?? Task { [client, leases] in
                try await self.makeReady(mayMake: mayMake)
                let store = PostgresSliceStore(slice: slice, client: client, leases: leases)
                try await store.open(mayMake: mayMake)
                return store
            }
        slices[slice] = opening
        do {
            return try await opening.value
        } catch {
            slices[slice] = nil
            throw StoreError(any: error, "slice \(slice) cannot be opened")
        }
    }

    /// Makes the tables of slices, or brings them to this version; where they are, that costs one look for all slices.
    private func makeReady(mayMake: Bool) async throws {
        let migrating =
            migration
            ?? Task { [client] in
                if mayMake {
                    try await PostgresSliceSchema.schema.migrate(client)
                } else {
                    try await PostgresSliceSchema.schema.require(client)
                }
            }
        migration = migrating
        do {
            try await migrating.value
        } catch {
            migration = nil
            throw error
        }
    }

    package nonisolated func obstacle() async -> String? { await client.obstacle() }

    /// Ends the connections.
    package func close() async { await client.close() }
}

/// The clock that tells how long a slice's lease lasts.
package enum LeaseClock: Sendable {
    /// The database's, which is the same for all workers: of the times that callers say only their distance counts.
    case database
    /// The callers'.
    case callers
}
