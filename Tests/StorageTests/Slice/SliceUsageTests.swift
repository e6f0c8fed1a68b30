import Changesets
import Storage
import SyncModel
import TestSupport
import Testing

/// What a slice's store counts of apps and users.
@Suite(.hangGuard) struct SliceUsageTests {
    private let key = HistoryKey(realm: RealmID(1), generation: 1)
    private let user = AppUser(app: "tasks", user: "u")

    @Test(arguments: SliceVariant.allCases)
    func appUsageIsCountedAsDataComesAndGoes(_ variant: SliceVariant) async throws {
        try await variant.withStore { store in
            let epoch = try await store.take()
            try await expectEqual(store.usage(ofApp: "tasks"), AppUsage())
            let rows = (1...3).map { ObjectRow(table: 1, key: .int($0)) }
            var batch = SliceBatch()
            batch.realms = [Sample.realm(1), Sample.realm(2)]
            batch.clientFiles = [Sample.file(2), Sample.file(3)]
            batch.objects = [RealmID(1): [rows[0]: [1, 2, 3], rows[1]: [4], rows[2]: [5, 6]]]
            batch.history = [key: [Sample.entry(1), Sample.entry(2)]]
            try await store.commit(batch, epoch: epoch)
            let entry = Sample.entry(1).entry.changeset.count + Sample.entry(1).images.count
            expectTrue(entry > 0)
            let views = Sample.file(2).views.count + Sample.file(3).views.count
            try await expectEqual(
                store.usage(ofApp: "tasks"), AppUsage(realms: 2, clientFiles: 2, bytes: 6 + 2 * entry + views))

            // An object is replaced, another goes; a client file is written again; the history is compacted.
            var next = SliceBatch()
            next.realms = [Sample.realm(1, latest: 2)]
            next.clientFiles = [Sample.file(2)]
            next.objects = [RealmID(1): [rows[0]: [9, 9, 9, 9, 9]]]
            next.objectRemovals = [RealmID(1): [rows[1]]]
            next.compactions = [key: 1]
            try await store.commit(next, epoch: epoch)
            try await expectEqual(
                store.usage(ofApp: "tasks"), AppUsage(realms: 2, clientFiles: 2, bytes: 7 + entry + views))

            var last = SliceBatch()
            last.tableRemovals = [RealmID(1): [1]]
            last.historyTrims = [key: 9]
            try await store.commit(last, epoch: epoch)
            try await expectEqual(store.usage(ofApp: "tasks"), AppUsage(realms: 2, clientFiles: 2, bytes: views))

            last = SliceBatch()
            last.clientFileRemovals = [Sample.file(2).key]
            try await store.commit(last, epoch: epoch)
            try await expectEqual(
                store.usage(ofApp: "tasks"), AppUsage(realms: 2, clientFiles: 1, bytes: Sample.file(3).views.count))
            try await expectEqual(store.usage(ofApp: "other"), AppUsage())
        }
    }

    /// The before images count, and so do the views that client files of a flexible realm have asked for.
    @Test(arguments: SliceVariant.allCases)
    func dataKeptForViewsCounts(_ variant: SliceVariant) async throws {
        try await variant.withStore { store in
            let epoch = try await store.take()
            func bytes() async throws -> Int { try await store.usage(ofApp: "tasks").bytes }
            var version = Sample.entry(1)
            version.images = Array(repeating: 1, count: 500)
            var file = Sample.file(2)
            file.views = Array(repeating: 2, count: 70)
            var batch = SliceBatch()
            batch.realms = [Sample.realm(1)]
            batch.history = [key: [version, Sample.entry(2)]]
            batch.clientFiles = [file]
            try await store.commit(batch, epoch: epoch)
            let entry = version.entry.changeset.count
            try await expectEqual(bytes(), 2 * entry + 500 + Sample.entry(2).images.count + 70)
            // The client file is written twice in a batch; the version goes.
            batch = SliceBatch()
            file.views = Array(repeating: 2, count: 9_000)
            batch.clientFiles = [file]
            file.views = Array(repeating: 2, count: 30)
            batch.clientFiles.append(file)
            batch.compactions = [key: 1]
            try await store.commit(batch, epoch: epoch)
            try await expectEqual(bytes(), entry + Sample.entry(2).images.count + 30)
            batch = SliceBatch()
            batch.clientFileRemovals = [file.key]
            try await store.commit(batch, epoch: epoch)
            try await expectEqual(bytes(), entry + Sample.entry(2).images.count)
        }
    }

    @Test(arguments: SliceVariant.allCases)
    func userUsageHalvesEveryWeek(_ variant: SliceVariant) async throws {
        try await variant.withStore { store in
            let epoch = try await store.take()
            try await expectTrue(store.usage(of: user) == nil)
            let week = UInt64(UserUsage.halfLife)
            var batch = SliceBatch()
            batch.usage = [user: UsageAmounts(realms: 2, clientFiles: 4, bytes: 1_000)]
            batch.usageAt = week
            expectTrue(!batch.isEmpty)
            try await store.commit(batch, epoch: epoch)
            batch.usage = [user: UsageAmounts(realms: 1)]
            batch.usageAt = 2 * week
            try await store.commit(batch, epoch: epoch)
            let found = try #require(try await store.usage(of: user))
            expectEqual(found, UserUsage(amounts: UsageAmounts(realms: 2, clientFiles: 2, bytes: 500), at: 2 * week))
            // A clock that was put back forgets nothing more.
            expectEqual(found.at(week), found)
            expectEqual(found.at(4 * week).amounts.bytes, 125)

            var later = SliceBatch()
            let other = AppUser(app: "tasks", user: "other")
            later.usage = [other: UsageAmounts(realms: 1)]
            later.usageAt = 3 * week
            try await store.commit(later, epoch: epoch)
            try await expectTrue(store.forgettableUsage(before: 2 * week, limit: 9).isEmpty)
            try await expectEqual(store.forgettableUsage(before: 4 * week, limit: 9), [user, other])
            try await expectEqual(store.forgettableUsage(before: 4 * week, limit: 1), [user])
            later = SliceBatch()
            later.usageRemovals = [user]
            expectTrue(!later.isEmpty)
            try await store.commit(later, epoch: epoch)
            try await expectTrue(store.usage(of: user) == nil)
            try await expectTrue(store.usage(of: other) != nil)
        }
    }
}
