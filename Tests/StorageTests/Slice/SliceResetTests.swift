import Storage
import SyncModel
import TestSupport
import Testing

@Suite(.hangGuard) struct SliceResetTests {
    private func filled(_ store: any SliceStore) async throws -> Epoch {
        let epoch = try await store.take()
        var batch = SliceBatch()
        batch.realms = [Sample.realm(1), Sample.realm(2)]
        batch.clientFiles = [
            Sample.file(2, lastSeen: 10), Sample.file(3, user: "v", lastSeen: 30),
            Sample.file(2, realm: 2, lastSeen: 20),
        ]
        try await store.commit(batch, epoch: epoch)
        return epoch
    }

    @Test(arguments: SliceVariant.allCases)
    func clientFilesAreReadBackAsWritten(_ variant: SliceVariant) async throws {
        try await variant.withStore { store in
            let epoch = try await filled(store)
            var file = Sample.file(3, user: "v")
            file.state = .superseded
            file.campaign = "c"
            file.supersededBy = 9
            file.resetOf = 2
            var batch = SliceBatch()
            batch.clientFiles = [file]
            try await store.commit(batch, epoch: epoch)
            try await expectEqual(store.clientFile(file.key), file)
            try await expectEqual(store.clientFile(Sample.file(2).key), Sample.file(2, lastSeen: 10))
            try await expectTrue(store.clientFile(ClientFileKey(realm: RealmID(1), ident: 4)) == nil)
            try await expectEqual(store.clientFiles(in: RealmID(1), state: .live, after: 0, limit: 9).map(\.ident), [2])
        }
    }

    @Test(arguments: SliceVariant.allCases)
    func aTerminationMarksWhatIsOlder(_ variant: SliceVariant) async throws {
        try await variant.withStore { store in
            let epoch = try await filled(store)
            var batch = SliceBatch()
            batch.clientFiles = [Sample.file(5, generation: 2)]
            try await store.commit(batch, epoch: epoch)
            batch = SliceBatch()
            let record = AppGenerationRecord(app: "tasks", generation: 2, campaign: "c-1", at: 5)
            batch.terminations = [
                record, AppGenerationRecord(app: "other", generation: 7, campaign: "c-2", at: 5),
            ]
            try await store.commit(batch, epoch: epoch)
            try await expectEqual(store.countClientFiles(campaign: "c-1"), 3)
            try await expectEqual(store.countClientFiles(campaign: "c-2"), 0)
            let first = try await store.clientFiles(campaign: "c-1", after: nil, limit: 2)
            expectEqual(first.map(\.record.ident), [2, 3])
            let rest = try await store.clientFiles(campaign: "c-1", after: first.last?.record.key, limit: 2)
            expectEqual(rest.map(\.name.partition), ["\"p2\""])
            expectTrue(rest.allSatisfy { $0.record.state == .resetRequired })
            try await expectEqual(store.clientFile(Sample.file(5).key)?.state, .live)
            try await expectEqual(store.appGeneration("tasks"), record)
            try await expectEqual(store.appGeneration(campaign: "c-1"), record)
            try await expectEqual(store.appGenerations().map(\.generation).sorted(), [2, 7])
            let firstApp = try #require(try await store.appGenerations(after: nil, limit: 1).first?.app)
            try await expectEqual(store.appGenerations(after: firstApp, limit: 9).count, 1)
            try await expectTrue(store.terminations(since: 0, limit: 9).contains(record))
            try await expectTrue(store.terminations(since: record.at + 1, limit: 9).allSatisfy { $0.campaign != "c-1" })
            let waiting = try await store.resets(of: RealmUser(realm: RealmID(1), user: "v")).waiting
            expectEqual(waiting.map(\.ident), [3])
            // A second campaign takes over the client realms that have yet to reset for the first one.
            batch.terminations = [AppGenerationRecord(app: "tasks", generation: 3, campaign: "c-3", at: 6)]
            try await store.commit(batch, epoch: epoch)
            try await expectEqual(
                store.clientFiles(campaign: "c-3", after: nil, limit: 9).map(\.record.ident), [2, 3, 5, 2])
            try await expectEqual(store.countClientFiles(campaign: "c-1"), 0)
        }
    }

    @Test(arguments: SliceVariant.allCases)
    func theFirstReasonOfACampaignIsKept(_ variant: SliceVariant) async throws {
        try await variant.withStore { store in
            let epoch = try await filled(store)
            var batch = SliceBatch()
            batch.reasons = ["c-1": "schema change"]
            try await store.commit(batch, epoch: epoch)
            batch.reasons = ["c-1": "another", "c-2": "disk"]
            try await store.commit(batch, epoch: epoch)
            try await expectEqual(store.reason(campaign: "c-1"), "schema change")
            try await expectEqual(store.reason(campaign: "c-2"), "disk")
            try await expectTrue(store.reason(campaign: "c-3") == nil)
        }
    }

    @Test(arguments: SliceVariant.allCases)
    func idleClientFilesAreFoundByAge(_ variant: SliceVariant) async throws {
        try await variant.withStore { store in
            _ = try await filled(store)
            let idle = try await store.idleClientFiles(app: "tasks", seenBefore: 30, limit: 9)
            expectEqual(idle.map(\.lastSeen), [10, 20])
            try await expectTrue(store.idleClientFiles(app: "other", seenBefore: 30, limit: 9).isEmpty)
        }
    }

    @Test(arguments: SliceVariant.allCases)
    func resetCasesAreFoundByUserAndByTime(_ variant: SliceVariant) async throws {
        try await variant.withStore { store in
            let epoch = try await filled(store)
            func record(_ ident: FileIdent, user: String = "u", open: Bool = true, due: UInt64? = nil)
                -> ResetCaseRecord
            {
                ResetCaseRecord(
                    realm: RealmID(1), identOld: ident, user: user, isOpen: open, dueAt: due,
                    body: [1, UInt8(ident.rawValue)])
            }
            var batch = SliceBatch()
            batch.resetCases = [record(2, due: 100), record(3, open: false), record(4, user: "v"), record(5, due: 50)]
            try await store.commit(batch, epoch: epoch)
            try await expectEqual(store.resetCase(record(3).key), record(3, open: false))
            try await expectEqual(
                store.resets(of: RealmUser(realm: RealmID(1), user: "u")).openCases.map(\.identOld), [5, 2])
            try await expectEqual(store.dueResetCases(at: 60, limit: 9), [record(5, due: 50)])
            try await expectEqual(store.dueResetCases(at: 100, limit: 9).map(\.identOld), [5, 2])
        }
    }

    @Test(arguments: SliceVariant.allCases)
    func aReasonIsForgottenWhenItsCampaignIsOver(_ variant: SliceVariant) async throws {
        try await variant.withStore { store in
            let epoch = try await store.take()
            var batch = SliceBatch()
            batch.realms = [Sample.realm()]
            var waiting = Sample.file(2)
            waiting.state = .resetRequired
            waiting.campaign = "waiting"
            var over = Sample.file(3)
            over.state = .superseded
            over.campaign = "over"
            batch.clientFiles = [waiting, over]
            batch.terminations = [AppGenerationRecord(app: "other", generation: 2, campaign: "latest", at: 5)]
            batch.reasons = ["waiting": "w", "over": "o", "latest": "l"]
            try await store.commit(batch, epoch: epoch)
            try await expectEqual(store.reason(campaign: "over"), "o")
            batch = SliceBatch()
            batch.reasons = ["new": "n"]
            try await store.commit(batch, epoch: epoch)
            let found = try await store.read(SliceLookup(reasons: ["waiting", "over", "latest", "new"])).reasons
            expectEqual(found, ["waiting": "w", "latest": "l", "new": "n"])
        }
    }
}
