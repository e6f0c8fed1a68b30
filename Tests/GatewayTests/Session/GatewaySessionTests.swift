import Logging
import Messages
import Storage
import SyncModel
import SyncProtocol
import TestSupport
import Testing

@testable import Gateway

@Suite struct GatewaySessionTests {
    @Test func anEmptyRealmStillGetsOneDownload() throws {
        var script = SessionScript()
        try script.client(.bind(Bind(session: 1, target: "\"tasks\"", needsIdent: true)))
        guard case .ident(_, let file)? = script.takeLog().last else { throw HarnessError("expected an IDENT") }
        try script.client(.ident(Ident(session: 1, file: file)))
        expectEqual(script.takeLog().map(\.name), ["download"])
    }

    @Test func theLinesOfASessionTellItsLife() throws {
        var script = SessionScript()
        try script.client(.bind(Bind(session: 1, target: "\"tasks\"", needsIdent: true)))
        guard case .ident(_, let file)? = script.takeLog().last else { throw HarnessError("expected an IDENT") }
        try script.client(.ident(Ident(session: 1, file: file)))
        try script.client(.upload(SessionScript.upload(2)))
        try script.client(.unbind(session: 1))
        let told = script.lines.filter { $0.level == .debug }.map(\.message.description)
        expectEqual(
            told,
            [
                "client binds", "owner is asked to bind", "owner has bound the session",
                "client is given a client file", "client identifies itself",
                "owner is asked whether the client may go on", "owner knows the client: the session is live",
                "owner is asked for a page", "owner sends a page", "client is sent versions", "client uploads",
                "upload goes to the owner", "client is sent versions", "client unbinds",
                "owner hears that the session is over",
                "session is over",
            ])
        let session = try #require(try SessionScript.live().session(1))
        let about = SessionLog.about(1, session, ["bytes": "1"])
        expectEqual(Set(about.keys), ["app", "realm", "session", "client_file", "socket_session", "bytes"])
        expectEqual(about["session"], "g/1")
    }

    @Test func messagesBeforeTheOwnersAnswersWaitForThem() throws {
        var script = SessionScript()
        script.realm.salts = [2: 5]
        script.holdsAnswers = true
        try script.client(.bind(Bind(session: 1, target: "\"tasks\"", needsIdent: false)))
        try script.client(.ident(Ident(session: 1, file: ClientFileIdent(ident: 2, salt: 5))))
        try script.client(.mark(session: 1, request: 1))
        try script.client(.upload(SessionScript.upload(2)))
        expectTrue(script.takeLog().isEmpty)
        try script.release()
        expectTrue(script.takeLog().map(\.name) == ["download", "mark", "download"] || script.realm.history.count == 1)
        expectEqual(script.realm.history.map(\.clientVersion), [2])
    }

    @Test func aNoticeThatFollowsThePositionIsForwarded() throws {
        var script = try SessionScript.live()
        try script.cluster(
            .integrated(SessionScript.notice(follows: 0, latest: 1, entries: [SessionScript.entry(1)])), 1)
        guard case .download(let download)? = script.takeLog().last else { throw HarnessError("expected a DOWNLOAD") }
        expectEqual(download.entries.map(\.serverVersion), [1])
        expectEqual(download.progress.download.serverVersion, 1)
        expectEqual(download.downloadableBytes, 0)
    }

    @Test func aMissedNoticeIsMadeUpByAPage() throws {
        var script = try SessionScript.live()
        script.realm.history = [SessionScript.entry(1), SessionScript.entry(2)]
        try script.cluster(
            .integrated(SessionScript.notice(follows: 1, latest: 2, entries: [SessionScript.entry(2)])), 1)
        guard case .download(let download)? = script.takeLog().last else { throw HarnessError("expected a DOWNLOAD") }
        expectEqual(download.entries.map(\.serverVersion), [1, 2])
    }

    @Test func aNoticeThatComesTwiceIsForwardedOnce() throws {
        var script = try SessionScript.live()
        let notice = SessionScript.notice(follows: 0, latest: 1, entries: [SessionScript.entry(1)])
        try script.cluster(.integrated(notice), 1)
        _ = script.takeLog()
        try script.cluster(.integrated(notice), 1)
        expectTrue(script.takeLog().isEmpty)
    }

    @Test func ownAndEmptyVersionsMoveTheCursorsOnly() throws {
        var script = try SessionScript.live()
        try script.client(.upload(SessionScript.upload(4)))
        _ = script.takeLog()
        try script.cluster(
            .integrated(
                SessionScript.notice(
                    follows: 1, latest: 3, entries: [SessionScript.entry(2, by: 9, []), SessionScript.entry(3)],
                    acknowledges: UploadCursor(clientVersion: 4))), 1)
        guard case .download(let download)? = script.takeLog().last else { throw HarnessError("expected a DOWNLOAD") }
        expectEqual(download.entries.map(\.serverVersion), [3])
        expectEqual(download.entries.map(\.clientVersion), [4])
        expectEqual(download.progress.download.clientVersion, 4)
        expectEqual(download.progress.download.serverVersion, 3)
    }

    @Test func anIntegratedUploadIsAcknowledgedByAnEmptyDownload() throws {
        var script = try SessionScript.live()
        try script.client(.upload(SessionScript.upload(3, progress: 5)))
        guard case .download(let download)? = script.takeLog().last else { throw HarnessError("expected a DOWNLOAD") }
        expectTrue(download.entries.isEmpty)
        expectEqual(download.progress.upload.clientVersion, 5)
        expectEqual(download.progress.download.clientVersion, 3)
        expectEqual(script.session(1)?.unacknowledgedBytes, 0)
    }

    @Test func progressWithoutChangesetsIsPublishedLaterAndAnsweredByNothing() throws {
        var script = try SessionScript.live()
        try script.client(.upload(Upload(session: 1, progress: .init(clientVersion: 2), lockedServerVersion: 0)))
        expectTrue(script.realm.uploads[2] == nil)
        script.environment.now += 10_000
        try script.event(.tick, 1)
        expectEqual(script.realm.uploads[2], UploadCursor(clientVersion: 2))
        expectTrue(script.takeLog().isEmpty)
    }

    @Test func aMarkIsAnsweredAfterEverythingThatExisted() throws {
        var script = try SessionScript.live()
        script.realm.history = [SessionScript.entry(1)]
        try script.client(.mark(session: 1, request: 1))
        expectEqual(script.takeLog().map(\.name), ["download", "mark"])
        try script.client(.mark(session: 1, request: 2))
        expectEqual(script.takeLog().map(\.name), ["mark"])
    }

    @Test func theLastDownloadBeforeAMarkIsAtTheLatestVersion() throws {
        var script = try SessionScript.live()
        script.realm.history = [SessionScript.entry(1, by: 9, [])]
        // An empty version is not worth a DOWNLOAD of its own.
        try script.cluster(.integrated(SessionScript.notice(follows: 0, latest: 1, entries: script.realm.history)), 1)
        expectTrue(script.takeLog().isEmpty)
        try script.client(.mark(session: 1, request: 1))
        let log = script.takeLog()
        expectEqual(log.map(\.name), ["download", "mark"])
        guard case .download(let download)? = log.first else { throw HarnessError("expected a DOWNLOAD") }
        expectEqual(download.progress.download.serverVersion, 1)
        expectEqual(download.progress.latest.version, 1)
    }

    /// A client that closes its fresh copy between two pages goes on from the latest version that the copy has heard of.
    @Test func noPageNamesAVersionBeyondItsOwn() throws {
        var script = try SessionScript.live()
        script.pageEntries = 1
        script.realm.history = [1, 2, 3].map { (version: ServerVersion) in SessionScript.entry(version) }
        try script.client(.mark(session: 1, request: 1))
        let named = script.takeLog().compactMap { message -> [ServerVersion]? in
            guard case .download(let download) = message else { return nil }
            return [download.progress.download.serverVersion, download.progress.latest.version]
        }
        expectEqual(named, [[1, 1], [2, 2], [3, 3]])
    }

    @Test func aMarkThatComesAgainIsAnsweredOnce() throws {
        var script = try SessionScript.live()
        for request in [1, 1, 3, 2, 3] as [RequestIdent] { try script.client(.mark(session: 1, request: request)) }
        let marks = script.takeLog().compactMap { message -> RequestIdent? in
            if case .mark(_, let request) = message { request } else { nil }
        }
        expectEqual(marks, [1, 3])
    }

    @Test func marksThatWaitTogetherAreAnsweredByTheNewest() throws {
        var script = try SessionScript.live()
        script.holdsAnswers = true
        for request in 1...3 { try script.client(.mark(session: 1, request: RequestIdent(UInt64(request)))) }
        try script.release()
        let marks = script.takeLog().compactMap { if case .mark(_, let request) = $0 { request } else { nil } }
        expectEqual(marks.last, 3)
        expectTrue(marks.count <= 2)
    }

    @Test func pagesWaitForTheSocketToDrain() throws {
        var script = try SessionScript.live()
        script.environment.isCongested = true
        script.realm.history = [SessionScript.entry(1)]
        try script.cluster(.missed, 1)
        expectTrue(script.takeLog().isEmpty)
        script.environment.isCongested = false
        try script.event(.drained, 1)
        expectEqual(script.takeLog().map(\.name), ["download"])
    }

    @Test func noticesMissedWhileAPageIsUnderWayAreAskedForAfterIt() throws {
        var script = try SessionScript.live()
        script.realm.history = [SessionScript.entry(1)]
        let early = script.realm.page(for: 2, after: .init(), maxEntries: 100)
        script.holdsAnswers = true
        try script.cluster(.missed, 1)
        expectEqual(script.heldRequests.count, 1)
        // The owner has answered, then come changes whose notices are dropped.
        script.realm.history.append(SessionScript.entry(2))
        try script.cluster(.missed, 1)
        script.holdsAnswers = false
        try script.cluster(.page(early), 1)
        expectEqual(script.takeLog().map(\.name), ["download", "download"])
        expectEqual(script.session(1)?.progress.download.serverVersion, 2)
    }

    @Test func uploadsFollowOneAnother() throws {
        var script = try SessionScript.live()
        script.holdsAnswers = true
        for version: ClientVersion in [2, 4, 7] { try script.client(.upload(SessionScript.upload(version))) }
        let follows = script.heldRequests.compactMap { _, action -> ClientVersion? in
            if case .publish(let message, _) = action { message.upload?.follows } else { nil }
        }
        expectEqual(follows, [0, 2, 4])
    }

    @Test func unconfirmedUploadsArePublishedAgainInOrder() throws {
        var script = try SessionScript.live()
        script.environment.isLinkUp = false
        for version: ClientVersion in [2, 3] { try script.client(.upload(SessionScript.upload(version))) }
        expectTrue(script.realm.history.isEmpty)
        expectEqual(script.session(1)?.hasUnconfirmedUploads, true)
        script.environment.isLinkUp = true
        try script.cluster(.linkUp, 1)
        expectEqual(script.realm.history.map(\.clientVersion), [2, 3])
        expectEqual(script.session(1)?.hasUnconfirmedUploads, false)
    }

    @Test func aSessionAsksForThePageWhenTheBrokerIsBack() throws {
        var script = try SessionScript.live()
        script.environment.isLinkUp = false
        script.realm.history = [SessionScript.entry(1)]
        script.environment.isLinkUp = true
        try script.cluster(.linkUp, 1)
        expectEqual(script.takeLog().map(\.name), ["download"])
    }
}
