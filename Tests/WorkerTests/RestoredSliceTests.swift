import MemoryStorage
import Messages
import Storage
import SyncModel
import TestSupport
import Testing

@testable import Worker

/// Clients that are ahead of a slice that was put back reset under one campaign, and are told what was lost.
@Suite(.hangGuard) struct RestoredSliceTests {
    private let campaign = "r.\(OwnerHarness.app)"

    /// An owner of the store as it is after a restore.
    private func restored(_ store: MemorySliceStore, at now: UInt64) async throws -> OwnerHarness {
        try await store.putBack(RestoreRecord(id: "r", at: now), epoch: Epoch(1_000))
        return try await OwnerHarness.make(on: store)
    }

    private func resets(_ published: Published) throws -> (RefusedAnswer, FoundReport?) {
        (try published.one(RefusedAnswer.self), try published.every(FoundReport.self).first)
    }

    @Test func allThatAreAheadResetUnderOneCampaign() async throws {
        let store = MemorySliceStore()
        let before = try await OwnerHarness.make(on: store)
        var files: [ClientFileIdent] = []
        for user in 0..<15 {
            files.append(try await before.join(session: UInt64(user) + 1, user: "u\(user)"))
        }
        try await before.send(before.upload(files[0], [Changes.schema(), Changes.create(1)]))
        let harness = try await restored(store, at: before.time.now())
        harness.time.advance(60_000)
        for (user, file) in files.enumerated() {
            // More than a slice asks of clients by itself.
            let (refusal, found) = try resets(
                try await harness.rejoin(
                    file, session: UInt64(user) + 100, user: "u\(user)",
                    download: DownloadCursor(serverVersion: 9, clientVersion: 7),
                    latest: SaltedServerVersion(version: 9, salt: 9)))
            expectTrue(refusal.action == .clientReset && refusal.campaign == campaign)
            expectEqual(refusal.lostAfter, (user == 0 ? 2 : 0))
            expectTrue(found?.campaign == campaign && found?.reason == ResetReason.restored)
            expectEqual(found?.clientRealms.map(\.clientFile), [file.ident])
        }
        expectTrue(harness.owner.heldResets.isEmpty)
        // The slice says the same to a client that comes again.
        let (again, _) = try resets(
            try await harness.rejoin(
                files[0], session: 300, user: "u0", download: DownloadCursor(serverVersion: 9, clientVersion: 7),
                latest: SaltedServerVersion(version: 9, salt: 9)))
        expectTrue(again.lostAfter == 2 && again.campaign == campaign && again.message == ResetReason.restored)
    }

    @Test func aClientThatIsNotAheadGoesOn() async throws {
        let store = MemorySliceStore()
        let before = try await OwnerHarness.make(on: store)
        let file = try await before.join(session: 1)
        let harness = try await restored(store, at: before.time.now())
        harness.time.advance(60_000)
        _ = try await harness.rejoin(file, session: 2).one(IdentifiedAnswer.self)
        // What ails it later is its own affair.
        let (refusal, found) = try resets(
            try await harness.rejoin(
                file, session: 3, download: DownloadCursor(serverVersion: 9, clientVersion: 0),
                latest: SaltedServerVersion(version: 9, salt: 9)))
        expectTrue(refusal.campaign != campaign && refusal.lostAfter == nil && found?.campaign != campaign)
    }

    @Test func aClientFileThatTheRestoreHasLostResetsLikeTheOthers() async throws {
        let store = MemorySliceStore()
        let before = try await OwnerHarness.make(on: store)
        let known = try await before.join(session: 1)
        let harness = try await restored(store, at: before.time.now())
        let lost = ClientFileIdent(ident: FileIdent(known.ident.rawValue + 1), salt: 77)
        let (refusal, found) = try resets(
            try await harness.rejoin(
                lost, session: 2, user: "later", download: DownloadCursor(serverVersion: 9, clientVersion: 7),
                latest: SaltedServerVersion(version: 9, salt: 9)))
        expectTrue(refusal.campaign == campaign && refusal.lostAfter == 0 && refusal.clientFile == lost.ident)
        expectEqual(found?.clientRealms.map(\.user), ["later"])
        // Nobody else gets its ident.
        try await expectTrue(harness.join(session: 3, user: "new").ident > lost.ident)
        // An ident that was never given out belongs to no client of ours.
        let stranger = ClientFileIdent(ident: 9_000_000, salt: 77)
        let (unknown, _) = try resets(try await harness.rejoin(stranger, session: 4))
        expectTrue(unknown.campaign == nil)
    }

    @Test func aRealmThatTheRestoreHasLostIsKnownByItsClients() async throws {
        let store = MemorySliceStore()
        let time = try await OwnerHarness.make(on: store).time
        let harness = try await restored(store, at: time.now())
        let (refusal, _) = try resets(
            try await harness.rejoin(
                ClientFileIdent(ident: 2, salt: 77), session: 1,
                download: DownloadCursor(serverVersion: 9, clientVersion: 7),
                latest: SaltedServerVersion(version: 9, salt: 9)))
        expectTrue(refusal.campaign == campaign && refusal.lostAfter == 0)
    }
}
