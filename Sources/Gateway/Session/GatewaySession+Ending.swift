import Messages
import Storage
import SyncModel
import SyncProtocol

// Errors, resets, UNBIND.
extension GatewaySession {
    mutating func fail(
        _ code: ErrorCode, _ action: ErrorAction, _ message: String, tryAgain: Bool? = nil,
        backoff: BackoffPolicy? = nil, integrated: ClientVersion? = nil, notified: NotifiedReport? = nil,
        _ actions: inout [SessionAction]
    ) {
        guard phase != .ended else { return }
        phase = .ended
        var body = JSONErrorBody(
            code: code, message: message, action: action, tryAgain: tryAgain ?? (action == .transient), backoff: backoff
        )
        if action.isClientReset, context.isOurs { body.integratedClientVersion = integrated }
        let answer = ServerMessage.jsonError(session: session, code: code, body: body)
        actions.append(notified.map { .sendReset(answer, $0) } ?? .send(answer))
        actions.append(.unsubscribe)
    }

    /// Something on our side that will pass.
    mutating func failForNow(_ message: String, _ actions: inout [SessionAction]) {
        fail(.otherSessionError, .transient, message, tryAgain: true, backoff: .short, &actions)
    }

    /// - Parameter error: what ends the session. A reset is its owner's to decide, as after `clientFailed`, and an owner
    ///   that does not know the client yet is asked once it does.
    mutating func violated(
        _ error: SyncProtocolError, _ environment: SessionEnvironment, _ actions: inout [SessionAction]
    ) {
        if error.action.isClientReset {
            switch phase {
            case .live:
                violation = error
                return askForReset("the client broke a rule: \(error.message)", environment, &actions)
            case .identifying:
                violation = violation ?? error
                return
            // One reset is being decided already: what else was on its way does not forestall it.
            case .clientFailed: return
            case .binding, .bound, .ended: break
            }
        }
        fail(
            error.code.abortsStockClient || error.code.scope != .session ? .otherSessionError : error.code,
            error.action, error.message, &actions)
    }

    mutating func refused(
        _ answer: RefusedAnswer, _ environment: SessionEnvironment, _ actions: inout [SessionAction]
    ) {
        let code = answer.code
        let action = answer.action
        var report: NotifiedReport?
        if action.isClientReset, let campaign = answer.campaign, let file = answer.clientFile ?? clientFile?.ident {
            report = NotifiedReport(campaign: campaign, realm: context.realm, clientFile: file, at: environment.now)
        }
        // A code that a stock client does not survive must not leave, whoever asks for it.
        let isSafe = code.scope == .session && !code.abortsStockClient
        fail(
            isSafe ? code : .otherSessionError, action, answer.message, tryAgain: answer.tryAgain,
            backoff: answer.backoff, integrated: answer.integrated, notified: report, &actions)
    }

    mutating func requestFailed(
        _ error: GatewayError, _ environment: SessionEnvironment, _ actions: inout [SessionAction]
    ) {
        if phase == .live, paging == .asked, [.brokerUnavailable, .unconfirmed].contains(error.code) {
            paging = .none
            return wantPage(environment)
        }
        switch phase {
        case .binding, .bound, .identifying, .live: failForNow("the realm's owner did not answer in time", &actions)
        case .clientFailed, .ended: break
        }
    }

    mutating func reset(
        _ notice: ResetNotice, _ environment: SessionEnvironment, _ actions: inout [SessionAction]
    ) {
        guard notice.app == context.realm.app, notice.partition.map({ $0 == context.realm.partition }) ?? true else {
            return
        }
        if let file = notice.clientFile {
            guard file == clientFile?.ident else { return }
        } else {
            guard slice == notice.slice, generation < notice.generation, isBound else { return }
        }
        mustReset(
            code: notice.code, message: notice.message, campaign: notice.campaign,
            // A client that broke a rule may not have under its numbers what was integrated.
            integrated: notice.clientFile == nil || violation != nil ? nil : notice.integrated, environment, &actions)
    }

    mutating func generationTold(
        _ notice: GenerationNotice, _ environment: SessionEnvironment, _ actions: inout [SessionAction]
    ) {
        guard notice.app == context.realm.app, slice == notice.slice, generation < notice.generation, isBound else {
            return
        }
        mustReset(
            code: .badClientFileIdent, message: "sync was terminated", campaign: notice.campaign,
            environment, &actions)
    }

    /// Whether the session's generation is known: one that waits for its bind answer is told there.
    private var isBound: Bool {
        switch phase {
        case .bound, .identifying, .live, .clientFailed: true
        case .binding, .ended: false
        }
    }

    private mutating func mustReset(
        code: ErrorCode, message: String, campaign: String?, integrated: ClientVersion? = nil,
        _ environment: SessionEnvironment,
        _ actions: inout [SessionAction]
    ) {
        var report: NotifiedReport?
        if let campaign, let clientFile {
            report = NotifiedReport(
                campaign: campaign, realm: context.realm, clientFile: clientFile.ident, at: environment.now)
        }
        let wanted = violation?.code ?? code
        let isSafe = wanted.scope == .session && !wanted.abortsStockClient
        fail(
            isSafe ? wanted : .badClientFileIdent, clientRecovery ? .clientReset : .clientResetNoRecovery,
            violation?.message ?? message, tryAgain: false, integrated: integrated, notified: report, &actions)
    }

    /// The client could not integrate what it was sent. Its owner decides, so that the reset is accounted for and holds
    /// for other connections, too; it comes back as a reset notice.
    mutating func clientFailed(
        _ error: ClientJSONError, _ environment: SessionEnvironment, _ actions: inout [SessionAction]
    ) {
        guard phase == .live else { return }
        askForReset("the client could not integrate a download (code \(error.code.rawValue))", environment, &actions)
    }

    private mutating func askForReset(
        _ reason: String, _ environment: SessionEnvironment, _ actions: inout [SessionAction]
    ) {
        guard let clientFile else { return }
        phase = .clientFailed(deadline: environment.now &+ context.limits.resetDecision)
        actions.append(
            .reset(
                ResetMessage(
                    realm: context.realm, clientFile: clientFile.ident, campaign: nil, reason: reason)))
    }

    mutating func settingsChanged(_ app: AppRecord?, _ actions: inout [SessionAction]) {
        guard phase != .ended else { return }
        guard let app else {
            return fail(.otherSessionError, .applicationBug, "the app does not exist any more", &actions)
        }
        clientRecovery = app.clientRecovery
        // A termination reaches the session as a reset notice.
        if app.syncState == .paused {
            fail(.initialSyncNotCompleted, .transient, "sync is paused for app \(app.id)", backoff: .patient, &actions)
        }
    }

    mutating func unbind(answer: Bool, isOrderly: Bool, _ actions: inout [SessionAction]) {
        let wasOver = phase == .ended
        if !wasOver, isOrderly, phase == .live, let held = uploads.takeHeld() {
            publish(
                held, bytes: 0, SessionEnvironment(now: 0, isCongested: false, isLinkUp: true), &actions)
        }
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
