import Foundation
import Storage
import StorageSQLite
import SyncModel
import TestSupport
import Testing

@Suite(.hangGuard) struct SliceOwnershipTests {
    @Test(arguments: SliceVariant.allCases)
    func aSliceIsTakenOnlyFromWhoLetGoOrIsGone(_ variant: SliceVariant) async throws {
        try await variant.withStore { store in
            try await expectTrue(store.ownership() == nil)
            try await expectEqual(store.claim(by: "a", now: 100, leaseUntil: 200, gone: nil), .owned(Epoch(1)))
            try await expectEqual(
                store.claim(by: "b", now: 150, leaseUntil: 300, gone: nil), .heldBy(owner: "a", until: 200))
            // A proof about somebody else is none.
            try await expectEqual(
                store.claim(by: "b", now: 150, leaseUntil: 300, gone: "z"), .heldBy(owner: "a", until: 200))
            try await expectEqual(store.claim(by: "b", now: 150, leaseUntil: 300, gone: "a"), .owned(Epoch(2)))
            try await expectEqual(store.claim(by: "c", now: 300, leaseUntil: 400, gone: nil), .owned(Epoch(3)))
            try await store.release(epoch: Epoch(3), at: 300)
            try await expectEqual(store.ownership()?.isReleased, true)
            try await expectEqual(store.claim(by: "a", now: 301, leaseUntil: 400, gone: nil), .owned(Epoch(4)))
            try await expectEqual(store.claim(by: "a", now: 302, leaseUntil: 400, gone: nil), .owned(Epoch(5)))
            let history = try await store.ownershipHistory(limit: 10)
            expectEqual(history.map(\.epoch.value), [5, 4, 3, 2, 1])
            expectEqual(history.map(\.reason), [.reclaimed, .released, .leaseExpired, .ownerGone, .first])
            // Only one let go by itself, and when it does so again that changes nothing.
            expectEqual(history.map(\.releasedAt), [nil, nil, 300, nil, nil])
            try await store.release(epoch: Epoch(5), at: 400)
            try await store.release(epoch: Epoch(5), at: 500)
            try await expectEqual(store.ownershipHistory(limit: 1).map(\.releasedAt), [400])
        }
    }

    @Test(arguments: SliceVariant.allCases)
    func aLeaseThatStandsStillIsOverWhateverItsOwnersClockSaid(_ variant: SliceVariant) async throws {
        try await variant.withStore { store in
            _ = try await store.claim(by: "a", now: 9_000, leaseUntil: 9_100, gone: nil)
            let held = SliceClaim.heldBy(owner: "a", until: 9_100)
            try await expectEqual(store.claim(by: "b", now: 150, leaseUntil: 300, gone: nil, overdue: 9_099), held)
            try await expectEqual(
                store.claim(by: "b", now: 150, leaseUntil: 300, gone: nil, overdue: 9_100), .owned(Epoch(2)))
            try await expectEqual(store.ownershipHistory(limit: 1).map(\.reason), [.leaseExpired])
        }
    }

    @Test(arguments: SliceVariant.allCases)
    func aHundredChangesOfOwnerAreKept(_ variant: SliceVariant) async throws {
        try await variant.withStore { store in
            for now in 1...UInt64(130) {
                _ = try await store.claim(by: "a", now: now, leaseUntil: now + 1, gone: nil)
            }
            let history = try await store.ownershipHistory(limit: 1_000)
            expectEqual(history.map(\.epoch.value), (31...130).reversed())
        }
    }

    /// What is put back from a backup goes on under epochs far above.
    @Test(arguments: SliceVariant.allCases)
    func changesOfOwnerBeforeARestoreAreKept(_ variant: SliceVariant) async throws {
        try await variant.withStore { store in
            let epoch = try await store.take("a")
            try await store.putBack(RestoreRecord(id: "restore", at: 5), epoch: Epoch(epoch.value + 1_000))
            _ = try await store.take("b")
            try await expectEqual(store.ownershipHistory(limit: 10).map(\.owner), ["b", "a"])
        }
    }

    @Test(arguments: SliceVariant.allCases)
    func ownerThatLostTheSliceWritesNothing(_ variant: SliceVariant) async throws {
        try await variant.withStore { store in
            let old = try await store.take("a")
            let new = try await store.take("b")
            var batch = SliceBatch()
            batch.realms = [Sample.realm()]
            let commit = await #expect(throws: StoreError.self) { try await store.commit(batch, epoch: old) }
            expectEqual(commit?.code, .fenced)
            let renewal = await #expect(throws: StoreError.self) { try await store.renew(epoch: old, leaseUntil: 9) }
            expectEqual(renewal?.code, .fenced)
            // Releasing what is lost takes nothing from the new owner.
            try await store.release(epoch: old, at: 1)
            try await expectEqual(store.ownership()?.isReleased, false)
            try await expectTrue(store.realm(Sample.realm().name) == nil)
            try await store.commit(batch, epoch: new)
            try await expectEqual(store.realm(Sample.realm().name), Sample.realm())
        }
    }

    @Test func fencingHoldsBetweenTwoOpeningsOfOneFile() async throws {
        try await withFolder { folder in
            let first = try await SQLiteStores(folder: folder).store(for: SliceNumber(0))
            let second = try await SQLiteStores(folder: folder).store(for: SliceNumber(0))
            let old = try await first.take("a")
            let new = try await second.take("b")
            var batch = SliceBatch()
            batch.seenMessages = ["m"]
            let error = await #expect(throws: StoreError.self) { try await first.commit(batch, epoch: old) }
            expectEqual(error?.code, .fenced)
            try await second.commit(batch, epoch: new)
            try await expectTrue(first.isSeen(messageID: "m"))
        }
    }

    @Test func aFileOfAnotherSliceIsRefused() async throws {
        try await withFolder { folder in
            _ = try await SQLiteStores(folder: folder).store(for: SliceNumber(0))
            // The file is closed a moment after nobody uses it; until then some of it is in its log.
            while FileManager.default.fileExists(atPath: "\(folder)/slice-0.sqlite-wal") {
                try await Task.sleep(for: .milliseconds(10))
            }
            try FileManager.default.moveItem(atPath: "\(folder)/slice-0.sqlite", toPath: "\(folder)/slice-1.sqlite")
            let stores = SQLiteStores(folder: folder)
            let error = await #expect(throws: StoreError.self) { try await stores.store(for: SliceNumber(1)) }
            expectEqual(error?.code, .mismatch)
        }
    }
}
