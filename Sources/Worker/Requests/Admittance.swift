import Logging
import Messages
import Storage
import SyncModel

/// What a session's page request or upload is about.
struct SessionClaim {
    var session: SessionReference
    var clientFile: FileIdent
    /// The realm's generation in which the session was identified.
    var generation: UInt64
    /// Where a refusal goes; nil: to the session, unasked.
    var address: ReplyAddress?
}

/// Lets sessions go on, or tells them why they may not.
struct Admittance: SlicePart {
    let work: SliceWork

    /// An app whose sync is on; nil once the session has been refused.
    func admit(
        _ name: RealmName, _ session: SessionReference, needsClientFile: Bool = false, to address: ReplyAddress?
    ) async throws -> AppRecord? {
        guard let app = try await work.settings(of: name.app) else {
            try refuse(name, session, .unknownApp(name.app), to: address)
            return nil
        }
        guard let refusal = Refusal.notEnabled(app, for: name, needsClientFile: needsClientFile) else { return app }
        try refuse(name, session, refusal, to: address)
        return nil
    }

    /// What a session may do, if that was decided by the newest rules that the slice has seen; nil once the session has been refused.
    func admit(
        _ rights: SessionRights?, _ name: RealmName, _ session: SessionReference, to address: ReplyAddress?
    ) throws -> PartitionRights? {
        let newest = work.memory.rules.newest(of: name.app)
        guard let rights, rights.rulesVersion >= newest else {
            metrics.stale(app: name.app, reason: rights == nil ? "missing" : "older")
            try refuse(name, session, .stale(newest: newest, app: name.app), to: address)
            return nil
        }
        work.memory.rules.hear(rights.rulesVersion, of: name.app)
        return rights.rights
    }

    /// Whether the user is as it was when its session was let in; false once the session has been refused.
    func admit(
        _ user: String, under rights: SessionRights?, of app: AppRecord, _ name: RealmName, _ session: SessionReference,
        to address: ReplyAddress?
    ) async throws -> Bool {
        // A gateway of an earlier version does not say.
        guard let version = rights?.usersVersion else { return true }
        var verdict = work.memory.users.verdict(on: user, of: app.id, at: version)
        if case .unknown(let start) = verdict {
            var changed: Set<String>?
            do throws(StoreError) {
                changed = try await work.environment.apps.userChanges(of: app.id, after: start)
            } catch {
                // Roles of the database that an earlier version has made.
                guard error.code == .denied else { throw error }
                logger.warning(
                    "it cannot be told which users have changed, so sessions begin anew: run sluice store init again",
                    metadata: ["app": "\(app.id)", "error": "\(error)"])
            }
            work.memory.users.learn(changed, of: app.id, after: start)
            verdict = work.memory.users.verdict(on: user, of: app.id, at: version)
        }
        guard verdict != .current else { return true }
        metrics.stale(app: app.id, reason: "user")
        try refuse(name, session, .changedUser(at: work.memory.users.newest(of: app.id), app: app.id), to: address)
        return false
    }

    /// The same for what needs the right to read, as every request does.
    func admit(_ context: RequestContext, to address: ReplyAddress) throws -> Bool {
        guard let rights = try admit(context.rights, context.realm, context.session, to: address) else { return false }
        guard rights == .none else { return true }
        try refuse(
            context.realm, context.session,
            .applicationBug(
                .permissionDenied,
                "permission denied: the rules of app \(context.realm.app) do not let this user read the partition"),
            to: address)
        return false
    }

    /// A client file's row; nil once the session has been refused.
    func admit(
        _ ident: FileIdent, _ session: SessionReference, of app: AppRecord, in context: RealmContext,
        to address: ReplyAddress?
    ) async throws -> ClientFileRecord? {
        if let file = try await work.clientFile(ident, in: context) { return file }
        if let erasure = try await work.erasure(of: ident, in: context) {
            let refusal = Refusal.reset(
                code: .badClientFileIdent, ResetReason.erased, app: app, clientFile: ident, campaign: erasure.campaign)
            try refuse(context.name, session, refusal, to: address)
            return nil
        }
        let refusal = Refusal.reset(
            code: .badClientFileIdent, "client file \(ident) does not exist here", app: app, clientFile: ident,
            campaign: nil)
        try await refuseUnlessHeld(context, session, ident, refusal, to: address)
        return nil
    }

    /// The live row of an identified session's client file; nil once the session has been refused.
    func admit(_ claim: SessionClaim, of app: AppRecord, in context: RealmContext) async throws -> ClientFileRecord? {
        guard let file = try await admit(claim.clientFile, claim.session, of: app, in: context, to: claim.address)
        else { return nil }
        let admission = Admission(file: file, generation: context.record.generation)
        if let objection = admission.objection(campaign: try await reason(for: file)) {
            try await refuseForReset(
                context, claim.session, code: objection.code, objection.reason, app: app, file: file,
                integrated: file.upload.clientVersion, to: claim.address)
            return nil
        }
        guard claim.generation == context.record.generation else {
            let refusal = Refusal.retry("the session belongs to another sync generation")
            try refuse(context.name, claim.session, refusal, to: claim.address)
            return nil
        }
        return file
    }

    /// What the client of a client file that must reset is told.
    func reason(for file: ClientFileRecord) async throws -> String {
        guard file.state == .resetRequired, let campaign = file.campaign else { return ResetReason.termination }
        return try await store.reason(campaign: campaign) ?? ResetReason.unknown
    }

    // MARK: Refusing

    func refuse(
        _ realm: RealmName, _ session: SessionReference, _ refusal: Refusal, to address: ReplyAddress? = nil
    ) throws {
        logger.debug(
            "session refused",
            metadata: [
                "app": "\(realm.app)", "realm": "\(realm.partition)", "code": "\(refusal.code.rawValue)",
                "client_file": "\(refusal.clientFile ?? 0)", "reason": "\(refusal.message)",
            ])
        metrics.refused(app: realm.app)
        let answer = RefusedAnswer(
            realm: realm, session: session, code: refusal.code, action: refusal.action, message: refusal.message,
            tryAgain: refusal.tryAgain, backoff: refusal.backoff, clientFile: refusal.clientFile,
            campaign: refusal.campaign, integrated: refusal.integrated, lostAfter: refusal.lostAfter,
            rulesVersion: refusal.rulesVersion, usersVersion: refusal.usersVersion,
            previousSchemaVersion: refusal.previousSchemaVersion)
        let unasked = ReplyAddress(queue: work.environment.topology.gateway(session.gateway), correlationID: nil)
        try work.reply(answer, to: address ?? unasked)
    }

    /// Refuses a session of a client that does not have the client file that it names, for a reset that no campaign accounts
    /// for.
    func refuseUnlessHeld(
        _ context: RealmContext, _ session: SessionReference, _ ident: FileIdent, _ refusal: Refusal,
        to address: ReplyAddress?
    ) async throws {
        let hold = try await Resets(work: work).hold(context.key(ident), of: context.name.app)
        if hold == nil { metrics.unaskedReset(app: context.name.app) }
        try refuse(context.name, session, hold.map(Refusal.held) ?? refusal, to: address)
    }

    /// Whether a campaign, or a termination that the file has not heard of, asks for the reset.
    private func isAskedFor(_ file: ClientFileRecord, in context: RealmContext) async throws -> Bool {
        if file.generation != context.record.generation { return true }
        if (file.state == .resetRequired || file.state == .superseded) && file.campaign != nil { return true }
        return try await work.restore()?.isNews(to: file) == true
    }

    /// Refuses a session of a client file that must reset, and accounts for the reset.
    ///
    /// - Parameters:
    ///   - integrated: up to which client version the realm's state has what the client has written, if that is certain.
    ///   - mustDiscard: as in `ClientFileRecord`.
    ///   - opening: the schema version that the client names with its IDENT.
    ///   - isNewAttempt: the client file has just presented itself. What else a session sends may have been on its way when it
    ///     was refused, and says nothing of a reset that has begun.
    func refuseForReset(
        _ context: RealmContext, _ session: SessionReference, code: ErrorCode, _ message: String, app: AppRecord,
        file: ClientFileRecord, integrated: ClientVersion?, mustDiscard: Bool = false, isNewAttempt: Bool = false,
        opening: UInt64? = nil, to address: ReplyAddress? = nil
    ) async throws {
        let mustDiscard = mustDiscard || file.mustDiscard
        if try await !isAskedFor(file, in: context) {
            if let hold = try await Resets(work: work).hold(file.key, of: context.name.app) {
                return try refuse(context.name, session, .held(hold), to: address)
            }
            metrics.unaskedReset(app: context.name.app)
        }
        let restore = try await work.restore()
        let campaign = try requireReset(context, file, reason: message, mustDiscard: mustDiscard, after: restore)
        try await inference.overtake(file, of: context.name, by: campaign)
        try await inference.observe(
            .refused(connection: context.sessions.connection(of: session) ?? file.connection), of: file.ident,
            campaign: campaign, opensOnly: !isNewAttempt, in: context)
        var refusal = Refusal.reset(
            code: code, message, app: app, clientFile: file.ident, campaign: campaign, integrated: integrated,
            mustDiscard: mustDiscard)
        if let restore, campaign == restore.campaign(ofApp: app.id) { refusal.lostAfter = file.upload.clientVersion }
        refusal.previousSchemaVersion = try work.version(ofCopy: file, openedWith: opening, of: app, in: context)
        try refuse(context.name, session, refusal, to: address)
    }

    /// Marks a client file, and reports it to its app's account if no campaign asked for the reset.
    ///
    /// - Parameter restore: whose campaign accounts for the clients that it has left ahead.
    private func requireReset(
        _ context: RealmContext, _ file: ClientFileRecord, reason: String, mustDiscard: Bool,
        after restore: RestoreRecord?
    ) throws -> String {
        if mustDiscard, !file.mustDiscard { work.change(context).update(file.ident) { $0.mustDiscard = true } }
        if file.state == .resetRequired || file.state == .superseded, let campaign = file.campaign { return campaign }
        let account = ResetAccount(work: work)
        var campaign = account.today(context)
        var reason = reason
        var kind = ResetAccount.kind
        if let restore, restore.isNews(to: file) {
            campaign = restore.campaign(ofApp: context.name.app)
            reason = ResetReason.restored
            kind = ResetMessage.type
            Resets(work: work).keep(reason: reason, of: campaign)
        }
        work.change(context).update(file.ident) {
            $0.state = .resetRequired
            $0.campaign = campaign
        }
        try account.add(file, of: context, to: campaign, kind: kind, reason: reason)
        return campaign
    }
}
