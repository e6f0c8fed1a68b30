import Changesets
import PostgreSQL
import Storage
import StoragePostgreSQL
import StorageSupport
import SyncModel
import TestSupport
import Testing

/// What a slice in PostgreSQL does beyond the contract of all engines.
@Suite(.needsPostgres, .hangGuard) struct PostgresSliceTests {
    let slice = SliceNumber(3)

    /// Returns a batch of realms with a client file, an object and a version each.
    func batch(_ realms: ClosedRange<Int64>) -> SliceBatch {
        var batch = SliceBatch()
        for id in realms {
            batch.realms.append(Sample.realm(id, latest: 1))
            batch.clientFiles.append(Sample.file(2, realm: id, user: "u\(id)"))
            batch.history[HistoryKey(realm: RealmID(id), generation: 1)] = [Sample.entry(1)]
            batch.objects[RealmID(id)] = [ObjectRow(table: 0, key: .int(id)): [1, 2, 3]]
            batch.indexEntries[RealmID(id)] = [
                IndexEntry(row: ObjectRow(table: 0, key: .int(id)), column: 1, value: [1])
            ]
            batch.reciprocals[ClientFileKey(realm: RealmID(id), ident: 2)] = [1: [4]]
            batch.seenMessages.append("m\(id)")
            batch.outbox.append(OutboxRecord(id: "o\(id)", body: [1]))
            batch.usage[AppUser(app: "tasks", user: "u\(id)")] = UsageAmounts(bytes: 3)
        }
        return batch
    }

    func lookup(_ realms: ClosedRange<Int64>) -> SliceLookup {
        var lookup = SliceLookup(appGenerations: ["tasks"], appUsage: ["tasks"])
        for id in realms {
            let realm = RealmID(id)
            let key = ClientFileKey(realm: realm, ident: 2)
            lookup.realms.insert(Sample.realm(id).name)
            lookup.clientFiles.insert(key)
            lookup.resetCases.insert(key)
            lookup.users.insert(RealmUser(realm: realm, user: "u\(id)"))
            lookup.bases.insert(realm)
            lookup.objects[realm] = [ObjectRow(table: 0, key: .int(id))]
            let history = HistoryKey(realm: realm, generation: 1)
            lookup.history.append(HistoryQuery(key: history, versions: .range(after: 0, through: 5), maxBytes: 1_000))
            lookup.history.append(HistoryQuery(key: history, versions: .these([1, 2])))
            lookup.digests.append(DigestQuery(key: history, after: 0, maxBytes: 1_000))
            lookup.reciprocals.append(ReciprocalQuery(owner: key, versions: .after(0, maxBytes: 1_000)))
            lookup.reciprocals.append(ReciprocalQuery(owner: key, versions: .these([1])))
            lookup.messages.insert("m\(id)")
            lookup.userUsage.insert(AppUser(app: "tasks", user: "u\(id)"))
        }
        return lookup
    }

    /// The network is what a batch waits for: not once for each of its messages.
    @Test(arguments: [1, 20, 500] as [Int64]) func aBatchIsOneRoundTripHoweverLarge(_ count: Int64) async throws {
        try await withPostgres { stores, _ in
            let store = try await stores.store(for: slice)
            let epoch = try await store.take()
            // The first commit of an owner looks up how the last one ended.
            try await store.commit(SliceBatch(), epoch: epoch)
            let before = stores.client.statistics.roundTrips
            try await store.commit(batch(1...count), epoch: epoch)
            expectEqual(stores.client.statistics.roundTrips - before, 1)
            let found = try await store.read(lookup(1...count))
            expectEqual(stores.client.statistics.roundTrips - before, 2)
            expectTrue(found.realms.count == Int(count) && found.clientFiles.count == Int(count))
            expectTrue(found.history.allSatisfy { $0.map(\.version) == [1] })
            expectTrue(found.reciprocals.allSatisfy { $0 == [1: [4]] })
            expectEqual(found.objects[RealmID(1)], [ObjectRow(table: 0, key: .int(1)): [1, 2, 3]])
            expectTrue(found.messages.count == Int(count) && found.userUsage.count == Int(count))
            expectEqual(
                found.appUsage["tasks"], AppUsage(realms: Int(count), clientFiles: Int(count), bytes: Int(count) * 9))
        }
    }

    @Test func slicesStandSideBySide() async throws {
        try await withPostgres { stores, _ in
            for number in 0..<3 {
                let store = try await stores.store(for: SliceNumber(number))
                let epoch = try await store.take("w\(number)")
                var batch = SliceBatch()
                batch.realms = [Sample.realm(1, latest: ServerVersion(UInt64(number)))]
                try await store.commit(batch, epoch: epoch)
            }
            for number in 0..<3 {
                let store = try await stores.store(for: SliceNumber(number))
                try await expectEqual(store.ownership()?.owner, "w\(number)")
                try await expectEqual(store.realm(Sample.realm().name)?.latest.version.rawValue, UInt64(number))
            }
        }
    }

    @Test func fencingHoldsBetweenProcesses() async throws {
        try await withPostgres { stores, schema in
            let first = try await stores.store(for: slice)
            let others = try schema.stores()
            let second = try await others.store(for: slice, mayMake: false)
            let old = try await first.take("a")
            try await first.commit(batch(1...1), epoch: old)
            let new = try await second.take("b")
            let error = await #expect(throws: StoreError.self) { try await first.commit(batch(2...2), epoch: old) }
            expectEqual(error?.code, .fenced)
            try await second.commit(batch(3...3), epoch: new)
            let found = try await first.realms(after: nil, limit: 10)
            expectEqual(found.map(\.id.value), [1, 3])
            await others.close()
        }
    }

    /// Two objects of one process may serve one owner: each finds what the other has committed.
    @Test func commitsOfOneOwnerByTwoObjectsGoThrough() async throws {
        try await withPostgres { stores, schema in
            let first = try await stores.store(for: slice)
            let others = try schema.stores()
            let second = try await others.store(for: slice)
            let epoch = try await first.take("a")
            for id in 1...3 as ClosedRange<Int64> {
                try await first.commit(batch((2 * id)...(2 * id)), epoch: epoch)
                try await second.commit(batch((2 * id + 1)...(2 * id + 1)), epoch: epoch)
            }
            try await expectEqual(first.realms(after: nil, limit: 10).count, 6)
            await others.close()
        }
    }

    @Test func commitsAtTheSameTimeGoOneAfterTheOther() async throws {
        try await withPostgres { stores, _ in
            let store = try await stores.store(for: slice)
            let epoch = try await store.take()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for id in 1...20 as ClosedRange<Int64> {
                    group.addTask { try await store.commit(batch(id...id), epoch: epoch) }
                }
                try await group.waitForAll()
            }
            try await expectEqual(store.realms(after: nil, limit: 100).count, 20)
        }
    }

    // MARK: Time

    /// A worker whose clock is hours ahead takes no slice from an owner that lives, and none whose clock is behind keeps one.
    @Test func theDatabasesClockTellsHowLongALeaseLasts() async throws {
        try await withPostgres { stores, _ in
            let store = try await stores.store(for: slice)
            let hour: UInt64 = 3_600_000
            try await expectEqual(store.claim(by: "a", now: 0, leaseUntil: hour, gone: nil), .owned(Epoch(1)))
            let claim = try await store.claim(by: "b", now: 1 << 50, leaseUntil: (1 << 50) + hour, gone: nil)
            guard case .heldBy("a", let until) = claim else { throw StoreError(.fenced, "\(claim)") }
            // The time is the database's, which is today's.
            expectTrue(until > 1_600_000_000_000)
            try await store.renew(epoch: Epoch(1), leaseUntil: 1)
            try await expectEqual(store.ownership().map { $0.leaseUntil >= until }, true)
            try await store.release(epoch: Epoch(1), at: 1)
            try await expectEqual(store.claim(by: "b", now: 0, leaseUntil: 1, gone: nil), .owned(Epoch(2)))
            try await eventually("the lease is over by the database's clock") {
                try await store.claim(by: "c", now: 0, leaseUntil: 1, gone: nil) == .owned(Epoch(3))
            }
            try await expectEqual(store.ownershipHistory(limit: 1).map(\.reason), [.leaseExpired])
        }
    }

    // MARK: Values that an index has no room for, and that a text cannot hold

    @Test func namesAndKeysMayBeOfAnyLength() async throws {
        try await withPostgres { stores, _ in
            let store = try await stores.store(for: slice)
            let epoch = try await store.take()
            let long = String(repeating: "x", count: 100_000)
            var names = ["a", "b"].map { RealmName(app: "tasks", partition: "\"\(long)\($0)\"") }
            names.append(RealmName(app: "tasks", partition: "\"\0\u{FFFE}\0\""))
            names.append(RealmName(app: "tasks", partition: "\"\u{FFFE}0\""))
            var batch = SliceBatch()
            for (index, name) in names.enumerated() {
                var realm = Sample.realm(Int64(index + 1))
                realm.name = name
                batch.realms.append(realm)
                batch.clientFiles.append(Sample.file(2, realm: Int64(index + 1), user: "\0" + long))
            }
            let rows = ["a", "b", ""].map { ObjectRow(table: 0, key: .string(ByteString(long + $0))) }
            batch.objects[RealmID(1)] = Dictionary(uniqueKeysWithValues: rows.map { ($0, [UInt8](long.utf8)) })
            batch.usage[AppUser(app: "tasks", user: long)] = UsageAmounts(bytes: 1)
            batch.usage[AppUser(app: "tasks", user: long + "\0")] = UsageAmounts(bytes: 2)
            try await store.commit(batch, epoch: epoch)
            for (index, name) in names.enumerated() {
                let found = try await store.realm(name)
                expectTrue(found?.id == RealmID(Int64(index + 1)) && found?.name == name)
            }
            try await expectEqual(store.objects(in: RealmID(1), at: rows).count, 3)
            var paged: [ObjectRow] = []
            while let next = try await store.objects(in: RealmID(1), after: paged.last, maxBytes: 1).first {
                paged.append(next.row)
            }
            expectTrue(Set(paged) == Set(rows) && paged.count == 3)
            try await expectEqual(store.usage(of: AppUser(app: "tasks", user: long + "\0"))?.amounts.bytes, 2)
            try await expectEqual(store.clientFile(ClientFileKey(realm: RealmID(1), ident: 2))?.user, "\0" + long)
        }
    }

    /// Pages end where the bytes say, also beyond the rows that are looked at together.
    @Test func aPageEndsWhereItsBytesSay() async throws {
        try await withPostgres { stores, _ in
            let store = try await stores.store(for: slice)
            let epoch = try await store.take()
            let key = HistoryKey(realm: RealmID(1), generation: 1)
            var batch = SliceBatch()
            batch.history[key] = (1...1_500).map { Sample.entry(ServerVersion($0), Array(repeating: 1, count: 8)) }
            try await store.commit(batch, epoch: epoch)
            for (maxBytes, count) in [
                (0, 1), (1, 1), (40, 1), (41, 2), (40 * 256, 256), (40 * 700 + 1, 701), (.max, 1_500),
            ] {
                let found = try await store.history(of: key, after: 0, through: 2_000, maxBytes: maxBytes)
                expectEqual(found.map(\.version.rawValue), (1...UInt64(count)).map { $0 })
            }
            let later = try await store.history(of: key, after: 1_400, through: 1_450, maxBytes: .max)
            expectEqual(later.map(\.version.rawValue), (1_401...1_450).map { $0 })
        }
    }
}
