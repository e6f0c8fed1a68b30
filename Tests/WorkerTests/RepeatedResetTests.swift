import Messages
import Storage
import SyncModel
import TestSupport
import Testing

@testable import Worker

@Suite(.hangGuard) struct RepeatedResetTests {
    @Test(arguments: [1, 2, 500]) func aRealmsResetThatComesTwiceLeavesNewClientFilesAlone(_ chunk: Int) async throws {
        var limits = WorkerLimits()
        limits.maxFoundPerReport = chunk
        let harness = try await OwnerHarness.make(limits: limits)
        let old = [try await harness.join(session: 1).ident, try await harness.join(session: 2).ident]
        let message = ResetMessage(realm: harness.realm, clientFile: nil, campaign: "r-1", reason: nil)
        try await harness.send(message)
        let new = try await harness.join(session: 3)

        let next = try await OwnerHarness.make(limits: limits, on: harness.store)
        let again = try await next.send(message)
        try expectEqual(again.every(FoundReport.self).flatMap(\.clientRealms).map(\.clientFile), old)
        // The owner that marked the client files may have died before anybody was told.
        try expectEqual(again.every(ResetNotice.self).map(\.clientFile), old)
        try await expectEqual(
            harness.store.clientFile(ClientFileKey(realm: RealmID(1), ident: new.ident))?.state, .live)

        // Another campaign is another reset.
        try await next.send(ResetMessage(realm: harness.realm, clientFile: nil, campaign: "r-2", reason: nil))
        try await expectEqual(
            harness.store.clientFile(ClientFileKey(realm: RealmID(1), ident: new.ident))?.state, .resetRequired)
    }
}
