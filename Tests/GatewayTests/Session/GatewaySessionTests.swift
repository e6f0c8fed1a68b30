import Messages
import Storage
import SyncProtocol
import Testing

@testable import Gateway

@Suite struct GatewaySessionTests {
    /// A script with one live session whose client realm is 2.
    private static func live() throws -> SessionScript {
        var script = SessionScript()
        try script.client(.bind(Bind(session: 1, target: "\"tasks\"", needsIdent: true)))
        try identify(&script)
        return script
    }

    private static func identify(_ script: inout SessionScript) throws {
        guard case .ident(_, let file)? = script.takeLog().last else { throw HarnessError("expected an IDENT") }
        try script.client(.ident(Ident(session: 1, file: file)))
        _ = script.takeLog()
    }

    private static func upload(_ version: ClientVersion, progress: ClientVersion? = nil, seen: ServerVersion = 0)
        -> Upload
    {
        Upload(
            session: 1, progress: .init(clientVersion: progress ?? version, serverVersion: seen),
            lockedServerVersion: seen,
            entries: [UploadEntry(clientVersion: version, serverVersion: seen, originTimestamp: 5, changeset: [1, 2])])
    }

    private static func entry(_ version: UInt64, by file: UInt64 = 9, _ bytes: [UInt8] = [7]) -> HistoryEntry {
        HistoryEntry(serverVersion: version, clientVersion: version, originFile: file, timestamp: 3, changeset: bytes)
    }

    private static func notice(
        follows: UInt64, latest: UInt64, entries: [HistoryEntry], acknowledges: Messages.UploadCursor? = nil,
        generation: UInt64 = 1
    ) -> IntegratedNotice {
        IntegratedNotice(
            realm: SessionScript.name, generation: generation, follows: follows,
            latest: SaltedVersion(version: latest, salt: 77), entries: entries,
            acknowledgements: acknowledges.map { [.init(clientFile: 2, upload: $0)] } ?? [])
    }

    @Test func anEmptyRealmStillGetsOneDownload() throws {
        var script = SessionScript()
        try script.client(.bind(Bind(session: 1, target: "\"tasks\"", needsIdent: true)))
        guard case .ident(_, let file)? = script.takeLog().last else { throw HarnessError("expected an IDENT") }
        try script.client(.ident(Ident(session: 1, file: file)))
        #expect(script.takeLog().map(\.name) == ["download"])
    }

    @Test func messagesBeforeTheOwnersAnswersWaitForThem() throws {
        var script = SessionScript()
        script.realm.salts = [2: 5]
        script.holdsAnswers = true
        try script.client(.bind(Bind(session: 1, target: "\"tasks\"", needsIdent: false)))
        try script.client(.ident(Ident(session: 1, file: ClientFileIdent(ident: 2, salt: 5))))
        try script.client(.mark(session: 1, request: 1))
        try script.client(.upload(Self.upload(2)))
        #expect(script.takeLog().isEmpty)
        try script.release()
        #expect(script.takeLog().map(\.name) == ["download", "mark", "download"] || script.realm.history.count == 1)
        #expect(script.realm.history.map(\.clientVersion) == [2])
    }

    @Test func aNoticeThatFollowsThePositionIsForwarded() throws {
        var script = try Self.live()
        try script.cluster(.integrated(Self.notice(follows: 0, latest: 1, entries: [Self.entry(1)])), 1)
        guard case .download(let download)? = script.takeLog().last else { throw HarnessError("expected a DOWNLOAD") }
        #expect(download.entries.map(\.serverVersion) == [1])
        #expect(download.downloadServerVersion == 1)
        #expect(download.downloadableBytes == 0)
    }

    @Test func aMissedNoticeIsMadeUpByAPage() throws {
        var script = try Self.live()
        script.realm.history = [Self.entry(1), Self.entry(2)]
        try script.cluster(.integrated(Self.notice(follows: 1, latest: 2, entries: [Self.entry(2)])), 1)
        guard case .download(let download)? = script.takeLog().last else { throw HarnessError("expected a DOWNLOAD") }
        #expect(download.entries.map(\.serverVersion) == [1, 2])
    }

    @Test func aNoticeThatComesTwiceIsForwardedOnce() throws {
        var script = try Self.live()
        let notice = Self.notice(follows: 0, latest: 1, entries: [Self.entry(1)])
        try script.cluster(.integrated(notice), 1)
        _ = script.takeLog()
        try script.cluster(.integrated(notice), 1)
        #expect(script.takeLog().isEmpty)
    }

    @Test func ownAndEmptyVersionsMoveTheCursorsOnly() throws {
        var script = try Self.live()
        try script.client(.upload(Self.upload(4)))
        _ = script.takeLog()
        try script.cluster(
            .integrated(
                Self.notice(
                    follows: 1, latest: 3, entries: [Self.entry(2, by: 9, []), Self.entry(3)],
                    acknowledges: Messages.UploadCursor(clientVersion: 4))), 1)
        guard case .download(let download)? = script.takeLog().last else { throw HarnessError("expected a DOWNLOAD") }
        #expect(download.entries.map(\.serverVersion) == [3])
        #expect(download.entries.map(\.clientVersion) == [4])
        #expect(download.downloadClientVersion == 4)
        #expect(download.downloadServerVersion == 3)
    }

    @Test func anIntegratedUploadIsAcknowledgedByAnEmptyDownload() throws {
        var script = try Self.live()
        try script.client(.upload(Self.upload(3, progress: 5)))
        guard case .download(let download)? = script.takeLog().last else { throw HarnessError("expected a DOWNLOAD") }
        #expect(download.entries.isEmpty)
        #expect(download.uploadClientVersion == 5)
        #expect(download.downloadClientVersion == 3)
        #expect(script.session(1)?.unacknowledgedBytes == 0)
    }

    @Test func progressWithoutChangesetsIsPublishedLaterAndAnsweredByNothing() throws {
        var script = try Self.live()
        try script.client(.upload(Upload(session: 1, progress: .init(clientVersion: 2), lockedServerVersion: 0)))
        #expect(script.realm.uploads[2] == nil)
        script.environment.now += 10_000
        try script.event(.tick, 1)
        #expect(script.realm.uploads[2] == Messages.UploadCursor(clientVersion: 2))
        #expect(script.takeLog().isEmpty)
    }

    @Test func aMarkIsAnsweredAfterEverythingThatExisted() throws {
        var script = try Self.live()
        script.realm.history = [Self.entry(1)]
        try script.client(.mark(session: 1, request: 1))
        #expect(script.takeLog().map(\.name) == ["download", "mark"])
        try script.client(.mark(session: 1, request: 2))
        #expect(script.takeLog().map(\.name) == ["mark"])
    }

    @Test func theLastDownloadBeforeAMarkIsAtTheLatestVersion() throws {
        var script = try Self.live()
        script.realm.history = [Self.entry(1, by: 9, [])]
        // An empty version is not worth a DOWNLOAD of its own.
        try script.cluster(.integrated(Self.notice(follows: 0, latest: 1, entries: script.realm.history)), 1)
        #expect(script.takeLog().isEmpty)
        try script.client(.mark(session: 1, request: 1))
        let log = script.takeLog()
        #expect(log.map(\.name) == ["download", "mark"])
        guard case .download(let download)? = log.first else { throw HarnessError("expected a DOWNLOAD") }
        #expect(download.downloadServerVersion == 1)
        #expect(download.latestServerVersion == 1)
    }

    @Test func marksThatWaitTogetherAreAnsweredByTheNewest() throws {
        var script = try Self.live()
        script.holdsAnswers = true
        for request in 1...3 { try script.client(.mark(session: 1, request: RequestIdent(UInt64(request)))) }
        try script.release()
        let marks = script.takeLog().compactMap { if case .mark(_, let request) = $0 { request } else { nil } }
        #expect(marks.last == 3)
        #expect(marks.count <= 2)
    }

    @Test func pagesWaitForTheSocketToDrain() throws {
        var script = try Self.live()
        script.environment.isCongested = true
        script.realm.history = [Self.entry(1)]
        try script.cluster(.missed, 1)
        #expect(script.takeLog().isEmpty)
        script.environment.isCongested = false
        try script.event(.drained, 1)
        #expect(script.takeLog().map(\.name) == ["download"])
    }

    @Test func noticesMissedWhileAPageIsUnderWayAreAskedForAfterIt() throws {
        var script = try Self.live()
        script.realm.history = [Self.entry(1)]
        let early = script.realm.page(for: 2, after: .init(), maxEntries: 100)
        script.holdsAnswers = true
        try script.cluster(.missed, 1)
        #expect(script.heldRequests.count == 1)
        // The owner has answered, then come changes whose notices are dropped.
        script.realm.history.append(Self.entry(2))
        try script.cluster(.missed, 1)
        script.holdsAnswers = false
        try script.cluster(.page(early), 1)
        #expect(script.takeLog().map(\.name) == ["download", "download"])
        #expect(script.session(1)?.position.serverVersion == 2)
    }

    @Test func uploadsFollowOneAnother() throws {
        var script = try Self.live()
        script.holdsAnswers = true
        for version: ClientVersion in [2, 4, 7] { try script.client(.upload(Self.upload(version))) }
        let follows = script.heldRequests.compactMap { _, action -> UInt64? in
            if case .publish(let message, _) = action { message.upload?.follows } else { nil }
        }
        #expect(follows == [0, 2, 4])
    }

    @Test func whatTheBrokerHasNotConfirmedIsPublishedAgainInOrder() throws {
        var script = try Self.live()
        script.environment.isLinkUp = false
        for version: ClientVersion in [2, 3] { try script.client(.upload(Self.upload(version))) }
        #expect(script.realm.history.isEmpty)
        #expect(script.session(1)?.hasUnconfirmedUploads == true)
        script.environment.isLinkUp = true
        try script.cluster(.linkUp, 1)
        #expect(script.realm.history.map(\.clientVersion) == [2, 3])
        #expect(script.session(1)?.hasUnconfirmedUploads == false)
    }

    @Test func aSessionAsksForThePageWhenTheBrokerIsBack() throws {
        var script = try Self.live()
        script.environment.isLinkUp = false
        script.realm.history = [Self.entry(1)]
        script.environment.isLinkUp = true
        try script.cluster(.linkUp, 1)
        #expect(script.takeLog().map(\.name) == ["download"])
    }

    @Test func aRequestWithoutAnswerEndsTheSessionForAWhile() throws {
        var script = SessionScript()
        script.holdsAnswers = true
        try script.client(.bind(Bind(session: 1, target: "\"tasks\"", needsIdent: true)))
        try script.cluster(.requestFailed(GatewayError(.timeout, "")), 1)
        guard case .jsonError(1, let code, let body)? = script.takeLog().last else {
            throw HarnessError("expected an error")
        }
        #expect(code == .otherSessionError)
        #expect(body.action == .transient)
        #expect(body.tryAgain)
        #expect(body.backoff != nil)
    }

    @Test func aTerminationResetsLiveSessionsAndTellsTheCoordinator() throws {
        var script = try Self.live()
        let notice = ResetNotice(
            app: "tasks", partition: nil, slice: SliceNumber(0), generation: 2, clientFile: nil, campaign: "c9",
            code: 208,
            message: "sync was terminated")
        try script.cluster(.reset(notice), 1)
        guard case .jsonError(1, .badClientFileIdent, let body)? = script.takeLog().last else {
            throw HarnessError("expected 208")
        }
        #expect(body.action == .clientReset)
        #expect(!body.tryAgain)
        #expect(
            script.actions.contains {
                if case .sendReset(_, let report) = $0 {
                    report.campaign == "c9" && report.clientFile == 2
                } else {
                    false
                }
            })
    }

    @Test func aResetWithoutRecoveryNamesItsAction() throws {
        var script = SessionScript()
        script.app.clientRecovery = false
        try script.client(.bind(Bind(session: 1, target: "\"tasks\"", needsIdent: true)))
        try Self.identify(&script)
        try script.cluster(
            .generation(GenerationNotice(app: "tasks", slice: SliceNumber(0), generation: 2, campaign: nil)), 1)
        guard case .jsonError(_, _, let body)? = script.takeLog().last else { throw HarnessError("expected an error") }
        #expect(body.action == .clientResetNoRecovery)
    }

    @Test func recoverySwitchedOffBeforeTheResetCounts() throws {
        var script = try Self.live()
        try script.event(.recovery(false), 1)
        try script.cluster(
            .generation(GenerationNotice(app: "tasks", slice: SliceNumber(0), generation: 2, campaign: nil)), 1)
        guard case .jsonError(_, _, let body)? = script.takeLog().last else { throw HarnessError("expected an error") }
        #expect(body.action == .clientResetNoRecovery)
    }

    @Test func noticesOfOtherSlicesGenerationsAndFilesAreNotOurs() throws {
        var script = try Self.live()
        for notice in [
            ResetNotice(
                app: "tasks", partition: nil, slice: SliceNumber(1), generation: 2, clientFile: nil, campaign: "c",
                code: 208, message: ""),
            ResetNotice(
                app: "tasks", partition: nil, slice: SliceNumber(0), generation: 1, clientFile: nil, campaign: "c",
                code: 208, message: ""),
            ResetNotice(
                app: "tasks", partition: nil, slice: SliceNumber(0), generation: 2, clientFile: 8, campaign: "c",
                code: 208, message: ""),
            ResetNotice(
                app: "tasks", partition: "\"x\"", slice: SliceNumber(0), generation: 2, clientFile: nil, campaign: "c",
                code: 208, message: ""),
        ] { try script.cluster(.reset(notice), 1) }
        try script.cluster(.integrated(Self.notice(follows: 0, latest: 1, entries: [Self.entry(1)], generation: 2)), 1)
        #expect(script.takeLog().isEmpty)
    }

    @Test func aClientThatCannotIntegrateIsResetByItsOwner() throws {
        var script = try Self.live()
        try script.client(.jsonError(ClientJSONError(session: 1, code: .badChangeset, message: "x")))
        guard case .reset(let message)? = script.actions.last(where: { if case .reset = $0 { true } else { false } })
        else {
            throw HarnessError("expected a reset message")
        }
        #expect(message.clientFile == 2)
        try script.cluster(.integrated(Self.notice(follows: 0, latest: 1, entries: [Self.entry(1)])), 1)
        #expect(script.takeLog().isEmpty)
        try script.cluster(
            .reset(
                ResetNotice(
                    app: "tasks", partition: "\"tasks\"", slice: SliceNumber(0), generation: 1, clientFile: 2,
                    campaign: "c", code: 217, message: "reset")), 1)
        guard case .jsonError(1, .badClientFile, _)? = script.takeLog().last else { throw HarnessError("expected 217") }
    }

    /// What the gateway itself finds wrong is decided by the owner, too: else no campaign would ever hear of it.
    @Test func aRuleWhoseBreachCostsAResetIsBrokenBeforeTheOwner() throws {
        var script = try Self.live()
        try script.event(.violation(Self.tooLarge), 1)
        #expect(script.takeLog().isEmpty)
        #expect(script.resets.map(\.clientFile) == [2])
        try script.client(.upload(Self.upload(3)))
        #expect(script.realm.history.isEmpty)
        // Another one was on its way.
        try script.event(.violation(Self.tooLarge), 1)
        #expect(script.takeLog().isEmpty && script.resets.count == 1)
        try script.event(.recovery(false), 1)
        try script.cluster(
            .reset(
                ResetNotice(
                    app: "tasks", partition: "\"tasks\"", slice: SliceNumber(0), generation: 1, clientFile: 2,
                    campaign: "c", code: 208, message: "reset")), 1)
        guard case .jsonError(1, .otherSessionError, let body)? = script.takeLog().last else {
            throw HarnessError("expected the violation")
        }
        #expect(body.action == .clientResetNoRecovery && body.message.contains("17 MiB"))
    }

    @Test func aRuleBrokenBeforeTheOwnerKnowsTheClientWaitsForThat() throws {
        var script = SessionScript()
        script.realm.salts = [2: 5]
        try script.client(.bind(Bind(session: 1, target: "\"tasks\"", needsIdent: false)))
        script.holdsAnswers = true
        try script.client(.ident(Ident(session: 1, file: ClientFileIdent(ident: 2, salt: 5))))
        try script.client(.upload(Self.upload(2)))
        try script.event(.violation(Self.tooLarge), 1)
        try script.client(.upload(Self.upload(4)))
        #expect(script.resets.isEmpty)
        try script.release()
        #expect(script.resets.map(\.clientFile) == [2])
        #expect(script.realm.history.map(\.clientVersion) == [2])
    }

    private static let tooLarge = SyncProtocolError(
        .otherSessionError, session: 1, action: .clientReset, "limit exceeded: a message of 17 MiB")

    @Test func anUploadThatTheBrokerDoesNotConfirmIsAskedForAgain() throws {
        var script = try Self.live()
        script.holdsAnswers = true
        try script.client(.upload(Self.upload(2)))
        script.environment.isLinkUp = false
        try script.cluster(.publishFailed(1, GatewayError(.unconfirmed, "no confirm")), 1)
        #expect(script.takeLog().isEmpty)
        script.environment.isLinkUp = true
        try script.cluster(.publishFailed(1, GatewayError(.unconfirmed, "no confirm")), 1)
        guard case .jsonError(1, .otherSessionError, let body)? = script.takeLog().last else {
            throw HarnessError("expected a passing error")
        }
        #expect(body.action == .transient && body.tryAgain)
    }

    @Test func unbindIsAnsweredOnceAndNeverAfterAnError() throws {
        var script = try Self.live()
        try script.client(.unbind(session: 1))
        #expect(script.takeLog().map(\.name) == ["unbound"])
        #expect(script.session(1) == nil)
        var failed = try Self.live()
        try failed.cluster(
            .generation(GenerationNotice(app: "tasks", slice: SliceNumber(0), generation: 2, campaign: nil)), 1)
        _ = failed.takeLog()
        try failed.client(.mark(session: 1, request: 1))
        try failed.client(.upload(Self.upload(2)))
        try failed.client(.unbind(session: 1))
        #expect(failed.takeLog().isEmpty)
        #expect(failed.session(1) == nil)
    }

    @Test func anUnboundSessionIdentMayBeBoundAgain() throws {
        var script = try Self.live()
        try script.client(.unbind(session: 1))
        try script.client(.bind(Bind(session: 1, target: "\"tasks\"", needsIdent: false)))
        #expect(script.session(1)?.phase == .bound)
    }

    @Test(
        arguments: [
            (AppRecord.SyncState.paused, false, 229, "Transient"), (AppRecord.SyncState.paused, true, 229, "Transient"),
            (AppRecord.SyncState.terminated, true, 229, "Transient"),
            (AppRecord.SyncState.terminated, false, 201, "Warning"),
        ] as [(AppRecord.SyncState, Bool, Int, String)])
    func anAppWithoutSyncRefusesBinds(state: AppRecord.SyncState, needsIdent: Bool, code: Int, action: String) throws {
        var script = SessionScript()
        script.app.syncState = state
        try script.client(.bind(Bind(session: 1, target: "\"tasks\"", needsIdent: needsIdent)))
        guard case .jsonError(1, let sent, let body)? = script.takeLog().last else {
            throw HarnessError("expected an error")
        }
        #expect(sent.rawValue == code)
        #expect(body.action.wireName == action)
        #expect(body.tryAgain)
        #expect(body.backoff?.intervalSeconds == 5)
    }

    @Test func codesThatStockClientsDoNotSurviveNeverLeave() throws {
        for code in [202, 203, 205, 224, 104, 999] {
            var script = try Self.live()
            try script.cluster(
                .refused(
                    RefusedAnswer(
                        realm: SessionScript.name, session: SessionReference(gateway: "g", number: 1), code: code,
                        action: "Transient", message: "m", tryAgain: true)), 1)
            guard case .jsonError(1, let sent, let body)? = script.takeLog().last else {
                throw HarnessError("expected an error")
            }
            #expect(sent == .otherSessionError)
            _ = try MessageEncoder(mode: .partition).encode(.jsonError(session: 1, code: sent, body: body))
        }
    }
}
