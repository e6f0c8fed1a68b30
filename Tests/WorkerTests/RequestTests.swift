import AMQP
import Messages
import Storage
import SyncModel
import TestSupport
import Testing

@testable import Worker

@Suite(.hangGuard) struct RequestTests {
    @Test func identsAreNeverReusedAndSaltsAreRandom() async throws {
        let harness = try await OwnerHarness.make()
        let first = try await harness.join(session: 1)
        let second = try await harness.join(session: 2)
        expectEqual(first.ident, 2)
        expectEqual(second.ident, 3)
        expectTrue(first.salt != second.salt)
        expectTrue(first.salt > 0 && first.salt.fitsTheWire)
        let successor = try await OwnerHarness.make(on: harness.store)
        try await expectEqual(successor.join(session: 3).ident, 4)
    }

    @Test func aRequestThatNobodyWaitsForAnyMoreIsNotAnswered() async throws {
        let harness = try await OwnerHarness.make()
        try await harness.send(harness.bindRequest(session: 1))
        let late = harness.bindRequest(session: 2)
        harness.time.advance(20_000)
        try await expectTrue(harness.send(late).all.isEmpty)
        try await expectEqual(harness.send(harness.bindRequest(session: 3)).all.count, 1)
    }

    @Test func aGatewayWhoseClockIsWrongIsAnswered() async throws {
        let harness = try await OwnerHarness.make()
        for hours in [0, 5, -5] {
            var request = harness.bindRequest(session: 1)
            request.context.session.gateway = "g\(hours)"
            request.context.sentAt = UInt64(Int(harness.time.now()) + hours * 3_600_000)
            try await expectEqual(harness.send(request).all.count, 1)
            harness.time.advance(1_000)
            request.context.sentAt += 1_000
            request.context.session.number = 2
            try await expectEqual(harness.send(request).all.count, 1)
        }
    }

    @Test func aGatewayWhoseClockIsMovedIsAnsweredAfterAWhile() async throws {
        let harness = try await OwnerHarness.make()
        try await harness.send(harness.bindRequest(session: 1))
        var answers = 0
        for session in 2..<12 {
            harness.time.advance(10_000)
            var request = harness.bindRequest(session: UInt64(session))
            request.context.sentAt -= 3_600_000
            answers += try await harness.send(request).all.count
        }
        expectTrue((3...9).contains(answers))
    }

    @Test func answersGoWhereTheRequestSays() async throws {
        let harness = try await OwnerHarness.make()
        let answer = try await harness.send(harness.bindRequest(session: 1)).all[0]
        expectEqual(answer.target, .queue("sluice.gateway.g"))
        expectEqual(answer.message.properties.correlationID, "c")
    }

    @Test func pagesLeaveOutOwnAndEmptyVersions() async throws {
        let harness = try await OwnerHarness.make()
        let a = try await harness.join(session: 1)
        let b = try await harness.join(session: 2)
        try await harness.send(harness.upload(a, [Changes.schema(), Changes.create(1, title: "a"), []]))
        let own = try await harness.page(a).one(PageAnswer.self)
        expectTrue(own.entries.isEmpty)
        expectEqual(own.download, DownloadCursor(serverVersion: 3, clientVersion: 3))
        expectTrue(own.isComplete)
        let other = try await harness.page(b, session: 2).one(PageAnswer.self)
        expectEqual(other.entries.map(\.serverVersion), [1, 2])
        expectEqual(other.download, DownloadCursor(serverVersion: 3, clientVersion: 0))
        expectEqual(other.downloadableBytes, 0)
    }

    @Test func pagesKeepToTheirBudgetAndJoinUp() async throws {
        var limits = WorkerLimits()
        limits.maxRecentHistoryBytes = 200
        let harness = try await OwnerHarness.make(limits: limits)
        let a = try await harness.join(session: 1)
        let b = try await harness.join(session: 2)
        try await harness.send(harness.upload(a, [Changes.schema()]))
        for version in 1..<20 as Range<ClientVersion> {
            try await harness.send(
                harness.upload(a, follows: version, [Changes.create(Int64(version.rawValue), title: "title")]))
        }
        var cursor = DownloadCursor()
        var versions: [ServerVersion] = []
        var remaining: [UInt64] = []
        while true {
            let page = try await harness.page(b, session: 2, after: cursor, maxBytes: 100).one(PageAnswer.self)
            expectEqual(page.after, cursor)
            versions += page.entries.map(\.serverVersion)
            remaining.append(page.downloadableBytes)
            cursor = page.download
            if page.isComplete { break }
        }
        expectEqual(versions, Array(1...20))
        expectTrue(remaining.count > 3)
        expectEqual(remaining, remaining.sorted(by: >))
        expectEqual(remaining.last, 0)
    }

    @Test func aKnownClientGoesOnWhereItWas() async throws {
        let harness = try await OwnerHarness.make()
        let file = try await harness.join(session: 1)
        let notice = try await harness.send(harness.upload(file, [Changes.schema()])).one(IntegratedNotice.self)
        _ = try await harness.send(harness.bindRequest(session: 2, needsIdent: false)).one(BoundAnswer.self)
        let answer = try await harness.identify(
            file, session: 2, download: DownloadCursor(serverVersion: 1, clientVersion: 1), latest: notice.latest
        ).one(IdentifiedAnswer.self)
        expectEqual(answer.upload, UploadCursor(clientVersion: 1, serverVersion: 0))
        expectEqual(answer.latest, notice.latest)
    }

    @Test func strangersAndDivergedHistoriesAreRefused() async throws {
        let harness = try await OwnerHarness.make()
        let file = try await harness.join(session: 1)
        let latest = try await harness.send(harness.upload(file, [Changes.schema()])).one(IntegratedNotice.self).latest
        var session: UInt64 = 10
        func code(
            _ file: ClientFileIdent, user: String = "u", _ download: DownloadCursor = DownloadCursor(),
            _ latest: SaltedServerVersion = SaltedServerVersion(version: 0, salt: 0)
        ) async throws -> ErrorCode {
            session += 1
            return try await harness.rejoin(file, session: session, user: user, download: download, latest: latest)
                .one(RefusedAnswer.self).code
        }
        try await expectEqual(code(ClientFileIdent(ident: 99, salt: 1)), 208)
        try await expectEqual(code(ClientFileIdent(ident: file.ident, salt: FileSalt(file.salt.rawValue ^ 1))), 211)
        try await expectEqual(code(file, user: "other"), 223)
        // The refused requests have not touched the file.
        _ = try await harness.identify(file, session: 6).one(IdentifiedAnswer.self)
        try await expectEqual(
            code(
                file, DownloadCursor(serverVersion: 1, clientVersion: 0),
                SaltedServerVersion(version: 1, salt: VersionSalt(latest.salt.rawValue ^ 1))), 211)
        // From then on it has to reset.
        try await expectEqual(code(file), 208)
    }

    @Test(arguments: [
        (DownloadCursor(serverVersion: 9, clientVersion: 0), ServerVersion(9), ErrorCode.badServerVersion),
        (DownloadCursor(serverVersion: 0, clientVersion: 9), ServerVersion(0), .badClientVersion),
    ])
    func impossibleCursorsAreRefused(_ download: DownloadCursor, _ latest: ServerVersion, _ code: ErrorCode)
        async throws
    {
        let harness = try await OwnerHarness.make()
        let file = try await harness.join(session: 1)
        let refusal = try await harness.rejoin(
            file, session: 2, download: download, latest: SaltedServerVersion(version: latest, salt: 0)
        ).one(RefusedAnswer.self)
        expectEqual(refusal.code, code)
        expectEqual(refusal.action, "ClientReset")
    }

    @Test func repeatedRequestsOfASessionAreIgnored() async throws {
        let harness = try await OwnerHarness.make()
        let a = try await harness.join(session: 1)
        let b = try await harness.join(session: 2)
        try await harness.send(harness.upload(b, session: 2, [Changes.schema()]))
        try await harness.send(harness.upload(a, base: 1, [Changes.create(1)]))
        for _ in 0..<2 {
            // No second client file, and no reset for a cursor that was right when it was told.
            try await expectTrue(harness.send(harness.bindRequest(session: 1)).all.isEmpty)
            try await expectTrue(harness.identify(a, session: 1).all.isEmpty)
            _ = try await harness.unbind(a, session: 1)
        }
        try await expectEqual(harness.record().nextIdent.rawValue, b.ident.rawValue + 1)
        let cursor = DownloadCursor(serverVersion: 2, clientVersion: 1)
        let latest = try await harness.record().latest
        _ = try await harness.rejoin(a, session: 3, download: cursor, latest: latest).one(IdentifiedAnswer.self)
    }

    @Test func aGatewaysNextLifeMayCountFromTheSameNumber() async throws {
        let harness = try await OwnerHarness.make()
        let a = try await harness.join(session: 1, connection: "c1")
        let bind = harness.bindRequest(session: 1, connection: "c2", needsIdent: false)
        _ = try await harness.send(bind).one(BoundAnswer.self)
        _ = try await harness.identify(a, session: 1).one(IdentifiedAnswer.self)
    }

    @Test func aPausedAppMakesClientsWait() async throws {
        let harness = try await OwnerHarness.make()
        _ = try await harness.control.updateApp(OwnerHarness.app) { $0.syncState = .paused }
        let refusal = try await harness.send(harness.bindRequest(session: 1)).one(RefusedAnswer.self)
        expectEqual(refusal.code, 229)
        expectTrue(refusal.tryAgain)
    }
}
