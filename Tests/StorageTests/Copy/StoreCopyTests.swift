import Changesets
import GRDB
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

/// A store copied row by row equals the one that it was copied from, or is no store.
@Suite(.hangGuard) struct StoreCopyTests {
    private let cluster = ClusterRecord(id: "aa", prefix: "sluice")
    private let slices = [SliceNumber(0), SliceNumber(1)]

    private func withStore(
        _ body: (_ store: String, _ copy: String) async throws -> Void
    ) async throws {
        try await withFolder { folder in
            let store = "\(folder)/store"
            let stores = SQLiteStores(folder: store)
            let control = try await stores.control()
            _ = try await control.sliceCount(orCreate: 2)
            _ = try await control.cluster(orCreate: cluster)
            try await control.insert(AppRecord(id: "tasks", createdAt: 1))
            for number in 0..<40 {
                try await control.insert(
                    UserRecord(
                        app: "tasks", id: "u\(number)", identities: [], email: nil, isDisabled: number == 7,
                        createdAt: UInt64(number)))
            }
            let registry = SliceRegistry(cluster: cluster.id, control: control)
            for slice in slices {
                let store = try await registry.open(slice, in: stores)
                let epoch = try await store.take()
                for realm in Int64(1)...3 {
                    var batch = SliceBatch()
                    batch.realms = [Sample.realm(realm)]
                    batch.clientFiles = [Sample.file(2, realm: realm), Sample.file(3, realm: realm)]
                    let row = ObjectRow(table: 1, key: .int(1))
                    batch.objects = [RealmID(realm): [row: [UInt8(realm)]]]
                    batch.indexEntries = [RealmID(realm): [IndexEntry(row: row, column: 2, value: [1, UInt8(realm)])]]
                    batch.history = [
                        HistoryKey(realm: RealmID(realm), generation: 1): (1...50).map {
                            Sample.entry(ServerVersion($0))
                        }
                    ]
                    batch.reciprocals = [ClientFileKey(realm: RealmID(realm), ident: 2): [1: [9]]]
                    batch.outbox = [OutboxRecord(id: "m\(realm)", body: [1])]
                    batch.seenMessages = ["s\(realm)"]
                    try await store.commit(batch, epoch: epoch)
                }
            }
            try await body(store, "\(folder)/copy")
        }
    }

    private func copy(
        _ source: any StoredTables, to target: String, cluster: String? = nil
    ) async throws -> StoreCopy.Report {
        try await StoreCopy(
            from: source, to: SQLiteTables(folder: target), slices: slices, cluster: cluster ?? self.cluster.id
        ) { _ in }.run()
    }

    @Test func aCopyHasEverything() async throws {
        try await withStore { store, target in
            let steps = Mutex<[StoreCopy.Progress]>([])
            let report = try await StoreCopy(
                from: SQLiteTables(folder: store), to: SQLiteTables(folder: target), slices: slices, cluster: "aa"
            ) { step in steps.withLock { $0.append(step) } }.run()
            expectTrue(report.slices == 2 && report.realms == 6 && report.rows > 300 && !report.isContinued)
            expectEqual(
                steps.withLock { $0.map(\.part) },
                [
                    .slice(slices[0]), .slice(slices[1]), .control, .slice(slices[0]), .slice(slices[1]), .control,
                ])
            let inspector = SQLiteStores(folder: target).inspector()
            try await expectEqual(inspector.cluster(), .named(cluster))
            try await expectEqual(inspector.slicesMade().count, 2)
            let control = try await SQLiteStores(folder: target).control()
            try await expectEqual(control.userCount(app: "tasks"), 40)
            try await expectEqual(control.user(app: "tasks", id: "u7")?.isDisabled, true)
            let slice = try await SQLiteStores(folder: target).store(for: slices[1], mayMake: false)
            try await expectEqual(slice.cluster(), "aa")
            let original = try await SQLiteStores(folder: store).store(for: slices[1], mayMake: false)
            let (found, expected) = (
                try await slice.usage(ofApp: "tasks"), try await original.usage(ofApp: "tasks")
            )
            expectTrue(found == expected && found.realms == 3 && found.clientFiles == 6)
            let waiting = try await slice.outbox(after: 0, maxBytes: 1000).map(\.record.id)
            expectEqual(waiting, ["m1", "m2", "m3"])
        }
    }

    @Test(.enabled(if: TestPostgres.isAvailable)) func aStoreMovesToPostgreSQLAndBack() async throws {
        try await withStore { store, target in
            try await withPostgresSchema { schema in
                let client = try schema.client()
                _ = try await PostgresInstallation(client).make()
                func copied(_ from: any StoredTables, _ to: any StoreCopyTarget) async throws -> StoreCopy.Report {
                    try await StoreCopy(from: from, to: to, slices: slices, cluster: "aa") { _ in }.run()
                }
                let there = try await copied(SQLiteTables(folder: store), PostgresTables(client))
                expectTrue(there.slices == 2 && there.realms == 6 && there.rows > 300)
                let stores = PostgresStores(
                    try PostgresConfiguration(schema.url), schema: schema.name, logger: Logger(label: "test"))
                let found = try await stores.inspector().cluster()
                expectEqual(found, .named(cluster))
                let slice = try await stores.store(for: slices[1], mayMake: false)
                let realm = try await slice.realm(RealmName(app: "tasks", partition: "\"p2\""))
                expectEqual(realm?.id, RealmID(2))
                let bodies = try await slice.objects(in: RealmID(2), at: [ObjectRow(table: 1, key: .int(1))])
                expectEqual(bodies.values.first, [2])
                let history = try await slice.history(
                    of: HistoryKey(realm: RealmID(2), generation: 1), after: 0, through: 50, maxBytes: 1 << 20)
                expectEqual(history.count, 50)
                // The copy goes on living there.
                let epoch = try await slice.take("v")
                var batch = SliceBatch()
                batch.history = [HistoryKey(realm: RealmID(2), generation: 1): [Sample.entry(51)]]
                try await slice.commit(batch, epoch: epoch)
                let control = try await stores.control()
                try await control.changeCampaigns { transaction in
                    var changes = CampaignChanges()
                    changes.campaigns = [
                        CampaignRecord(
                            id: "c1", app: "tasks", kind: .reset, reason: nil, startedAt: 1, generation: 1,
                            slicesExpected: 1)
                    ]
                    try transaction.write(changes)
                }
                await stores.close()

                let full = await #expect(throws: StoreError.self) {
                    try await copied(SQLiteTables(folder: store), PostgresTables(client))
                }
                expectEqual(full?.code, .alreadyExists)
                let back = try await copied(PostgresTables(client), SQLiteTables(folder: target))
                expectEqual(back.realms, 6)
                let home = try await SQLiteStores(folder: target).store(for: slices[1], mayMake: false)
                let entries = try await home.history(
                    of: HistoryKey(realm: RealmID(2), generation: 1), after: 50, through: 51, maxBytes: 1 << 20)
                expectEqual(entries.count, 1)
                let campaign = try await SQLiteStores(folder: target).control().campaign("c1")
                expectEqual(campaign?.campaign.app, "tasks")
            }
        }
    }

    @Test func anInterruptedCopyIsNoStoreAndGoesOn() async throws {
        try await withStore { store, target in
            let failing = FailingTables(SQLiteTables(folder: store), pages: 30)
            await #expect(throws: StoreError.self) { try await copy(failing, to: target) }
            let refused = await #expect(throws: StoreError.self) {
                _ = try await SQLiteStores(folder: target).inspector().cluster()
            }
            expectTrue(refused?.code == .mismatch && refused?.message.contains("sluice store copy") == true)
            let other = await #expect(throws: StoreError.self) {
                _ = try await copy(SQLiteTables(folder: store), to: target, cluster: "bb")
            }
            expectEqual(other?.code, .mismatch)
            let report = try await copy(SQLiteTables(folder: store), to: target)
            let found = try await SQLiteStores(folder: target).inspector().cluster()
            expectTrue(report.isContinued && found == .named(cluster))
        }
    }

    @Test func aPlaceThatIsNotEmptyIsRefused() async throws {
        try await withStore { store, target in
            _ = try await copy(SQLiteTables(folder: store), to: target)
            let error = await #expect(throws: StoreError.self) {
                try await copy(SQLiteTables(folder: store), to: target)
            }
            expectEqual(error?.code, .alreadyExists)
        }
    }

    /// A process that was left running writes into what has been copied already.
    @Test func aCopyThatDiffersIsRefused() async throws {
        try await withStore { store, target in
            let failing = FailingTables(SQLiteTables(folder: store), pages: 60)
            await #expect(throws: StoreError.self) { try await copy(failing, to: target) }
            let file = "\(store)/slice-0.sqlite"
            let database = try DatabaseQueue(path: file)
            try await database.write { try $0.execute(sql: "UPDATE objects SET body = x'0b0b' WHERE realm = 2") }
            try database.close()
            let error = await #expect(throws: StoreError.self) {
                try await copy(SQLiteTables(folder: store), to: target)
            }
            expectTrue(
                error?.code == .mismatch
                    && error?.message.contains("objects; 1 realm, among them those numbered 2") == true)
            await #expect(throws: StoreError.self) { _ = try await SQLiteStores(folder: target).inspector().cluster() }
        }
    }
}

/// Tables that cannot be read after so many pages.
private final class FailingTables: StoredTables {
    private let tables: any StoredTables
    private let left: Mutex<Int>

    init(_ tables: any StoredTables, pages: Int) {
        self.tables = tables
        left = Mutex(pages)
    }

    var place: String { tables.place }

    func tables(of part: StorePart) async throws(StoreError) -> [StoredTable] { try await tables.tables(of: part) }

    func page(
        of table: StoredTable, in part: StorePart, after end: [StoredValue]?, limit: Int
    ) async throws(StoreError) -> StoredPage {
        let mayRead = left.withLock { left in
            left -= 1
            return left >= 0
        }
        guard mayRead else { throw StoreError(.unavailable, "the disk is away") }
        return try await tables.page(of: table, in: part, after: end, limit: limit)
    }
}
