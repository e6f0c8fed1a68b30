import Messages
import Storage
import SyncModel

extension SliceOwner {
    /// A session begins; it may ask for a client file ident, which is durable before the answer leaves.
    func bind(_ request: BindRequest, reply address: ReplyAddress) async throws {
        let name = request.context.realm
        let session = request.context.session
        guard let app = try await admit(name, session, needsClientFile: request.needsClientFile, to: address) else {
            return
        }
        if let known = try await storedRealm(name) {
            guard !known.sessions.wasBound(session, on: request.connection) else { return metrics.requestRepeated() }
            if let file = try await fileCopied(by: request, of: app, in: known) {
                // An owner that died has given it out for this very request: the reset that it belongs to goes on with it.
                known.sessions.bound(session, on: request.connection)
                return try reply(
                    BoundAnswer(generation: known.record.generation, slice: slice, clientFile: file), to: address)
            }
            if request.needsClientFile, let seconds = try await turn(of: request, app: app, in: known) {
                metrics.paced(app: app.id)
                return try refuse(name, session, .turn(inSeconds: seconds, app: app), to: address)
            }
        }
        // A realm that has to restart does so for the first who begins anew, and whose turn it is.
        let context =
            request.needsClientFile
            ? try await realm(name, of: app) : try await unrestartedRealm(name, of: app)
        let generation = max(context.record.generation, try await self.generation(of: app).generation)
        let now = stamp
        var file: ClientFileIdent?
        if request.needsClientFile {
            let allocated = ClientFileIdent(ident: context.record.nextIdent, salt: FileSalt(Self.makeSalt()))
            context.record.nextIdent = FileIdent(context.record.nextIdent.rawValue + 1)
            context.isDirty = true
            context.insert(
                ClientFileRecord(
                    realm: context.record.id, file: allocated, user: request.user,
                    generation: context.record.generation, createdAt: now, lastSeen: now,
                    connection: request.connection, protocolVersion: request.protocolVersion,
                    userAgent: request.userAgent))
            touch(context)
            file = allocated
        }
        context.sessions.bound(session, on: request.connection)
        try await observeBind(request, clientFile: file?.ident, in: context)
        try reply(
            BoundAnswer(generation: generation, slice: slice, clientFile: file), to: address)
    }

    /// The client file that a request for one was given before, if a reset's fresh copy is made with it and it still holds.
    private func fileCopied(
        by request: BindRequest, of app: AppRecord, in context: RealmContext
    ) async throws -> ClientFileIdent? {
        let generation = context.record.generation
        guard request.needsClientFile, generation == (try await self.generation(of: app).generation),
            let ident = try await identCopied(by: request, in: context),
            let known = try await clientFile(ident, in: context), known.state == .live, known.generation == generation
        else { return nil }
        return known.file
    }

    /// A session ends. Evidence only: nothing is answered.
    func unbind(_ notice: UnbindNotice) async throws {
        guard let context = try await storedRealm(notice.realm) else { return }
        if case .ended = context.sessions.standing(of: notice.session) { return metrics.requestRepeated() }
        if let ident = notice.clientFile, try await clientFile(ident, in: context) != nil {
            let now = stamp
            context.update(ident) { $0.lastSeen = now }
            touch(context)
        }
        try await observeUnbind(notice, in: context)
        context.sessions.ended(notice.session)
    }
}
