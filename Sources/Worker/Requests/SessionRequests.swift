import Logging
import Messages
import Operations
import Storage
import SyncModel
import Views

/// Answers what gateways ask for their sessions: BIND, IDENT and pages of history. Each throws the `Refusal` of a session that may not go on.
struct SessionRequests: SlicePart {
    let work: SliceWork

    /// A session begins; it may ask for a client file ident, which is durable before the answer leaves.
    func bind(_ request: BindRequest, reply address: ReplyAddress) async throws {
        let name = request.context.realm
        let session = request.context.session
        let app = try await admittance.app(of: name, needsClientFile: request.needsClientFile)
        try admittance.requireReading(request.context)
        try await admittance.requireUnchanged(request.user, since: request.context.rights, of: app)
        var wish = Allowances.Wish(realms: 1, clientFiles: request.needsClientFile ? 1 : 0)
        if let known = try await work.storedRealm(name) {
            wish.realms = 0
            guard !known.sessions.wasBound(session, on: request.connection) else { return metrics.requestRepeated() }
            if let file = try await fileCopied(by: request, of: app, in: known) {
                // An owner that died has given it out for this very request: the reset that it belongs to goes on with it.
                try work.reply(
                    BoundAnswer(generation: known.record.generation, slice: slice, clientFile: file), to: address)
                return known.sessions.bound(session, on: request.connection)
            }
            if request.needsClientFile, let seconds = try await turn(of: request, app: app, in: known) {
                metrics.paced(app: app.id)
                throw Refusal.turn(inSeconds: seconds, app: app)
            }
            // A realm that has to restart does so for the first who begins anew, and whose turn it is.
            if request.needsClientFile, try await !hasRestarted(name, of: app) { throw Refusal.restarting(name) }
        }
        let user = AppUser(app: app.id, user: request.user)
        if wish.realms > 0, try await Erasures(work: work).hasGone(user) { throw Refusal.deletedUser(user) }
        try await Allowances(work: work).take(wish, of: user, in: app)
        let context =
            request.needsClientFile
            ? try await work.realm(name, of: app) : try await work.unrestartedRealm(name, of: app)
        try await LostFiles(work: work).recall(in: context)
        let generation = max(context.record.generation, try await work.generation(of: app).generation)
        let now = work.stamp
        var file: ClientFileIdent?
        if request.needsClientFile {
            try await retire(request, in: context)
            let views = request.schemaVersion.map { ClientViews(schemaVersion: $0).encoded() }
            file =
                work.change(context).insert { ident in
                    ClientFileRecord(
                        realm: context.record.id, file: ClientFileIdent(ident: ident, salt: SliceWork.makeSalt()),
                        user: request.user, generation: context.record.generation, createdAt: now,
                        // Not yet, by its client (`ClientFileRecord.isInUse`).
                        lastSeen: now - min(now, 1),
                        connection: request.connection, protocolVersion: request.protocolVersion,
                        userAgent: request.userAgent, views: views ?? [])
                }.file
        }
        logger.debug(
            "session bound",
            metadata: .about(
                name, session: session, clientFile: file?.ident,
                ["generation": "\(generation)", "new_file": "\(request.needsClientFile)"]))
        try await inference.observeBind(request, clientFile: file?.ident, in: context)
        try work.reply(BoundAnswer(generation: generation, slice: slice, clientFile: file), to: address)
        context.sessions.bound(session, on: request.connection)
    }

    /// Whether the realm is of the app's generation by now; has it restart if not.
    private func hasRestarted(_ name: RealmName, of app: AppRecord) async throws -> Bool {
        do {
            _ = try await work.realm(name, of: app)
            return true
        } catch is WaitsForJob {
            return false
        }
    }

    /// The client file that a request for one was given before, if a reset's fresh copy is made with it and it still holds.
    private func fileCopied(
        by request: BindRequest, of app: AppRecord, in context: RealmContext
    ) async throws -> ClientFileIdent? {
        let generation = context.record.generation
        guard request.needsClientFile, generation == (try await work.generation(of: app).generation),
            let ident = try await inference.identCopied(by: request, in: context),
            let known = try await work.clientFile(ident, in: context), known.state == .live,
            known.generation == generation
        else { return nil }
        return known.file
    }

    /// A client begins anew with another schema version: the client file that it had, and has uploaded everything under, is of no
    /// more use.
    private func retire(_ request: BindRequest, in context: RealmContext) async throws {
        guard context.name.isFlexible, let ident = request.replaces,
            let old = try await work.clientFile(ident, in: context), old.state == .live, old.user == request.user
        else { return }
        work.change(context).update(ident) { $0.state = .superseded }
    }

    /// A session ends. Evidence only: nothing is answered.
    func unbind(_ notice: UnbindNotice) async throws {
        try await LostFiles(work: work).observe(notice)
        guard let context = try await work.storedRealm(notice.realm) else { return }
        if case .ended = context.sessions.standing(of: notice.session) { return metrics.requestRepeated() }
        if let ident = notice.clientFile, let file = try await work.clientFile(ident, in: context) {
            let now = work.stamp
            work.change(context).update(ident) { $0.lastSeen = max(now, $0.createdAt) }
            if context.name.isFlexible, notice.isOrderly { try leave(notice.session, file, context) }
        }
        logger.debug(
            "session ended",
            metadata: .about(
                notice.realm, session: notice.session, clientFile: notice.clientFile,
                ["orderly": "\(notice.isOrderly)"]))
        try await inference.observeUnbind(notice, in: context)
        context.sessions.ended(notice.session)
    }
}
