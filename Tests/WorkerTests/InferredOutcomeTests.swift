import Messages
import Storage
import SyncModel
import TestSupport
import Testing

@testable import Worker

/// The same through an owner: which traffic belongs to which reset.
@Suite(.hangGuard) struct InferredOutcomeTests {
    private struct Device {
        var harness: OwnerHarness
        var old: ClientFileIdent
        var fresh: ClientFileIdent
        var latest: SaltedServerVersion
    }

    /// A client that lived through a termination up to its fresh copy, as a stock client does it.
    private func copied(isLive: Bool) async throws -> Device {
        let harness = try await OwnerHarness.make()
        let old = try await harness.join(session: 1)
        try await harness.send(harness.upload(old, [Changes.schema(), Changes.create(1, title: "one")]))
        if !isLive { _ = try await harness.unbind(old, session: 1) }
        try await harness.send(TerminationMessage(app: OwnerHarness.app, campaign: "c-1", generation: 2, reason: nil))
        var connection = "c1"
        if isLive {
            _ = try await harness.unbind(old, session: 1)
        } else {
            connection = "c2"
            _ = try await harness.send(harness.bindRequest(session: 2, connection: connection, needsIdent: false))
            try await expectEqual(harness.identify(old, session: 2).one(RefusedAnswer.self).code, 208)
            _ = try await harness.unbind(old, session: 2, connection: connection)
        }
        let fresh = try await harness.join(session: 3, connection: connection)
        let page = try await harness.page(fresh, session: 3, generation: 2, isMark: true).one(PageAnswer.self)
        expectTrue(page.isComplete)
        _ = try await harness.unbind(fresh, session: 3, connection: connection)
        _ = try await harness.send(harness.bindRequest(session: 4, connection: connection, needsIdent: false))
        return Device(harness: harness, old: old, fresh: fresh, latest: page.latest)
    }

    @Test(arguments: [false, true]) func aRecoveringClientIsRecognised(_ isLive: Bool) async throws {
        let device = try await copied(isLive: isLive)
        let harness = device.harness
        _ = try await harness.identify(
            device.fresh, session: 4,
            download: DownloadCursor(serverVersion: device.latest.version, clientVersion: 0), latest: device.latest
        ).one(IdentifiedAnswer.self)
        let outcome = try await harness.send(
            harness.upload(
                device.fresh, session: 4, base: device.latest.version, generation: 2, first: 17, timestamp: 1_000,
                [Changes.set(1, title: "offline"), Changes.create(5, title: "offline too")])
        ).one(OutcomeReport.self)
        expectEqual(outcome.result, .recovered)
        expectEqual(outcome.campaign, "c-1")
        expectEqual(outcome.identOld, device.old.ident)
        expectEqual(outcome.identNew, device.fresh.ident)
        expectEqual(outcome.changesets?.recovered, 2)
        expectEqual(outcome.evidence, .inferred)
        let row = try await harness.store.clientFile(ClientFileKey(realm: RealmID(1), ident: device.old.ident))
        expectEqual(row?.state, .superseded)
        expectEqual(row?.supersededBy, device.fresh.ident)
    }

    @Test func aClientThatSendsNothingIsRecognisedByTicks() async throws {
        let device = try await copied(isLive: false)
        let harness = device.harness
        _ = try await harness.identify(
            device.fresh, session: 4,
            download: DownloadCursor(serverVersion: device.latest.version, clientVersion: 0), latest: device.latest)
        _ = try await harness.page(
            device.fresh, session: 4, after: DownloadCursor(serverVersion: device.latest.version), generation: 2,
            isMark: true)
        try await expectTrue(harness.send(TickMessage(at: harness.time.now())).every(OutcomeReport.self).isEmpty)
        harness.time.advance(60_000)
        let outcome = try await harness.send(TickMessage(at: harness.time.now())).one(OutcomeReport.self)
        expectEqual(outcome.result, .notNeeded)
        expectEqual(outcome.confidence, 0.5)
        harness.time.advance(60_000)
        try await expectTrue(harness.send(TickMessage(at: harness.time.now())).every(OutcomeReport.self).isEmpty)
    }

    @Test func aBindThatIsAnsweredTooLateCostsNoOutcome() async throws {
        let harness = try await OwnerHarness.make()
        let old = try await harness.join(session: 1)
        try await harness.send(TerminationMessage(app: OwnerHarness.app, campaign: "c-1", generation: 2, reason: nil))
        _ = try await harness.unbind(old, session: 1)
        // The gateway has given the request up: it drops the answer, and the client asks once more.
        let late = try await harness.send(harness.bindRequest(session: 3)).one(BoundAnswer.self)
        _ = try await harness.unbind(nil, session: 3, wasRefused: true)
        let fresh = try await harness.join(session: 4)
        expectTrue(fresh.ident != late.clientFile?.ident)
        let row = try await harness.store.clientFile(ClientFileKey(realm: RealmID(1), ident: fresh.ident))
        expectEqual(row?.resetOf, old.ident)
    }

    @Test func aFailedMergeIsRecognised() async throws {
        let device = try await copied(isLive: false)
        let outcome = try await device.harness.unbind(nil, session: 4, connection: "c2").one(OutcomeReport.self)
        expectEqual(outcome.result, .failed)
        // The old ident must still reset.
        try await expectEqual(device.harness.identify(device.old, session: 9).one(RefusedAnswer.self).code, 208)
    }

    @Test func inferenceSurvivesAChangeOfOwner() async throws {
        let device = try await copied(isLive: false)
        let second = try await OwnerHarness.make(on: device.harness.store)
        _ = try await second.identify(
            device.fresh, session: 4,
            download: DownloadCursor(serverVersion: device.latest.version, clientVersion: 0), latest: device.latest
        ).one(IdentifiedAnswer.self)
        let outcome = try await second.send(
            second.upload(
                device.fresh, session: 4, base: device.latest.version, generation: 2, timestamp: 1_000,
                [Changes.set(1, title: "offline")])
        ).one(OutcomeReport.self)
        expectEqual(outcome.result, .recovered)
    }
}
