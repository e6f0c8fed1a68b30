import Foundation
import GRDB
import Storage
import StorageSupport
import SyncModel
import TestSupport
import Testing

@testable import Coordinator
@testable import StorageSQLite

/// Damage rejects the reports that it is about, and no others.
@Suite(.hangGuard) struct DamagedControlTests {
    private func withCampaigns(_ ids: [String]) async throws -> SQLiteControlStore {
        let store = try await SQLiteControlStore.inMemory()
        try await store.insert(AppRecord(id: "tasks", createdAt: 1))
        for id in ids { _ = try await store.apply([found([2], of: id, kind: "reset")], slices: 1, at: 1) }
        return store
    }

    private func damage(_ store: SQLiteControlStore, _ sql: String) async throws {
        try await store.write("the damage") { try $0.execute(sql: sql) }
    }

    @Test func aReportOfADamagedCampaignHoldsUpNobodyElses() async throws {
        let store = try await SQLiteControlStore.inMemory()
        try await store.insert(AppRecord(id: "tasks", createdAt: 1))
        for id in ["n1", "n2"] { _ = try await store.apply([found([2], of: id, kind: "reset")], slices: 1, at: 1) }
        try await store.write("the damage") { try $0.execute(sql: "UPDATE campaigns SET kind = '?' WHERE id = 'n1'") }
        let reports = ["n1", "n2"].map { outcome(2, .recovered, campaign: $0) }
        await #expect(throws: StoreError.self) { _ = try await store.apply(reports, slices: 1, at: 2) }
        let effects = try await store.applyWhatItCan(reports, slices: 1, at: 2)
        expectTrue(effects.rejected.map(\.index) == [0] && effects.changed.map(\.state) == [.closed])
        try await expectEqual(store.campaign("n2")?.counts.recovered, 1)
    }

    @Test func aDamagedAppRowWaitsForItsOperator() async throws {
        let store = try await withCampaigns(["n1"])
        try await damage(store, "UPDATE apps SET sync_state = '?'")
        let reports = [outcome(2, .recovered, campaign: "n1")]
        let error = await #expect(throws: StoreError.self) {
            _ = try await store.applyWhatItCan(reports, slices: 1, at: 2)
        }
        expectEqual(error?.code, .corrupt)
        try await damage(store, "UPDATE apps SET sync_state = 'enabled'")
        try await expectTrue(store.applyWhatItCan(reports, slices: 1, at: 2).rejected.isEmpty)
    }

    @Test func manyCampaignsAndNoneThatIsSoundWaitForTheirOperator() async throws {
        let store = try await withCampaigns(["n1", "n2", "n3"])
        try await damage(store, "UPDATE campaigns SET kind = '?' WHERE id <> 'n3'")
        let reports = ["n1", "n2"].map { outcome(2, .recovered, campaign: $0) }
        await #expect(throws: StoreError.self) { _ = try await store.applyWhatItCan(reports, slices: 1, at: 2) }
        let effects = try await store.applyWhatItCan(
            reports + [outcome(2, .recovered, campaign: "n3")], slices: 1, at: 2)
        expectEqual(effects.rejected.map(\.index), [0, 1])
        try await expectEqual(store.campaign("n3")?.counts.recovered, 1)
    }

    /// Else its reports would hold up everybody's behind them for ever.
    @Test func aBatchOfOneDamagedCampaignIsRejected() async throws {
        let store = try await withCampaigns(["n1"])
        try await damage(store, "UPDATE campaigns SET kind = '?'")
        let reports = (2...4).map { outcome(FileIdent($0), .recovered, campaign: "n1") }
        try await expectEqual(store.applyWhatItCan(reports, slices: 1, at: 2).rejected.map(\.index), [0, 1, 2])
    }

    @Test(arguments: [1, 3]) func aDamagedFileRejectsNothing(_ count: Int) async throws {
        try await withControlFolder { folder in
            let roots: [Int]
            do {
                let store = try await SQLiteControlStore.open(folder: folder)
                try await store.insert(AppRecord(id: "tasks", createdAt: 1))
                _ = try await store.apply([found([2], of: "n1", kind: "reset")], slices: 1, at: 1)
                roots = try await store.read("the tables") {
                    try Int.fetchAll($0, sql: "SELECT rootpage FROM sqlite_master WHERE rootpage > 0")
                }
                try await store.database.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
                try store.database.close()
            }
            // Every table, and not what says which there are.
            let file = URL(fileURLWithPath: "\(folder)/control.sqlite")
            var bytes = try Data(contentsOf: file)
            for root in roots {
                bytes.replaceSubrange((root - 1) * 4096..<root * 4096, with: Data(repeating: 0xff, count: 4096))
            }
            try bytes.write(to: file)
            let store = try await SQLiteControlStore.open(folder: folder)
            let reports = (0..<count).map { outcome(FileIdent(2 + UInt64($0)), .recovered, campaign: "n1") }
            let error = await #expect(throws: StoreError.self) {
                _ = try await store.applyWhatItCan(reports, slices: 1, at: 2)
            }
            expectEqual(error?.code, .corrupt)
        }
    }
}
