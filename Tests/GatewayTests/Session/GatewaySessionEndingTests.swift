import Messages
import Storage
import SyncModel
import SyncProtocol
import TestSupport
import Testing

@testable import Gateway

/// Errors, resets, UNBIND.
@Suite struct GatewaySessionEndingTests {
    @Test func aRequestWithoutAnswerEndsTheSessionForAWhile() throws {
        var script = SessionScript()
        script.holdsAnswers = true
        try script.client(.bind(Bind(session: 1, target: "\"tasks\"", needsIdent: true)))
        try script.cluster(.requestFailed(GatewayError(.timeout, "")), 1)
        guard case .jsonError(1, let code, let body)? = script.takeLog().last else {
            throw HarnessError("expected an error")
        }
        expectEqual(code, .otherSessionError)
        expectEqual(body.action, .transient)
        expectTrue(body.tryAgain)
        expectTrue(body.backoff != nil)
    }

    @Test func aTerminationResetsLiveSessionsAndTellsTheCoordinator() throws {
        var script = try SessionScript.live()
        let notice = ResetNotice(
            app: "tasks", partition: nil, slice: SliceNumber(0), generation: 2, clientFile: nil, campaign: "c9",
            code: 208,
            message: "sync was terminated")
        try script.cluster(.reset(notice), 1)
        guard case .jsonError(1, .badClientFileIdent, let body)? = script.takeLog().last else {
            throw HarnessError("expected 208")
        }
        expectEqual(body.action, .clientReset)
        expectTrue(!body.tryAgain)
        // Apps of stock clients look for the beginning.
        expectEqual(body.message, "Bad client file identifier (IDENT): sync was terminated")
        expectTrue(
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
        try SessionScript.identify(&script)
        try script.cluster(
            .generation(GenerationNotice(app: "tasks", slice: SliceNumber(0), generation: 2, campaign: nil)), 1)
        guard case .jsonError(_, _, let body)? = script.takeLog().last else { throw HarnessError("expected an error") }
        expectEqual(body.action, .clientResetNoRecovery)
    }

    @Test func recoverySwitchedOffBeforeTheResetCounts() throws {
        var script = try SessionScript.live()
        try script.event(.recovery(false), 1)
        try script.cluster(
            .generation(GenerationNotice(app: "tasks", slice: SliceNumber(0), generation: 2, campaign: nil)), 1)
        guard case .jsonError(_, _, let body)? = script.takeLog().last else { throw HarnessError("expected an error") }
        expectEqual(body.action, .clientResetNoRecovery)
    }

    @Test func noticesOfOtherSlicesGenerationsAndFilesAreNotOurs() throws {
        var script = try SessionScript.live()
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
        try script.cluster(
            .integrated(SessionScript.notice(follows: 0, latest: 1, entries: [SessionScript.entry(1)], generation: 2)),
            1)
        expectTrue(script.takeLog().isEmpty)
    }

    @Test func aClientThatCannotIntegrateIsResetByItsOwner() throws {
        var script = try SessionScript.live()
        try script.client(.jsonError(ClientJSONError(session: 1, code: .badChangeset, message: "x")))
        guard case .reset(let message)? = script.actions.last(where: { if case .reset = $0 { true } else { false } })
        else {
            throw HarnessError("expected a reset message")
        }
        expectEqual(message.clientFile, 2)
        try script.cluster(
            .integrated(SessionScript.notice(follows: 0, latest: 1, entries: [SessionScript.entry(1)])), 1)
        expectTrue(script.takeLog().isEmpty)
        try script.cluster(
            .reset(
                ResetNotice(
                    app: "tasks", partition: "\"tasks\"", slice: SliceNumber(0), generation: 1, clientFile: 2,
                    campaign: "c", code: 217, message: "reset")), 1)
        guard case .jsonError(1, .badClientFile, _)? = script.takeLog().last else { throw HarnessError("expected 217") }
    }

    /// A client that has memory or room on its disk again goes on as it is, so nothing is reset.
    @Test(arguments: [
        "OutOfMemory: no more memory!", "OutOfDiskSpace: no space left",
        "AddressSpaceExhausted: mmap() failed", "PermissionDenied: the file is protected",
        "UnknownError: Caught std::exception of type std::bad_alloc: std::bad_alloc",
        "FileOperationFailed: write() failed: Input/output error", "SystemError: Cannot allocate memory",
    ]) func aClientThatLacksMemoryOrTheLikeGoesOnInItsNextSession(message: String) throws {
        var script = try SessionScript.live()
        try script.client(.jsonError(ClientJSONError(session: 1, code: .otherSessionError, message: message)))
        expectTrue(script.resets.isEmpty)
        guard case .jsonError(1, .otherSessionError, let body)? = script.takeLog().last else {
            throw HarnessError("expected a passing error")
        }
        expectTrue(body.action == .transient && body.tryAgain && (body.backoff?.intervalSeconds ?? 0) >= 5)
    }

    @Test(
        arguments: [
            (ErrorCode.otherSessionError, "KeyNotFound: OutOfMemory"), (.otherSessionError, "InvalidDatabase: bad ref"),
            (.otherSessionError, ""), (.badChangeset, "OutOfMemory: x"),
            (.badProgress, "SyncProtocolInvariantFailed: x"),
        ] as [(ErrorCode, String)]) func aClientWhoseDataIsAtFaultMustReset(code: ErrorCode, message: String) throws
    {
        var script = try SessionScript.live()
        try script.client(.jsonError(ClientJSONError(session: 1, code: code, message: message)))
        expectTrue(script.resets.map(\.clientFile) == [2] && script.takeLog().isEmpty)
    }

    /// What the gateway itself finds wrong is decided by the owner, too: else no campaign would ever hear of it.
    @Test func aRuleWhoseBreachCostsAResetIsBrokenBeforeTheOwner() throws {
        var script = try SessionScript.live()
        try script.event(.violation(Self.tooLarge), 1)
        expectTrue(script.takeLog().isEmpty)
        expectEqual(script.resets.map(\.clientFile), [2])
        try script.client(.upload(SessionScript.upload(3)))
        expectTrue(script.realm.history.isEmpty)
        // Another violation was on its way.
        try script.event(.violation(Self.tooLarge), 1)
        expectTrue(script.takeLog().isEmpty && script.resets.count == 1)
        try script.event(.recovery(false), 1)
        try script.cluster(
            .reset(
                ResetNotice(
                    app: "tasks", partition: "\"tasks\"", slice: SliceNumber(0), generation: 1, clientFile: 2,
                    campaign: "c", code: 208, message: "reset")), 1)
        guard case .jsonError(1, .otherSessionError, let body)? = script.takeLog().last else {
            throw HarnessError("expected the violation")
        }
        expectTrue(body.action == .clientResetNoRecovery && body.message.contains("17 MiB"))
    }

    /// A stock client that is alone on its socket hears it by the close code that it knows, once its reset is on record: it comes again with the
    /// same upload before it has reset.
    @Test(arguments: [
        (true, true, true, false), (false, false, true, false), (false, true, false, false), (false, true, true, true),
    ])
    func anUploadBeyondTheLimitClosesTheSocketOfAStockClient(
        isOurs: Bool, isAlone: Bool, recovers: Bool, closes: Bool
    ) throws {
        var script = try SessionScript.live(isOurs: isOurs)
        script.environment.isAlone = isAlone
        try script.event(.recovery(recovers), 1)
        let large = SyncProtocolError(
            .otherSessionError, session: 1, action: .clientReset, closeReason: "read limited", "limit exceeded")
        try script.event(.violation(large), 1)
        expectTrue(script.resets.map(\.clientFile) == [2] && script.takeLog().isEmpty && script.closings.isEmpty)
        try script.cluster(
            .reset(
                ResetNotice(
                    app: "tasks", partition: "\"tasks\"", slice: SliceNumber(0), generation: 1, clientFile: 2,
                    campaign: "c", code: 208, message: "reset")), 1)
        expectEqual(script.closings, (closes ? ["read limited"] : []))
        expectEqual(script.takeLog().map(\.name), (closes ? [] : ["json_error"]))
        expectEqual(script.session(1)?.phase, .ended)
    }

    @Test func aRuleBrokenBeforeTheOwnerKnowsTheClientWaitsForThat() throws {
        var script = SessionScript()
        script.realm.salts = [2: 5]
        try script.client(.bind(Bind(session: 1, target: "\"tasks\"", needsIdent: false)))
        script.holdsAnswers = true
        try script.client(.ident(Ident(session: 1, file: ClientFileIdent(ident: 2, salt: 5))))
        try script.client(.upload(SessionScript.upload(2)))
        try script.event(.violation(Self.tooLarge), 1)
        try script.client(.upload(SessionScript.upload(4)))
        expectTrue(script.resets.isEmpty)
        try script.release()
        expectEqual(script.resets.map(\.clientFile), [2])
        expectEqual(script.realm.history.map(\.clientVersion), [2])
    }

    private static let tooLarge = SyncProtocolError(
        .otherSessionError, session: 1, action: .clientReset, "limit exceeded: a message of 17 MiB")

    @Test func anUploadThatTheBrokerDoesNotConfirmIsAskedForAgain() throws {
        var script = try SessionScript.live()
        script.holdsAnswers = true
        try script.client(.upload(SessionScript.upload(2)))
        script.environment.isLinkUp = false
        try script.cluster(.publishFailed(1, GatewayError(.unconfirmed, "no confirm")), 1)
        expectTrue(script.takeLog().isEmpty)
        script.environment.isLinkUp = true
        try script.cluster(.publishFailed(1, GatewayError(.unconfirmed, "no confirm")), 1)
        guard case .jsonError(1, .otherSessionError, let body)? = script.takeLog().last else {
            throw HarnessError("expected a passing error")
        }
        expectTrue(body.action == .transient && body.tryAgain)
    }

    @Test func unbindIsAnsweredOnceAndNeverAfterAnError() throws {
        var script = try SessionScript.live()
        try script.client(.unbind(session: 1))
        expectEqual(script.takeLog().map(\.name), ["unbound"])
        expectTrue(script.session(1) == nil)
        var failed = try SessionScript.live()
        try failed.cluster(
            .generation(GenerationNotice(app: "tasks", slice: SliceNumber(0), generation: 2, campaign: nil)), 1)
        _ = failed.takeLog()
        try failed.client(.mark(session: 1, request: 1))
        try failed.client(.upload(SessionScript.upload(2)))
        try failed.client(.unbind(session: 1))
        expectTrue(failed.takeLog().isEmpty)
        expectTrue(failed.session(1) == nil)
    }

    @Test func anUnboundSessionIdentMayBeBoundAgain() throws {
        var script = try SessionScript.live()
        try script.client(.unbind(session: 1))
        try script.client(.bind(Bind(session: 1, target: "\"tasks\"", needsIdent: false)))
        expectEqual(script.session(1)?.phase, .bound)
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
        expectEqual(sent.rawValue, code)
        expectEqual(body.action.wireName, action)
        expectTrue(body.tryAgain)
        expectEqual(body.backoff?.intervalSeconds, 5)
    }

    @Test func codesThatStockClientsDoNotSurviveNeverLeave() throws {
        for code in [202, 203, 205, 224, 104, 999] as [ErrorCode] {
            var script = try SessionScript.live()
            try script.cluster(
                .refused(
                    RefusedAnswer(
                        realm: SessionScript.name, session: SessionReference(gateway: "g", number: 1), code: code,
                        action: "Transient", message: "m", tryAgain: true)), 1)
            guard case .jsonError(1, let sent, let body)? = script.takeLog().last else {
                throw HarnessError("expected an error")
            }
            expectEqual(sent, .otherSessionError)
            _ = try MessageEncoder(mode: .partition).encode(.jsonError(session: 1, code: sent, body: body))
        }
    }
}
