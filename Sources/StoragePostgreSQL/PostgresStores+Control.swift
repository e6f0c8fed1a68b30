import PostgreSQL
package import Storage
import SyncModel

extension PostgresStores: Stores {
    package func control() async throws(StoreError) -> any ControlStore { try await PostgresControlStore.open(client) }

    package nonisolated func inspector() -> any StoreInspector { PostgresStoreInspector(client) }
}

extension PostgresClient {
    /// Where a cluster's tables are, as an operator knows it.
    var storePlace: String {
        "\(configuration.place), schema \(configuration.searchPath ?? "public")"
    }
}

/// A cluster's tables in a PostgreSQL database, for reading only.
struct PostgresStoreInspector: StoreInspector {
    private let client: PostgresClient
    private let database: PostgresControlDatabase

    init(_ client: PostgresClient) {
        self.client = client
        database = PostgresControlDatabase(client: client)
    }

    var files: StoreFiles? { nil }
    var place: String? { client.storePlace }

    func durability() async throws(StoreError) -> StoreDurability {
        do throws(PostgresError) {
            guard let row = try await client.query("SELECT \(PostgresDurability.selecting)").first else {
                throw PostgresError(.other, "the server answers nothing")
            }
            return PostgresDurability(row, at: 0).extent
        } catch {
            throw StoreError(error, "\(client.storePlace) cannot be looked at")
        }
    }

    func obstacle() async throws(StoreError) -> String? {
        do throws(PostgresError) {
            return try await SynchronousStandbys(on: client).obstacle
        } catch {
            throw StoreError(error, "\(client.storePlace) cannot be looked at")
        }
    }

    func slices() async throws(StoreError) -> [SliceNumber] {
        guard try await PostgresSliceSchema.schema.level(client)?.steps ?? 0 > 0 else {
            throw StoreError(
                .notFound,
                "there is no store at \(client.storePlace): is the store URL right? sluice store init makes one")
        }
        return try await database.read("the slices") { queries in
            try await queries.rows("SELECT slice FROM ownership ORDER BY slice")
                .map { SliceNumber(try $0.integer("slice")) }
        }
    }

    func reader(for slice: SliceNumber) async throws(StoreError) -> any SliceReader {
        try await PostgresSliceSchema.schema.require(client)
        let isThere = try await database.read("the slices") { queries in
            try await !queries.rows("SELECT slice FROM ownership WHERE slice = $1", slice.value).isEmpty
        }
        guard isThere else { throw StoreError(.notFound, "\(client.storePlace) has no slice \(slice)") }
        return PostgresSliceReader(slice: slice, client: client)
    }

    func cluster() async throws(StoreError) -> StoredCluster {
        let schema = PostgresControlSchema.schema
        guard try await schema.level(client)?.steps ?? 0 > 0 else { return .none }
        try await schema.require(client)
        let (copied, growth, cluster) = try await database.read("the cluster's id") { queries in
            func setting(_ name: String) async throws -> String? {
                try await queries.rows("SELECT value FROM settings WHERE name = $1", name).first?.text("value")
            }
            return (
                try await setting(CopyMark.cluster), try await setting(SliceGrowth.setting),
                try await ClusterRecord.recorded(queries)
            )
        }
        if let copied { throw StoreError.unfinishedCopy(of: copied, at: client.storePlace) }
        try StoreError.unfinishedGrowth(growth, at: client.storePlace)
        return cluster.map { .named($0) } ?? .none
    }

    func slicesMade() async throws(StoreError) -> [SliceNumber: Epoch] {
        try await database.read("the slices that were made") { queries in
            try ClusterSettings(rows: await queries.rows(ClusterSettings.selectingSlices)).slicesMade()
        }
    }

    func recordedSliceCount() async throws(StoreError) -> Int? {
        try await database.read("the number of slices") { queries in
            try await queries.rows("SELECT value FROM settings WHERE name = 'slices'").first
                .flatMap { Int(try $0.text("value")) }
        }
    }

    /// PostgreSQL looks after its pages itself: what is checked is that the tables are those of this version.
    func controlProblems(limit: Int) async throws(StoreError) -> [String] {
        do throws(StoreError) {
            try await PostgresControlSchema.schema.require(client)
            return []
        } catch {
            guard error.code == .mismatch, limit > 0 else { throw error }
            return [error.message]
        }
    }
}
