import Messages
import Storage
import SyncModel
import TestSupport
import Testing

@testable import Worker

@Suite(.hangGuard) struct LateUploadTests {
    /// An upload that was on its way when its session was told to reset says nothing of the reset.
    @Test func aLateUploadOfTheOldIdentLeavesTheInferenceAlone() async throws {
        let harness = try await OwnerHarness.make()
        let old = try await harness.join(session: 1)
        try await harness.send(harness.upload(old, [Changes.schema(), Changes.create(1, title: "one")]))
        try await harness.send(TerminationMessage(app: OwnerHarness.app, campaign: "c-1", generation: 2, reason: nil))
        _ = try await harness.unbind(old, session: 1)
        let fresh = try await harness.join(session: 3)
        let page = try await harness.page(fresh, session: 3, generation: 2, isMark: true).one(PageAnswer.self)
        _ = try await harness.unbind(fresh, session: 3)

        let late = try await harness.send(harness.upload(old, follows: 2, base: 2, [Changes.set(1, title: "late")]))
        try expectEqual(late.one(RefusedAnswer.self).code, 208)
        try await expectEqual(harness.page(old, session: 1).one(RefusedAnswer.self).code, 208)

        _ = try await harness.send(harness.bindRequest(session: 4, needsIdent: false))
        _ = try await harness.identify(
            fresh, session: 4, download: DownloadCursor(serverVersion: page.latest.version), latest: page.latest)
        let outcome = try await harness.send(
            harness.upload(
                fresh, session: 4, base: page.latest.version, generation: 2, [Changes.set(1, title: "offline")])
        ).one(OutcomeReport.self)
        expectEqual(outcome.result, .recovered)
        expectEqual(outcome.attempt, "c-1/\(old.ident)/1")
    }
}
