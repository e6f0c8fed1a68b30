import Logging
import Messages
import Operations
import Storage
import SyncModel

/// The client file that a session's page request or upload is about, as the session was identified.
struct SessionClaim {
    var clientFile: FileIdent
    /// The realm's generation in which the session was identified.
    var generation: UInt64
}

/// Checks whether sessions may go on: each check returns what it has found, or throws the `Refusal` that the session is told. Refusals are
/// sent in one place, `answering`.
struct Admittance: SlicePart {
    let work: SliceWork

    /// Returns an app whose sync is on.
    func app(of name: RealmName, needsClientFile: Bool = false) async throws -> AppRecord {
        guard let app = try await work.settings(of: name.app) else { throw Refusal.unknownApp(name.app) }
        if let refusal = Refusal.notEnabled(app, for: name, needsClientFile: needsClientFile) { throw refusal }
        return app
    }

    /// Returns what a session may do, if that was decided by the newest rules that the slice has seen.
    func rights(_ rights: SessionRights?, in name: RealmName) throws -> PartitionRights {
        let newest = work.memory.rules.newest(of: name.app)
        guard let rights, rights.rulesVersion >= newest else {
            metrics.stale(app: name.app, reason: rights == nil ? "missing" : "older")
            throw Refusal.stale(newest: newest, app: name.app)
        }
        work.memory.rules.hear(rights.rulesVersion, of: name.app)
        return rights.rights
    }

    /// Checks that a session may read, as every request needs.
    func requireReading(_ context: RequestContext) throws {
        guard try rights(context.rights, in: context.realm) == .none else { return }
        throw Refusal.applicationBug(
            .permissionDenied,
            "permission denied: the rules of app \(context.realm.app) do not let this user read the partition")
    }

    /// Checks that a user is as it was when its session was let in.
    func requireUnchanged(_ user: String, since rights: SessionRights?, of app: AppRecord) async throws {
        guard try await !isCurrent(user, at: rights?.usersVersion, of: app) else { return }
        metrics.stale(app: app.id, reason: "user")
        throw Refusal.changedUser(at: work.memory.users.newest(of: app.id), app: app.id)
    }

    /// Whether a user is as it was at a version of the app's users.
    func isCurrent(_ user: String, at version: UInt64?, of app: AppRecord) async throws -> Bool {
        // A gateway of an earlier version does not say.
        guard let version else { return true }
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
        return verdict == .current
    }

    /// Returns a client file's row, whatever its state.
    func clientFile(_ ident: FileIdent, of app: AppRecord, in context: RealmContext) async throws -> ClientFileRecord {
        if let file = try await work.clientFile(ident, in: context) { return file }
        if let erasure = try await work.erasure(of: ident, in: context) {
            throw Refusal.reset(
                code: .badClientFileIdent, ResetReason.erased, app: app, clientFile: ident, campaign: erasure.campaign)
        }
        throw try await resets.refusal(
            of: ident, code: .badClientFileIdent, "client file \(ident) does not exist here", app: app, in: context)
    }

    /// Returns the live row of an identified session's client file.
    func liveFile(
        _ claim: SessionClaim, of session: SessionReference, app: AppRecord, in context: RealmContext
    ) async throws -> ClientFileRecord {
        let file = try await clientFile(claim.clientFile, of: app, in: context)
        let check = ClientFileCheck(file: file, generation: context.record.generation)
        if let objection = check.objection(campaign: try await resets.reason(for: file)) {
            throw try await resets.require(
                of: file, code: objection.code, objection.reason, app: app, in: context, session: session,
                integrated: file.upload.clientVersion)
        }
        guard claim.generation == context.record.generation else {
            throw Refusal.retry("the session belongs to another sync generation")
        }
        return file
    }

    // MARK: Refusing

    /// Does what a session has asked for. If that is refused the session is told so, and what was noted before counts.
    ///
    /// - Parameter address: where an answer goes; nil: to the session, unasked.
    func answering(
        _ session: SessionReference, of realm: RealmName, at address: ReplyAddress?, _ body: () async throws -> Void
    ) async throws {
        do {
            try await body()
        } catch let refusal as Refusal {
            try refuse(session, of: realm, refusal, to: address)
        }
    }

    /// Tells a session why it may not go on.
    func refuse(
        _ session: SessionReference, of realm: RealmName, _ refusal: Refusal, to address: ReplyAddress?
    ) throws {
        logger.debug(
            "session refused",
            metadata: .about(
                realm, session: session, clientFile: refusal.clientFile, campaign: refusal.campaign,
                ["code": "\(refusal.code.rawValue)", "reason": "\(refusal.message)"]))
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
}
