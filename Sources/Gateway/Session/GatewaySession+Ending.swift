import Messages
import Storage
import SyncModel
import SyncProtocol

// Errors, resets, UNBIND.
extension GatewaySession {
    /// Ends the session with an error.
    ///
    /// - Parameter substitute: is sent instead of a code that is no session's, or that a stock client does not survive.
    mutating func fail(
        _ code: ErrorCode, or substitute: ErrorCode = .otherSessionError, _ action: ErrorAction, _ message: String,
        tryAgain: Bool? = nil, backoff: BackoffPolicy? = nil, integrated: ClientVersion? = nil,
        lostAfter: ClientVersion? = nil, notified: NotifiedReport? = nil
    ) {
        guard phase != .ended else { return }
        phase = .ended
        waiting.clear()
        let code = code.scope == .session && !code.abortsStockClient ? code : substitute
        var body = JSONErrorBody(
            code: code, message: code.stockText.map { "\($0): \(message)" } ?? message, action: action,
            tryAgain: tryAgain ?? (action == .transient), backoff: backoff)
        if action.isClientReset, context.isOurs {
            body.integratedClientVersion = integrated
            body.lostAfterClientVersion = lostAfter
        }
        let answer = ServerMessage.jsonError(session: session, code: code, body: body)
        actions.append(notified.map { .sendReset(answer, $0) } ?? .send(answer))
        actions.append(.unsubscribe)
    }

    /// Ends the session for a problem on our side that will pass.
    mutating func failForNow(_ message: String) {
        if let heldRefusal { return refuse(heldRefusal) }
        fail(.otherSessionError, .transient, message, backoff: .short)
    }

    mutating func unsendable() {
        fail(
            .otherSessionError, .transient, "the server made a mistake with this session",
            backoff: BackoffPolicy(intervalSeconds: 5, maxDelaySeconds: 300, multiplier: 2))
    }

    /// - Parameter error: what ends the session. A reset is its owner's to decide, as after `clientFailed`, which knows the client by now.
    mutating func violated(_ error: SyncProtocolError) {
        if error.action.isClientReset {
            switch phase {
            case .live:
                violation = error
                return askForReset("the client broke a rule: \(error.message)")
            // One reset is being decided already: what else was on its way does not forestall it.
            case .clientFailed: return
            case .binding, .bound, .identifying, .ended: break
            }
        }
        fail(error.code, error.action, error.message)
    }

    mutating func refused(_ answer: RefusedAnswer, isAnswer: Bool) {
        // Where a request is refused no MARK will be answered any more; and the first refusal is that which counts.
        guard !isAnswer, phase == .live, marks.isOwed else { return refuse(heldRefusal ?? answer) }
        heldRefusal = heldRefusal ?? answer
        waiting.clear()
    }

    mutating func refuse(_ answer: RefusedAnswer) {
        heldRefusal = nil
        // Before the reset: the fresh copy that its client makes is to be of the old one's version.
        if let previous = answer.previousSchemaVersion { tellOfSchema(previous) }
        fail(
            answer.code, answer.action, answer.message, tryAgain: answer.tryAgain, backoff: answer.backoff,
            integrated: answer.integrated, lostAfter: answer.lostAfter,
            notified: answer.action.isClientReset ? report(to: answer.campaign, answer.clientFile) : nil)
    }

    /// Makes the report for the coordinator that the client knows of its reset; nil outside a campaign.
    private func report(to campaign: String?, _ file: FileIdent? = nil) -> NotifiedReport? {
        guard let campaign, let file = file ?? clientFile?.ident else { return nil }
        return NotifiedReport(campaign: campaign, realm: context.realm, clientFile: file, at: environment.now)
    }

    mutating func requestFailed(_ error: GatewayError) {
        if phase == .live, paging == .asked, [.brokerUnavailable, .unconfirmed].contains(error.code) {
            paging = .none
            return wantPage()
        }
        switch phase {
        case .binding, .bound, .identifying, .live: failForNow("the realm's owner did not answer in time")
        case .clientFailed, .ended: break
        }
    }

    mutating func reset(_ notice: ResetNotice) {
        guard notice.app == context.realm.app, notice.partition ?? context.realm.partition == context.realm.partition
        else { return }
        if let file = notice.clientFile {
            guard file == clientFile?.ident else { return }
        } else if let bound = notice.identsBelow {
            guard let ident = clientFile?.ident, ident < bound else { return }
        } else {
            guard isBehind(notice.generation, in: notice.slice) else { return }
        }
        mustReset(
            code: notice.code, message: notice.message, campaign: notice.campaign,
            // A client that broke a rule may not have under its numbers what was integrated.
            integrated: notice.clientFile == nil || violation != nil ? nil : notice.integrated)
    }

    mutating func generationTold(_ notice: GenerationNotice) {
        guard notice.app == context.realm.app, isBehind(notice.generation, in: notice.slice) else { return }
        mustReset(code: .badClientFileIdent, message: "sync was terminated", campaign: notice.campaign)
    }

    /// Whether the session is of an earlier generation; one that waits for its bind answer is told there.
    private func isBehind(_ newest: UInt64, in slice: SliceNumber) -> Bool {
        switch phase {
        case .bound, .identifying, .live, .clientFailed: self.slice == slice && generation < newest
        case .binding, .ended: false
        }
    }

    private mutating func mustReset(
        code: ErrorCode, message: String, campaign: String?, integrated: ClientVersion? = nil
    ) {
        // By a close code nobody can be told to reset without recovery; and other sessions would have to reset, too.
        if let reason = violation?.closeReason, environment.isAlone, clientRecovery, !context.isOurs {
            phase = .ended
            actions += [.closeTooLarge(reason: reason, report(to: campaign)), .unsubscribe]
            return
        }
        fail(
            violation?.code ?? code, or: .badClientFileIdent,
            clientRecovery ? .clientReset : .clientResetNoRecovery, violation?.message ?? message, tryAgain: false,
            integrated: integrated, notified: report(to: campaign))
    }

    /// The client could not integrate what it was sent. Its owner decides, so that the reset is accounted for and holds
    /// for other connections, too; the decision comes back as a reset notice. A client that only lacked memory or the like goes on in its
    /// next session.
    mutating func clientFailed(_ error: ClientJSONError) {
        guard phase == .live else { return }
        guard !error.isOfEnvironment else {
            return fail(
                .otherSessionError, .transient,
                "the client lacked memory, room on its disk or access to its file for a download; it may try again",
                backoff: .patient)
        }
        askForReset("the client could not integrate a download (code \(error.code.rawValue))")
    }

    private mutating func askForReset(_ reason: String) {
        guard let clientFile else { return }
        phase = .clientFailed(deadline: environment.now &+ context.limits.resetDecision)
        actions.append(
            .reset(
                ResetMessage(
                    realm: context.realm, clientFile: clientFile.ident, campaign: nil, reason: reason, isUnasked: true))
        )
    }

    mutating func settingsChanged(_ app: AppRecord?) {
        guard phase != .ended else { return }
        guard let app else { return fail(.otherSessionError, .applicationBug, "the app does not exist any more") }
        clientRecovery = app.clientRecovery
        if app.isMoving || context.realm.isFlexible != (app.syncMode == .flexible) {
            return fail(.initialSyncNotCompleted, .transient, app.movingText, backoff: .patient)
        }
        // A termination reaches the session as a reset notice.
        if let refusal = app.refusal(ofSchema: context.schemaVersion) {
            fail(.badSchemaVersion, .applicationBug, refusal)
        } else if app.syncState == .paused {
            fail(.initialSyncNotCompleted, .transient, "sync is paused for app \(app.id)", backoff: .patient)
        }
    }

    /// The user may do what it could do, under newer rules: nothing disturbs the client, and what it uploads from now on says so.
    /// Or the session ends, for the client to bind again and be judged anew.
    mutating func judged(_ new: SessionRights, _ roles: String?, _ home: String?) {
        guard phase != .ended, new.rulesVersion >= rights.rulesVersion else { return }
        guard new.rights != rights.rights || roles != subscriptions?.roles || home != self.home else {
            rights = new
            return
        }
        fail(.sessionClosed, .transient, "permissions changed")
    }

    mutating func unbind(answer: Bool, isOrderly: Bool) {
        let wasOver = phase == .ended
        takeLeave()
        if isOrderly, phase == .live, let held = uploads.takeHeld() { publish(held, bytes: 0, isLast: true) }
        phase = .ended
        if answer, !wasOver { actions.append(.send(.unbound(session: session))) }
        if isBindReported {
            actions.append(
                .report(
                    UnbindNotice(
                        realm: context.realm, session: context.reference, user: context.user,
                        connection: context.connection, clientFile: clientFile?.ident, isOrderly: isOrderly,
                        wasRefused: wasOver)))
        }
        if !wasOver { actions.append(.unsubscribe) }
        actions.append(.forget)
    }
}

extension ErrorCode {
    /// How the messages of a code begin from the service that stock clients know, where apps look for it; our own text follows.
    fileprivate var stockText: String? {
        switch self {
        case .badClientFileIdent: "Bad client file identifier (IDENT)"
        case .badServerVersion: "Bad server version (IDENT, UPLOAD)"
        case .badClientVersion: "Bad client version (IDENT, UPLOAD)"
        case .divergingHistories: "Diverging histories (IDENT)"
        case .badChangeset: "Bad changeset (UPLOAD)"
        case .badClientFile: "Synchronization no longer possible for client-side file"
        case .clientFileExpired: "Client file has expired"
        case .userMismatch: "User mismatch for client file identifier (IDENT)"
        default: nil
        }
    }
}
