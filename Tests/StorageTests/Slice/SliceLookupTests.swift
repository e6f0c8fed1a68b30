import Changesets
import Storage
import SyncModel
import TestSupport
import Testing

/// What one call finds, and where reading ends.
@Suite(.hangGuard) struct SliceLookupTests {
    private let key = HistoryKey(realm: RealmID(1), generation: 1)
    private let owner = ClientFileKey(realm: RealmID(1), ident: 2)

    private func resetCase(_ ident: FileIdent, realm: Int64 = 1, user: String = "u") -> ResetCaseRecord {
        ResetCaseRecord(
            realm: RealmID(realm), identOld: ident, user: user, isOpen: true, dueAt: nil, body: [UInt8(ident.rawValue)])
    }

    /// Two realms with something of every kind in each.
    private func fill(_ store: any SliceStore) async throws {
        var batch = SliceBatch()
        batch.realms = [Sample.realm(1), Sample.realm(2)]
        batch.terminations = [AppGenerationRecord(app: "tasks", generation: 1, campaign: nil, at: 5)]
        batch.reasons = ["c": "schema change"]
        batch.seenMessages = ["m"]
        for realm in [RealmID(1), RealmID(2)] {
            let key = HistoryKey(realm: realm, generation: 1)
            batch.clientFiles.append(Sample.file(2, realm: realm.value))
            batch.resetCases.append(resetCase(2, realm: realm.value))
            batch.objects[realm] = [ObjectRow(table: 1, key: .int(realm.value)): [UInt8(realm.value)]]
            batch.history[key] = (1...4).map { Sample.entry($0, [UInt8(realm.value)]) }
            batch.historyDigests.append(HistoryDigest(key: key, after: 0, through: 4, body: [UInt8(realm.value)]))
            batch.reciprocals[ClientFileKey(realm: realm, ident: 2)] = [3: [UInt8(realm.value)]]
            batch.bases.append(
                BaseRecord(
                    realm: realm, generation: 1, version: 3, historyBytes: 9, isComplete: realm.value == 1, createdAt: 1
                ))
        }
        try await store.commit(batch, epoch: try await store.take())
    }

    @Test(arguments: SliceVariant.allCases)
    func oneLookupFindsWhatABatchOfSeveralRealmsNames(_ variant: SliceVariant) async throws {
        try await variant.withStore { store in
            try await fill(store)
            let (first, second, missing) = (RealmID(1), RealmID(2), RealmID(9))
            let rows = [first, second].map { ObjectRow(table: 1, key: .int($0.value)) }
            let keys = [first, second, missing].map { ClientFileKey(realm: $0, ident: 2) }
            let none = RealmName(app: "tasks", partition: "none")
            let other = HistoryKey(realm: second, generation: 1)
            let found = try await store.read(
                SliceLookup(
                    realms: [Sample.realm(1).name, Sample.realm(2).name, none], appGenerations: ["tasks", "other"],
                    clientFiles: Set(keys), resetCases: Set(keys),
                    users: [RealmUser(realm: first, user: "u"), RealmUser(realm: first, user: "nobody")],
                    bases: [first, second, missing], objects: [first: rows, second: rows],
                    history: [
                        HistoryQuery(key: other, versions: .these([2, 9])),
                        HistoryQuery(key: key, versions: .range(after: 1, through: 3), omitsChangesets: true),
                    ],
                    digests: [
                        DigestQuery(key: other, after: 3, maxBytes: .max), DigestQuery(key: key, after: 4, maxBytes: 1),
                    ],
                    reciprocals: [
                        ReciprocalQuery(owner: keys[1], versions: .these([3, 4])),
                        ReciprocalQuery(owner: keys[0], versions: .after(0, maxBytes: 1)),
                    ],
                    messages: ["m", "n"], reasons: ["c", "d"]))
            expectEqual(found.realms, [Sample.realm(1).name: Sample.realm(1), Sample.realm(2).name: Sample.realm(2)])
            expectEqual(found.appGenerations.mapValues(\.generation), ["tasks": 1])
            expectEqual(found.clientFiles, [keys[0]: Sample.file(2), keys[1]: Sample.file(2, realm: 2)])
            expectEqual(found.resetCases, [keys[0]: resetCase(2), keys[1]: resetCase(2, realm: 2)])
            expectEqual(found.users.mapValues { $0.openCases.count }.values.sorted(), [0, 1])
            expectEqual(found.bases.mapValues { $0.map(\.isComplete) }, [first: [true], second: [false], missing: []])
            expectEqual(found.objects, [first: [rows[0]: [1]], second: [rows[1]: [2]]])
            expectEqual(found.history.map { $0.map(\.version) }, [[2], [2, 3]])
            expectEqual(found.history.map { $0.map(\.entry.changeset) }, [[[2]], [[], []]])
            expectEqual(found.digests.map { $0.map(\.body) }, [[[2]], []])
            expectEqual(found.reciprocals, [[3: [2]], nil])
            expectTrue(found.messages == ["m"] && found.reasons == ["c": "schema change"])
        }
    }

    @Test(arguments: SliceVariant.allCases)
    func nothingNamedIsNothingFound(_ variant: SliceVariant) async throws {
        try await variant.withStore { store in
            try await fill(store)
            let found = try await store.read(SliceLookup())
            expectTrue(
                found.realms.isEmpty && found.clientFiles.isEmpty && found.bases.isEmpty && found.objects.isEmpty)
            expectTrue(
                found.history.isEmpty && found.digests.isEmpty && found.reciprocals.isEmpty && found.users.isEmpty)
        }
    }

    @Test(arguments: SliceVariant.allCases)
    func aUsersResetsAreTheMostRecentOnes(_ variant: SliceVariant) async throws {
        try await variant.withStore { store in
            let limit = UInt64(SliceFindings.UserResets.limit)
            var batch = SliceBatch()
            batch.realms = [Sample.realm(1)]
            batch.resetCases = (2...limit + 5).map { resetCase(FileIdent($0)) } + [resetCase(99, user: "v")]
            batch.clientFiles = (2...limit + 5).map { ident in
                var file = Sample.file(FileIdent(ident), lastSeen: 1_000 - ident / 2)
                file.state = .resetRequired
                return file
            }
            batch.clientFiles += [Sample.file(98), Sample.file(99, user: "v")]
            try await store.commit(batch, epoch: try await store.take())
            let resets = try await store.resets(of: RealmUser(realm: RealmID(1), user: "u"))
            expectEqual(resets.openCases.map(\.identOld.rawValue), (6...limit + 5).reversed())
            // The one with the higher ident comes first of two that were seen at the same time.
            expectTrue(
                resets.waiting.count == Int(limit) && resets.waiting.prefix(4).map(\.ident.rawValue) == [3, 2, 5, 4])
        }
    }

    @Test(arguments: SliceVariant.allCases)
    func aPageHoldsOneThingHoweverLargeAndEndsWithWhatReachesTheLimit(_ variant: SliceVariant) async throws {
        try await variant.withStore { store in
            var batch = SliceBatch()
            let body = [UInt8](repeating: 7, count: 100 - HistoryQuery.overhead)
            batch.history = [key: (1...5).map { Sample.entry($0, body) }]
            batch.historyDigests = (0...4).map { HistoryDigest(key: key, after: $0, through: $0 + 1, body: body) }
            let rows = (1...5).map { ObjectRow(table: 1, key: .int($0)) }
            batch.objects = [RealmID(1): Dictionary(uniqueKeysWithValues: rows.map { ($0, body) })]
            batch.outbox = (1...5).map { OutboxRecord(id: "m\($0)", body: body) }
            try await store.commit(batch, epoch: try await store.take())
            for (maxBytes, count) in [(0, 1), (1, 1), (100, 1), (101, 2), (400, 4), (Int.max, 5)] {
                let range = try await store.history(of: key, after: 0, through: 9, maxBytes: maxBytes)
                let some = try await store.history(of: key, at: [1, 2, 3, 4, 5], maxBytes: maxBytes)
                let digests = try await store.historyDigests(of: key, after: 0, maxBytes: maxBytes)
                let objects = try await store.objects(in: RealmID(1), after: nil, maxBytes: maxBytes)
                let messages = try await store.outbox(after: 0, maxBytes: maxBytes)
                expectEqual(
                    [range.count, some.count, digests.count, objects.count, messages.count],
                    Array(repeating: count, count: 5), "\(maxBytes) bytes")
            }
        }
    }

    @Test(arguments: SliceVariant.allCases)
    func reciprocalsAreAllThereOrNone(_ variant: SliceVariant) async throws {
        try await variant.withStore { store in
            var batch = SliceBatch()
            let body = [UInt8](repeating: 7, count: 100 - HistoryQuery.overhead)
            batch.reciprocals = [owner: [1: body, 2: body, 3: body]]
            try await store.commit(batch, epoch: try await store.take())
            try await expectTrue(store.reciprocals(of: owner, after: 0, maxBytes: 299) == nil)
            try await expectEqual(store.reciprocals(of: owner, after: 0, maxBytes: 300)?.count, 3)
            try await expectEqual(store.reciprocals(of: owner, after: 2, maxBytes: 100), [3: body])
            try await expectEqual(store.reciprocals(of: owner, after: 3, maxBytes: 0), [:])
            try await expectEqual(store.reciprocals(of: owner, at: [2, 7]), [2: body])
        }
    }

    @Test(arguments: SliceVariant.allCases)
    func clientFilesComeInPagesByIdentAndState(_ variant: SliceVariant) async throws {
        try await variant.withStore { store in
            var batch = SliceBatch()
            batch.clientFiles = (2...9 as ClosedRange<UInt64>).map { ident in
                var file = Sample.file(FileIdent(ident))
                if ident.isMultiple(of: 2) { file.state = .expired }
                return file
            }
            batch.clientFiles.append(Sample.file(3, realm: 2))
            try await store.commit(batch, epoch: try await store.take())
            func idents(_ state: ClientFileRecord.State?, after: FileIdent) async throws -> [UInt64] {
                try await store.clientFiles(in: RealmID(1), state: state, after: after, limit: 3).map(\.ident.rawValue)
            }
            try await expectEqual(idents(nil, after: 0), [2, 3, 4])
            try await expectEqual(idents(nil, after: 4), [5, 6, 7])
            try await expectEqual(idents(.live, after: 3), [5, 7, 9])
            try await expectEqual(idents(.superseded, after: 0), [])
            var visited: [UInt64] = []
            try await store.forEachClientFile(in: RealmID(1)) { visited.append($0.ident.rawValue) }
            expectEqual(visited, Array(2...9))
        }
    }
}
