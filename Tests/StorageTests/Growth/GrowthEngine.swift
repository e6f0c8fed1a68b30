import Changesets
import Foundation
import Logging
import PostgreSQL
import Storage
import StoragePostgreSQL
import StorageSQLite
import StorageSupport
import SyncModel
import Synchronization
import TestSupport
import Testing

/// The engines whose slices can become more.
enum GrowthEngine: String, CaseIterable, CustomTestStringConvertible {
    case sqlite, postgres

    /// PostgreSQL where there is a server.
    static var allCases: [GrowthEngine] { [.sqlite] + (TestPostgres.isAvailable ? [.postgres] : []) }

    var testDescription: String { rawValue }

    func withCluster(slices: Int, _ body: (GrowingCluster) async throws -> Void) async throws {
        switch self {
        case .sqlite:
            try await withFolder { folder in
                let cluster = GrowingCluster(
                    store: SQLiteGrowth(folder: folder), tables: SQLiteTables(folder: folder),
                    open: { SQLiteStores(folder: folder) })
                try await cluster.make(slices: slices)
                try await body(cluster)
            }
        case .postgres:
            try await withPostgresSchema { schema in
                let client = try schema.client()
                _ = try await PostgresInstallation(client).make()
                let stores = PostgresStores(
                    try PostgresConfiguration(schema.url), schema: schema.name, leases: .callers,
                    logger: Logger(label: "test"))
                let cluster = GrowingCluster(
                    store: PostgresGrowth(client), tables: PostgresTables(client), open: { stores })
                do {
                    try await cluster.make(slices: slices)
                    try await body(cluster)
                } catch {
                    await stores.close()
                    throw error
                }
                await stores.close()
            }
        }
    }
}

/// A cluster with something in every table, and what is in its tables.
struct GrowingCluster: Sendable {
    static let record = ClusterRecord(id: "aa", prefix: "sluice")

    let store: any GrowingStore
    let tables: any StoredTables
    /// The stores as another process opens them.
    let open: @Sendable () -> any Stores

    static func names(in slice: SliceNumber, of count: SliceCount, _ number: Int) -> [RealmName] {
        Array(
            (0..<10_000).lazy.map { RealmName(app: "app\($0 % 2)", partition: "\"p\($0)\"") }
                .filter { $0.slice(of: count) == slice }.prefix(number))
    }

    func make(slices: Int) async throws {
        let stores = open()
        let control = try await stores.control()
        _ = try await control.sliceCount(orCreate: slices)
        _ = try await control.cluster(orCreate: Self.record)
        for app in ["app0", "app1"] { try await control.insert(AppRecord(id: app, createdAt: 1)) }
        let count = try #require(SliceCount(slices))
        let registry = SliceRegistry(cluster: Self.record.id, control: control)
        for slice in count.all {
            let store = try await registry.open(slice, in: stores)
            for _ in 0...slice.value { _ = try await store.take() }
            let epoch = try await store.take()
            try await store.commit(Self.content(of: slice, count), epoch: epoch)
            try await registry.taken(slice, epoch: epoch)
            try await store.release(epoch: epoch, at: 5)
        }
    }

    private static func content(of slice: SliceNumber, _ count: SliceCount) -> SliceBatch {
        var batch = SliceBatch()
        let names = names(in: slice, of: count, 12)
        for (offset, name) in names.enumerated() {
            let id = RealmID(Int64(offset + 1))
            batch.realms.append(
                RealmRecord(
                    id: id, name: name, generation: 2, latest: SaltedServerVersion(version: 9, salt: 7), salt: 7,
                    saltEpoch: Epoch(1), historyBytes: 12, nextIdent: 9, schema: [1, 2, UInt8(offset)]))
            batch.clientFiles += (2...4).map {
                Sample.file(FileIdent(rawValue: $0), realm: id.value, user: "u\(offset)", generation: 2)
            }
            batch.objects[id] = Dictionary(
                (1...5).map { (ObjectRow(table: 1, key: .int(Int64($0))), [UInt8(offset), UInt8($0)]) }
            ) { first, _ in first }
            batch.indexEntries[id] = Set(
                (1...5).map {
                    IndexEntry(row: ObjectRow(table: 1, key: .int(Int64($0))), column: 3, value: [UInt8($0)])
                })
            batch.history[HistoryKey(realm: id, generation: 2)] = (1...9).map {
                Sample.entry(ServerVersion($0), [UInt8(offset), UInt8($0)])
            }
            batch.reciprocals[ClientFileKey(realm: id, ident: 2)] = [1: [UInt8(offset)]]
            batch.resetCases.append(
                ResetCaseRecord(
                    realm: id, identOld: 3, user: "u\(offset)", isOpen: true, dueAt: 77, body: [UInt8(offset)]))
        }
        batch.outbox = [OutboxRecord(id: "m\(slice)", body: [1])]
        batch.seenMessages = ["everywhere", "s\(slice)"]
        batch.resetHolds = [
            "app0": ResetHoldRecord(
                app: "app0", heldSince: slice.value == 1 ? 9 : nil, asked: slice.value, clientFiles: 30)
        ]
        return batch
    }

    func division(to: Int?, in store: (any GrowingStore)? = nil) async throws -> SliceDivision {
        try await SliceDivision(
            store ?? self.store, stores: open(), to: to.flatMap(SliceCount.init), now: { 10_000 }, report: { _ in })
    }

    /// Everything that belongs to a realm, by the realm's name and whatever its slice and number: each row as a text. A realm that
    /// is in the wrong slice is under a name of its own.
    func realmRows(slices: Int) async throws -> [String: [String]] {
        let count = try #require(SliceCount(slices))
        var rows: [String: [String]] = [:]
        for slice in count.all {
            var names: [Int64: String] = [:]
            var after: RealmID?
            while case let page = try await store.realms(in: slice, after: after, limit: 5), let last = page.last {
                for realm in page {
                    let isRight = realm.name.slice(of: count) == slice
                    names[realm.id.value] = isRight ? realm.name.key : "\(realm.name.key) in slice \(slice)"
                }
                after = last.id
            }
            for table in try await tables.tables(of: .slice(slice)) {
                guard case .ofRealms(let column) = try SliceTable(table),
                    let place = table.columns.firstIndex(of: column)
                else { continue }
                let order = table.columns.indices.sorted { table.columns[$0] < table.columns[$1] }
                var end: [StoredValue]?
                repeat {
                    let page = try await tables.page(of: table, in: .slice(slice), after: end, limit: 100)
                    for row in page.rows {
                        guard case .integer(let realm) = row[place] else { continue }
                        let values = order.filter { $0 != place }.map { "\(table.columns[$0])=\(row[$0])" }
                        rows[names[realm] ?? "realm \(realm) of slice \(slice)", default: []].append(
                            "\(table.name) \(values.joined(separator: " "))")
                    }
                    end = page.end
                } while end != nil
            }
        }
        return rows.mapValues { $0.sorted() }
    }
}

/// A store that is lost after so many calls; what one call does is done whole or not at all.
final class InterruptedGrowth: GrowingStore {
    private let store: any GrowingStore
    private let left: Mutex<Int>
    private let finishing: @Sendable () async throws(StoreError) -> Void

    /// - Parameter finishing: what happens beside it once new slices are whole.
    init(
        _ store: any GrowingStore, calls: Int,
        finishing: @escaping @Sendable () async throws(StoreError) -> Void = { () throws(StoreError) in }
    ) {
        self.store = store
        left = Mutex(calls)
        self.finishing = finishing
    }

    private var next: any GrowingStore {
        get throws(StoreError) {
            let may = left.withLock { left in
                left -= 1
                return left >= 0
            }
            guard may else { throw StoreError(.unavailable, "the power is cut") }
            return store
        }
    }

    var place: String { store.place }
    func growth() async throws(StoreError) -> (cluster: ClusterRecord, growth: SliceGrowth?) {
        try await next.growth()
    }
    func sliceCount() async throws(StoreError) -> SliceCount { try await next.sliceCount() }
    func record(_ growth: SliceGrowth?, made: [SliceNumber: Epoch]) async throws(StoreError) {
        try await next.record(growth, made: made)
    }
    func requireRights() async throws(StoreError) { try await next.requireRights() }
    func sliceTables() async throws(StoreError) -> [StoredTable] { try await next.sliceTables() }
    func isEmpty(_ table: String, in slice: SliceNumber) async throws(StoreError) -> Bool {
        try await next.isEmpty(table, in: slice)
    }
    func realms(in slice: SliceNumber, after: RealmID?, limit: Int) async throws(StoreError) -> [StoredRealm] {
        try await next.realms(in: slice, after: after, limit: limit)
    }
    func countRealms(in slice: SliceNumber) async throws(StoreError) -> Int { try await next.countRealms(in: slice) }
    func exists(_ slice: SliceNumber) async throws(StoreError) -> Bool { try await next.exists(slice) }
    func make(_ slice: SliceNumber) async throws(StoreError) { try await next.make(slice) }
    func remove(_ slice: SliceNumber) async throws(StoreError) { try await next.remove(slice) }
    func share(
        _ slice: SliceNumber, with target: SliceNumber, of count: SliceCount
    ) async throws(StoreError) { try await next.share(slice, with: target, of: count) }
    func copy(
        _ moves: [RealmMove], from slice: SliceNumber, to target: SliceNumber
    ) async throws(StoreError) { try await next.copy(moves, from: slice, to: target) }
    func difference(
        _ moves: [RealmMove], from slice: SliceNumber, to target: SliceNumber
    ) async throws(StoreError) -> String? { try await next.difference(moves, from: slice, to: target) }
    func finish(_ slice: SliceNumber, cluster: String, epoch: Epoch) async throws(StoreError) {
        try await finishing()
        try await next.finish(slice, cluster: cluster, epoch: epoch)
    }
    func clear(_ realms: [RealmID], in slice: SliceNumber) async throws(StoreError) {
        try await next.clear(realms, in: slice)
    }
    func recount(_ slice: SliceNumber) async throws(StoreError) { try await next.recount(slice) }
}
