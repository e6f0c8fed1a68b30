import Changesets
import Foundation
import PostgreSQL
import Storage
import StoragePostgreSQL
import StorageSQLite
import StorageSupport
import SyncModel
import Synchronization
import TestSupport
import Testing

/// A store in PostgreSQL is backed up as it is at one moment, and a backup of either engine becomes a store of either.
@Suite(.needsPostgres, .hangGuard) struct PostgresBackupTests {
    private let cluster = ClusterRecord(id: "aa", prefix: "sluice")
    private let restore = RestoreRecord(id: "restore-1", at: 5_000)
    private let history = HistoryKey(realm: RealmID(1), generation: 1)

    /// A cluster's store with two slices, each with a realm, and the epochs under which they are owned.
    private func withStore(
        _ body: (_ schema: PostgresTestSchema, _ slices: [any SliceStore], _ epochs: [Epoch], _ folder: String)
            async throws -> Void
    ) async throws {
        try await withFolder { folder in
            try await withPostgres { stores, schema in
                _ = try await PostgresInstallation(try schema.client()).make()
                let control = try await stores.control()
                _ = try await control.sliceCount(orCreate: 2)
                _ = try await control.cluster(orCreate: cluster)
                try await control.insert(AppRecord(id: "tasks", createdAt: 1))
                let registry = SliceRegistry(cluster: cluster.id, control: control)
                var (slices, epochs): ([any SliceStore], [Epoch]) = ([], [])
                for number in 0..<2 {
                    let slice = try await registry.open(SliceNumber(number), in: stores)
                    let epoch = try await slice.take()
                    var batch = SliceBatch()
                    batch.realms = [Sample.realm()]
                    batch.objects = [RealmID(1): [ObjectRow(table: 1, key: .int(1)): [7]]]
                    batch.history = [history: [Sample.entry(1)]]
                    try await slice.commit(batch, epoch: epoch)
                    slices.append(slice)
                    epochs.append(epoch)
                }
                try await body(schema, slices, epochs, folder)
            }
        }
    }

    private func backUp(_ schema: PostgresTestSchema, to folder: String) async throws -> BackupManifest {
        try await PostgresTables.ofOneMoment(try schema.client()) { tables, cluster, slices in
            try await SQLiteStores.backUp(
                tables, of: cluster, slices: slices, to: folder, startedAt: 1_000, now: { 2_000 }, report: { _ in })
        }
    }

    private func versions(_ slice: any SliceStore) async throws -> Int {
        try await slice.history(of: history, after: 0, through: 1_000_000, maxBytes: .max).count
    }

    @Test func theBackupIsOfOneMomentWhileOthersGoOn() async throws {
        try await withStore { schema, slices, epochs, folder in
            let isOver = Mutex(false)
            let pace = Mutex(UInt64(1))
            // One slice is always as far as the other, or one version ahead.
            let writing = Task {
                while !isOver.withLock({ $0 }) {
                    let version = pace.withLock { pace in
                        pace += 1
                        return pace
                    }
                    for (slice, epoch) in zip(slices, epochs) {
                        var batch = SliceBatch()
                        batch.history = [history: [Sample.entry(ServerVersion(version))]]
                        try await slice.commit(batch, epoch: epoch)
                    }
                }
            }
            let backup = "\(folder)/backup"
            let before = pace.withLock { $0 }
            let manifest = try await backUp(schema, to: backup)
            isOver.withLock { $0 = true }
            try await writing.value
            expectTrue(manifest.cluster == "aa" && manifest.startedAt == 1_000 && manifest.finishedAt == 2_000)
            expectEqual(manifest.files.map(\.name), ["slice-0.sqlite", "slice-1.sqlite", "control.sqlite"])
            let there = try FileManager.default.contentsOfDirectory(atPath: backup).sorted()
            expectEqual(there, ["control.sqlite", "manifest.json", "slice-0.sqlite", "slice-1.sqlite"])
            // Nobody waited for it.
            expectTrue(pace.withLock { $0 } > before + 1)

            let restored = "\(folder)/restored"
            _ = try await SQLiteStores.restore(backup, to: restored, as: restore)
            let copies = SQLiteStores(folder: restored)
            let first = try await versions(try await copies.store(for: SliceNumber(0), mayMake: false))
            let second = try await versions(try await copies.store(for: SliceNumber(1), mayMake: false))
            expectTrue((0...1).contains(first - second), "\(first) and \(second)")
            try await expectEqual(copies.inspector().cluster(), .named(cluster))
        }
    }

    @Test func aBackupBecomesAStoreInPostgreSQLThatAllowsForWhatHasGoneOn() async throws {
        try await withStore { schema, slices, epochs, folder in
            let backup = "\(folder)/backup"
            _ = try await backUp(schema, to: backup)
            try await withPostgres { stores, target in
                let client = try target.client()
                _ = try await PostgresInstallation(client).make()
                let work = "\(folder)/work"
                _ = try await SQLiteStores.restore(
                    backup, to: PostgresTables(client), as: restore, work: work, report: { _ in })
                expectTrue(!FileManager.default.fileExists(atPath: work))
                let copy = try await stores.store(for: SliceNumber(0), mayMake: false)
                try await expectEqual(copy.restore(), restore)
                let realm = try #require(try await copy.realm(Sample.realm().name))
                expectEqual(realm.lostIdents, 5..<1_000_005)
                try await expectTrue(copy.take().value > epochs[0].value + 900)
                let control = try await stores.control()
                try await expectEqual(control.apps().map(\.id), ["tasks"])
                let registry = SliceRegistry(cluster: "aa", control: control)
                for number in 0..<2 { _ = try await registry.open(SliceNumber(number), in: stores) }

                // The target is a store now: nothing is overwritten.
                let again = await #expect(throws: StoreError.self) {
                    _ = try await SQLiteStores.restore(
                        backup, to: PostgresTables(client), as: restore, work: work, report: { _ in })
                }
                expectEqual(again?.code, .alreadyExists)
            }
        }
    }

    @Test func aRestoreThatWasInterruptedMayBeRepeated() async throws {
        try await withStore { schema, _, _, folder in
            let backup = "\(folder)/backup"
            _ = try await backUp(schema, to: backup)
            try await withPostgres { stores, target in
                let client = try target.client()
                _ = try await PostgresInstallation(client).make()
                let tables = PostgresTables(client)
                let stopped = await #expect(throws: StoreError.self) {
                    _ = try await SQLiteStores.restore(
                        backup, to: FailingTarget(tables, rows: 12), as: restore, work: "\(folder)/work",
                        report: { _ in })
                }
                expectEqual(stopped?.code, .unavailable)
                let half = await #expect(throws: StoreError.self) { _ = try await stores.inspector().cluster() }
                expectEqual(half?.message.contains("unfinished copy"), true)
                let later = RestoreRecord(id: "restore-2", at: 6_000)
                _ = try await SQLiteStores.restore(
                    backup, to: tables, as: later, work: "\(folder)/work", report: { _ in })
                try await expectEqual(stores.inspector().cluster(), .named(cluster))
                for number in 0..<2 {
                    let slice = try await stores.store(for: SliceNumber(number), mayMake: false)
                    try await expectEqual(slice.restore(), later)
                }
            }
        }
    }

    @Test(arguments: [
        ("on", true, "", StoreDurability.oneDisk), ("on", true, "a, b", .twoDisks),
        ("remote_apply", true, "*", .twoDisks),
        ("remote_write", true, "*", .diskAndMemory), ("local", true, "*", .oneDisk), ("off", true, "*", .memory),
        ("on", false, "*", .memory), ("on", true, " ", .oneDisk),
    ])
    func durabilityFollowsFromTheCommitSettings(
        _ commit: String, _ syncs: Bool, _ standbys: String, _ expected: StoreDurability
    ) {
        expectEqual(PostgresDurability(commit: commit, syncsFiles: syncs, standbys: standbys).extent, expected)
    }
}

/// A store whose disk goes away after some writes.
private final class FailingTarget: StoreCopyTarget {
    private let tables: PostgresTables
    private let left: Mutex<Int>

    init(_ tables: PostgresTables, rows: Int) {
        self.tables = tables
        left = Mutex(rows)
    }

    var place: String { tables.place }
    func tables(of part: StorePart) async throws(StoreError) -> [StoredTable] { try await tables.tables(of: part) }
    func page(
        of table: StoredTable, in part: StorePart, after end: [StoredValue]?, limit: Int
    ) async throws(StoreError) -> StoredPage {
        try await tables.page(of: table, in: part, after: end, limit: limit)
    }
    func beginCopy(of cluster: String) async throws(StoreError) -> Set<StorePart>? {
        try await tables.beginCopy(of: cluster)
    }
    func prepare(_ part: StorePart) async throws(StoreError) { try await tables.prepare(part) }
    func insert(
        _ rows: [[StoredValue]], into table: StoredTable, in part: StorePart
    ) async throws(StoreError) {
        let mayWrite = left.withLock { left in
            left -= 1
            return left >= 0
        }
        guard mayWrite else { throw StoreError(.unavailable, "the disk is away") }
        try await tables.insert(rows, into: table, in: part)
    }
    func clear(_ table: StoredTable, in part: StorePart) async throws(StoreError) {
        try await tables.clear(table, in: part)
    }
    func finish(_ part: StorePart) async throws(StoreError) { try await tables.finish(part) }
    func endCopy() async throws(StoreError) { try await tables.endCopy() }
}
