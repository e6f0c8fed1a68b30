import Changesets
import Logging
import Messages
import Rules
import Storage
import SyncModel
import SyncProtocol

// From a BIND to a session, by the app's settings and rules.
extension ClientConnection {
    /// Begins a session, or tells the client why not.
    ///
    /// - Returns: false if something must be read first; nothing has been done then.
    func bindAtOnce(_ bind: Bind) -> Bool {
        guard let known = environment.apps.remembered(upgrade.app), !check.refusesForGood(bind, in: known) else {
            return false
        }
        guard let target = target(of: bind, in: known), let app = known else { return true }
        guard let verdict = environment.rights.remembered(app, wish(target.realm, target.migratedPartition)),
            verdict.mayRead
        else { return false }
        start(bind, target, app, verdict)
        return true
    }

    /// Reads what is not remembered, and the newest settings where those that are remembered let nobody in: a client does not come again
    /// after such a refusal, and they may have changed a moment ago.
    ///
    /// While the store is away, what it said last lets in for a while whom it did; then nobody is let in whose rights cannot be told.
    func lookUpAndBind(_ bind: Bind) async {
        do {
            let known = try await environment.apps.app(upgrade.app)
            if try await !isBegun(bind, by: known, isNewest: false) {
                let newest = try await environment.apps.latest(upgrade.app)
                _ = try await isBegun(bind, by: newest, isNewest: true)
            }
            // The settings have changed while the user was read, when the session was not there to hear of it.
            if case .none = environment.apps.remembered(upgrade.app) {
                environment.watch.look(at: upgrade.app, settings: true)
            }
        } catch {
            logger.warning("the store failed at a bind", metadata: ["error": "\(error)"])
            let last = environment.apps.lastKnown(upgrade.app, within: environment.timings.withoutStore)
            guard let last, (try? await isBegun(bind, by: last, isNewest: false)) == true else {
                return refuseForNow(bind)
            }
        }
    }

    /// Begins a session by these settings, and the rules and the user's record that belong to them.
    ///
    /// - Parameter isNewest: whether the client may be told that it is refused, too.
    /// - Returns: false if nothing was done.
    private func isBegun(_ bind: Bind, by app: AppRecord?, isNewest: Bool) async throws -> Bool {
        guard isWaiting(bind) else { return true }
        guard isNewest || !check.refusesForGood(bind, in: app) else { return false }
        guard let target = target(of: bind, in: app), let app else { return true }
        let verdict = try await environment.rights.judge(app, wish(target.realm, target.migratedPartition))
        guard isNewest || verdict.mayRead else { return false }
        guard isWaiting(bind) else { return true }
        start(bind, target, app, verdict)
        return true
    }

    private var user: String { upgrade.claims?.sub ?? "" }

    private var check: BindCheck { BindCheck(upgrade: upgrade, limits: environment.protocolLimits) }

    private func wish(_ realm: RealmName, _ home: String?) -> RightsWish {
        RightsWish(
            user: user, kind: upgrade.claims?.ruleKind ?? .normal, partition: realm.partition, home: home)
    }

    private func isWaiting(_ bind: Bind) -> Bool { !isClosing && checker.session(bind.session) != nil }

    /// Nil once the client has been told why the BIND does not fit.
    private func target(of bind: Bind, in app: AppRecord?) -> BindCheck.Target? {
        do throws(SyncProtocolError) {
            if let (code, body) = try check.move(of: bind, in: app) {
                environment.metrics.moved(app: upgrade.app)
                send(.jsonError(session: bind.session, code: code, body: body))
                return nil
            }
            return try check.target(of: bind, in: app)
        } catch {
            if let app, !check.knowsRules(of: app) {
                environment.metrics.refusedIncompatible(app: app.id)
                logger.notice(
                    "a client does not know the rules that the app's copies are made by",
                    metadata: ["compatibility": "\(app.compatibility.rawValue)", "user_agent": "\(upgrade.userAgent)"])
            }
            if error.scope == .connection { violated(error) } else { refuse(error) }
            return nil
        }
    }

    private func start(_ bind: Bind, _ target: BindCheck.Target, _ app: AppRecord, _ verdict: Verdict) {
        let realm = target.realm
        let judgement: Judgement
        switch verdict {
        case .judged(let made): judgement = made
        case .noUser(let reason):
            environment.metrics.bindDenied(app: app.id, reason: "user")
            return close(CloseCode.unauthorized.rawValue, reason)
        }
        guard judgement.session.rights.mayRead else {
            let denial = BindDenial(app: app, partition: realm.partition, user: user)
            environment.metrics.bindDenied(app: app.id, reason: denial.reason)
            logger.notice("bind denied", metadata: denial.metadata)
            return refuse(denial.error(of: bind.session))
        }
        let number = environment.link.sessions.nextNumber()
        let timings = environment.timings
        let limits = SessionContext.Limits(
            pageBytes: environment.limits.pageBytes, requestDeadline: timings.requestDeadline.milliseconds,
            progressDelay: timings.progressDelay.milliseconds, resetDecision: timings.resetDecision.milliseconds)
        let context = SessionContext(
            realm: realm, reference: SessionReference(gateway: environment.gateway, number: number), user: user,
            connection: upgrade.connectionID, protocolVersion: upgrade.version.rawValue, userAgent: upgrade.userAgent,
            isOurs: upgrade.compatibility != nil, schemaVersion: target.schemaVersion,
            migratedPartition: target.migratedPartition, limits: limits)
        sessions[bind.session] = GatewaySession(
            session: bind.session, context: context, rights: judgement.session, roles: judgement.roles,
            home: judgement.home)
        numbers[number] = bind.session
        if environment.link.sessions.add(number, realm: realm, user: user, sink: self, judged: JudgedBy(judgement)) {
            environment.watch.look(at: app.id)
        }
        let replaced = bind.needsIdent ? outdated.take(for: target.schemaVersion) : nil
        perform(.bind(needsIdent: bind.needsIdent, app: app, replaces: replaced), on: bind.session)
    }

    /// Tells a client to come again: what it may do cannot be told.
    private func refuseForNow(_ bind: Bind) {
        guard isWaiting(bind) else { return }
        environment.metrics.bindDenied(app: upgrade.app, reason: "unavailable")
        send(.jsonError(session: bind.session, code: .initialSyncNotCompleted, body: .rightsUnknown))
    }

    /// Tells a client to come again: too many sessions are begun.
    func refuse(_ bind: Bind, beyond quota: Quota, _ limit: Int, for seconds: Int) {
        guard isWaiting(bind) else { return }
        let body = JSONErrorBody(
            code: .initialSyncNotCompleted, message: quota.refusal(limit: limit, app: upgrade.app, user: user),
            action: .transient, tryAgain: true, backoff: .afterQuota(seconds: seconds))
        send(.jsonError(session: bind.session, code: .initialSyncNotCompleted, body: body))
    }

    /// Ends a session that never got a machine.
    private func refuse(_ error: SyncProtocolError) {
        if let answer = error.answer { send(answer) }
    }

    // MARK: Judging again

    /// Judges sessions again, after rules or the user have changed.
    ///
    /// - Parameter checksLogin: the user has changed: the login may not hold any more.
    func judgeAgain(_ judged: [UInt64], by app: AppRecord, checksLogin: Bool) async throws {
        guard !isClosing, let claims = upgrade.claims else { return }
        if checksLogin {
            switch try await environment.accounts.recheck(claims) {
            case .refresh(let reason), .forbidden(let reason): return close(CloseCode.unauthorized.rawValue, reason)
            case .allowed: break
            }
        }
        for number in judged {
            guard let session = numbers[number], let context = sessions[session]?.context else { continue }
            switch try await environment.rights.judge(app, wish(context.realm, context.migratedPartition)) {
            case .noUser(let reason): return close(CloseCode.unauthorized.rawValue, reason)
            case .judged(let judgement):
                // The session may have ended meanwhile.
                guard numbers[number] == session else { continue }
                perform(.judged(judgement.session, roles: judgement.roles, home: judgement.home), on: session)
                environment.link.sessions.judged(number, by: JudgedBy(judgement))
            }
        }
    }
}
