import AMQP
import Messages
import Storage
import SyncModel
import TestSupport
import Testing

@testable import Worker

/// A BIND and its IDENT that come a second time, when their client has gone on: no owner may take them for news.
@Suite(.hangGuard) struct RepeatedIdentTests {
    /// A client that has been identified with nothing, and has uploaded on top of somebody else's change since.
    private struct Scene {
        var harness: OwnerHarness
        var file: ClientFileIdent
        var bind: BindRequest
        var identify: IdentifyRequest

        static func make() async throws -> Scene {
            let harness = try await OwnerHarness.make()
            let other = try await harness.join(session: 1)
            let file = try await harness.join(session: 2)
            _ = try await harness.unbind(file, session: 2)
            let bind = harness.bindRequest(session: 3, needsIdent: false)
            let identify = harness.identifyRequest(file, session: 3)
            _ = try await harness.send(bind).one(BoundAnswer.self)
            _ = try await harness.send(identify).one(IdentifiedAnswer.self)
            try await harness.send(harness.upload(other, session: 1, [Changes.schema()]))
            // From now on a cursor below 1 lies before what the client has uploaded on.
            try await harness.send(harness.upload(file, session: 3, base: 1, [Changes.create(1)]))
            return Scene(harness: harness, file: file, bind: bind, identify: identify)
        }

        /// The slice's next owner.
        func succeeded() async throws -> Scene {
            var scene = self
            scene.harness = try await OwnerHarness.make(on: harness.store)
            return scene
        }

        func row() async throws -> ClientFileRecord? {
            try await harness.store.clientFile(ClientFileKey(realm: RealmID(1), ident: file.ident))
        }

        func answer(confirming question: UInt64) async throws -> Published {
            var confirmed = identify
            confirmed.confirms = question
            return try await harness.send(confirmed)
        }
    }

    @Test func aNewOwnerAsksBeforeItBelievesThem() async throws {
        let scene = try await Scene.make().succeeded()
        let before = try await scene.row()
        _ = try await scene.harness.send(scene.bind).one(BoundAnswer.self)
        let published = try await scene.harness.send(scene.identify)
        // The gateway, and nobody else; and it keeps silent, since the session was answered long ago.
        expectEqual(published.all.count, 1)
        _ = try published.one(ConfirmAnswer.self)
        try await expectEqual(scene.row(), before)
        try await expectEqual(scene.harness.store.countClientFiles(campaign: before?.campaign ?? ""), 0)
        // The client goes on where it is.
        let notice = try await scene.harness.send(
            scene.harness.upload(scene.file, session: 3, follows: 1, base: 2, [Changes.create(2)])
        ).one(IntegratedNotice.self)
        expectEqual(notice.latest.version, 3)
    }

    @Test func theOwnerThatKnowsTheSessionIsSilent() async throws {
        let scene = try await Scene.make()
        try await expectTrue(scene.harness.send(scene.bind).all.isEmpty)
        try await expectTrue(scene.harness.send(scene.identify).all.isEmpty)
    }

    @Test func aClientThatHasLostItsMemoryIsResetOnceItsGatewayHasConfirmed() async throws {
        let scene = try await Scene.make()
        let regressed = scene.harness.identifyRequest(scene.file, session: 4)
        _ = try await scene.harness.send(scene.harness.bindRequest(session: 4, needsIdent: false)).one(BoundAnswer.self)
        let question = try await scene.harness.send(regressed).one(ConfirmAnswer.self).question
        try await expectEqual(scene.row()?.state, .live)
        var confirmed = regressed
        confirmed.confirms = question
        let published = try await scene.harness.send(confirmed)
        let refusal = try published.one(RefusedAnswer.self)
        expectEqual(refusal.code, 209)
        expectEqual(refusal.action, "ClientReset")
        // What it has under the numbers that were integrated may be something else by now.
        expectTrue(refusal.integrated == nil)
        try expectEqual(published.one(FoundReport.self).clientRealms.map(\.clientFile), [scene.file.ident])
        try await expectEqual(scene.row()?.state, .resetRequired)
    }

    @Test func anOwnerThatCameInBetweenAsksForItself() async throws {
        var scene = try await Scene.make().succeeded()
        let first = try await scene.harness.send(scene.identify).one(ConfirmAnswer.self).question
        scene = try await scene.succeeded()
        let second = try await scene.answer(confirming: first).one(ConfirmAnswer.self).question
        try await expectEqual(scene.row()?.state, .live)
        try await expectEqual(scene.answer(confirming: second).one(RefusedAnswer.self).code, 209)
    }

    /// The confirmation, published a second time as the request was.
    @Test func aConfirmationThatComesLateCountsForNothing() async throws {
        let harness = try await OwnerHarness.make()
        let file = try await harness.join(session: 1)
        try await harness.send(harness.upload(file, [Changes.schema()]))
        // The IDENT names a version that the realm has not reached by then.
        let latest = try await harness.record().latest
        let early = harness.identifyRequest(
            file, session: 2, download: DownloadCursor(serverVersion: 2, clientVersion: 0),
            latest: SaltedServerVersion(version: 2, salt: latest.salt))
        _ = try await harness.send(harness.bindRequest(session: 2, needsIdent: false)).one(BoundAnswer.self)
        let question = try await harness.send(early).one(ConfirmAnswer.self).question
        try await harness.send(harness.upload(file, follows: 1, base: 1, [Changes.create(1)]))
        _ = try await harness.send(early).one(IdentifiedAnswer.self)
        try await harness.send(harness.upload(file, session: 2, follows: 2, base: 2, [Changes.create(2)]))
        var late = early
        late.confirms = question
        try await expectTrue(harness.send(late).all.isEmpty)
    }

    /// A gateway of a version that knows no questions has an IDENT that may be old put off, as it was before.
    @Test func aGatewayThatCannotBeAskedHasItsClientTryAgain() async throws {
        let scene = try await Scene.make().succeeded()
        var request = scene.identify
        request.confirms = nil
        let refusal = try await scene.harness.send(request).one(RefusedAnswer.self)
        expectEqual(refusal.code, 201)
        expectTrue(refusal.tryAgain)
        _ = try await scene.harness.send(scene.bind).one(BoundAnswer.self)
        try await expectEqual(scene.harness.send(request).one(RefusedAnswer.self).code, 209)
    }

    /// The old ident once more would mean that the reset was not carried through.
    @Test func anOldIdentThatComesAgainTakesNoOutcomeBack() async throws {
        let harness = try await OwnerHarness.make()
        let old = try await harness.join(session: 1)
        try await harness.send(harness.upload(old, [Changes.schema(), Changes.create(1, title: "one")]))
        try await harness.send(TerminationMessage(app: OwnerHarness.app, campaign: "c-1", generation: 2, reason: nil))
        let bind = harness.bindRequest(session: 2, needsIdent: false)
        let identify = harness.identifyRequest(
            old, session: 2, download: DownloadCursor(serverVersion: 2, clientVersion: 2),
            latest: SaltedServerVersion(version: 2, salt: 1))
        _ = try await harness.send(bind)
        // Nothing is at stake yet: it is told at once, and how far it came.
        let refusal = try await harness.send(identify).one(RefusedAnswer.self)
        expectEqual(refusal.code, 208)
        expectEqual(refusal.integrated, 2)
        _ = try await harness.unbind(old, session: 2)
        let fresh = try await harness.join(session: 3)
        let page = try await harness.page(fresh, session: 3, generation: 2, isMark: true).one(PageAnswer.self)
        _ = try await harness.unbind(fresh, session: 3)
        _ = try await harness.send(harness.bindRequest(session: 4, needsIdent: false))
        _ = try await harness.identify(
            fresh, session: 4, download: DownloadCursor(serverVersion: page.latest.version), latest: page.latest)
        let upload = harness.upload(
            fresh, session: 4, base: page.latest.version, generation: 2, [Changes.set(1, title: "offline")])
        try await expectEqual(harness.send(upload).one(OutcomeReport.self).result, .recovered)

        let successor = try await OwnerHarness.make(on: harness.store)
        _ = try await successor.send(bind).one(BoundAnswer.self)
        let published = try await successor.send(identify)
        _ = try published.one(ConfirmAnswer.self)
        expectEqual(published.all.count, 1)
        let row = try await harness.store.clientFile(ClientFileKey(realm: RealmID(1), ident: old.ident))
        expectEqual(row?.state, .superseded)
        // A client that was put back to before its reset is believed, once it is certain.
        let asked = try published.one(ConfirmAnswer.self)
        var confirmed = identify
        confirmed.confirms = asked.question
        let again = try await successor.send(confirmed)
        try expectEqual(again.one(RefusedAnswer.self).code, 208)
        try expectEqual(again.one(OutcomeReport.self).result, .interrupted)
    }

    // MARK: How far uploads counted

    @Test func everyRefusalOfADeadClientFileSaysHowFarItsUploadsCounted() async throws {
        var harness = try await OwnerHarness.make()
        let file = try await harness.join(session: 1)
        try await harness.send(harness.upload(file, [Changes.schema(), Changes.create(1), Changes.create(2)]))
        let latest = try await harness.record().latest
        try await harness.send(TerminationMessage(app: OwnerHarness.app, campaign: "c-1", generation: 2, reason: nil))
        harness = try await OwnerHarness.make(on: harness.store)
        let cursor = DownloadCursor(serverVersion: 3, clientVersion: 3)
        try await expectEqual(
            harness.identify(file, session: 5, download: cursor, latest: latest).one(RefusedAnswer.self)
                .integrated, 3)
        // The IDENT says less than it could, and not more than is true.
        try await expectEqual(harness.identify(file, session: 6).one(RefusedAnswer.self).integrated, 3)
        let ahead = DownloadCursor(serverVersion: 9, clientVersion: 9)
        try await expectTrue(
            harness.identify(file, session: 7, download: ahead, latest: latest).one(RefusedAnswer.self)
                .integrated == nil)
        let late = harness.upload(file, follows: 3, base: 3, [Changes.create(3)])
        try await expectEqual(harness.send(late).one(RefusedAnswer.self).integrated, 3)
        try await expectEqual(harness.page(file, after: cursor).one(RefusedAnswer.self).integrated, 3)
    }

    @Test func aResetOfOneClientRealmSaysIt() async throws {
        let harness = try await OwnerHarness.make()
        let file = try await harness.join(session: 1)
        try await harness.send(harness.upload(file, [Changes.schema(), Changes.create(1)]))
        let reset = ResetMessage(realm: harness.realm, clientFile: file.ident, campaign: "r-1", reason: nil)
        try await expectEqual(harness.send(reset).one(ResetNotice.self).integrated, 2)
    }

    @Test func aBadChangesetLeavesWhatCameBeforeIt() async throws {
        let harness = try await OwnerHarness.make()
        let file = try await harness.join(session: 1)
        try await harness.send(harness.upload(file, [Changes.schema(), Changes.create(1)]))
        let refusal = try await harness.send(harness.upload(file, follows: 2, base: 0, [[9, 9, 9]]))
            .one(RefusedAnswer.self)
        expectEqual(refusal.code, 212)
        expectEqual(refusal.integrated, 2)
    }

    @Test func anUploadThatContradictsTheRowSaysNothing() async throws {
        let harness = try await OwnerHarness.make()
        let file = try await harness.join(session: 1)
        let other = try await harness.join(session: 2)
        try await harness.send(harness.upload(other, session: 2, [Changes.schema()]))
        try await harness.send(harness.upload(file, base: 1, [Changes.create(1)]))
        let refusal = try await harness.send(harness.upload(file, follows: 1, base: 0, [Changes.create(2)]))
            .one(RefusedAnswer.self)
        expectEqual(refusal.code, 209)
        expectTrue(refusal.integrated == nil)
    }
}
