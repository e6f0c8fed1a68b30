import Messages
import Storage
import SyncModel
import Views

extension SessionRequests {
    /// What a session in a flexible realm begins with.
    struct ViewIdentification {
        /// The set whose data comes first.
        var bootstrap: UInt64?
        /// The schema version that the client's copy was made with, if the client names another one.
        var previousSchema: UInt64?
    }

    /// The client says which subscription set it has, as of its cursor: that is so, whatever was sent to it. What its user may do
    /// may have changed since.
    ///
    /// - Throws: the `Refusal` of a client that cannot go on with it.
    func identifyView(
        _ request: IdentifyRequest, _ file: ClientFileRecord, _ known: ClientViews, of app: AppRecord,
        _ context: RealmContext
    ) async throws -> ViewIdentification {
        let app = try await knowing(request.schemaVersion, app, context)
        guard let said = request.view else {
            throw Refusal.retry("client file \(file.ident) came without a subscription set")
        }
        func requireReset(_ code: ErrorCode, _ reason: String) async throws -> Refusal {
            try await resets.require(
                of: file, code: code, reason, app: app, in: context, session: request.context.session,
                integrated: file.upload.clientVersion, isNewAttempt: true, opening: request.schemaVersion)
        }
        var views = known
        var previous: UInt64?
        if let version = request.schemaVersion, version != views.schemaVersion {
            if app.clientSchemas != nil, let known = views.schemaVersion {
                // As long as the client has this file: it may come back before it has begun anew.
                previous = known
            } else {
                views.schemaVersion = version
            }
        }
        // A gateway passes on only what the user may write to, and every session's.
        views.partition = request.migratedPartition
        let cursor = request.download.serverVersion
        let sent = views.views.latest?.version ?? 0
        // What the client may have of the set from another session it has to forget first.
        if sent > said.version, views.begun.map({ $0.version < sent }) ?? true {
            // Only in this session may the client be sent that again.
            views.begun = BegunBootstrap(version: sent, of: request.context.session)
        }
        var bootstrap: UInt64?
        if cursor == 0, said.version == 0 {
            // Nothing is decided before set 0 is sent.
            bootstrap = 0
            views.views.keep(0)
        } else {
            if views.identify(said, at: cursor) {
                if views.views.latest?.roles != said.roles {
                    guard said.version > 0 else {
                        // Nothing of set 0 depends on roles.
                        views.views = ViewHistory([.init(start: views.views.start ?? cursor, view: said)])
                        return keep(
                            views, said.roles, file, in: context, at: cursor, bootstrap: nil, previousSchema: previous)
                    }
                    guard file.protocolVersion >= 14 else {
                        throw try await requireReset(.serverPermissionsChanged, "what the user may do has changed")
                    }
                    bootstrap = said.version
                }
            } else if said.version > 0 {
                try read([said], of: views, in: context)
                let view: View
                do throws(ViewError) {
                    view = try context.view(said, of: views)
                } catch {
                    throw Refusal.applicationBug(.badQuery, error.message)
                }
                // Nobody has taken the set before: a client may not come to it by saying that it has it.
                if let objection = try await QueryableFields(work: work, app: app).objection(to: view, of: file) {
                    throw Refusal.applicationBug(.badQuery, objection.message)
                }
                guard let start = context.imaged.start(of: view), start <= cursor else {
                    throw try await requireReset(
                        .clientFileExpired,
                        "client file \(file.ident) came with a subscription set of which it cannot be told what it has"
                    )
                }
                ImageTrimming(work: work).needs(view, .nothing, in: context)
                let wish = Allowances.Wish(bytes: known.growth(by: said))
                let user = AppUser(app: app.id, user: file.user)
                try await Allowances(work: work).take(wish, of: user, in: app)
            }
        }
        if bootstrap == nil, said.version > 0, file.protocolVersion >= 14,
            try await work.isFarBehind(cursor, file.ident, in: context)
        {
            bootstrap = said.version
        }
        // The client has what it says it has.
        if let begun = views.begun, begun.version < said.version || begun.version == said.version && bootstrap == nil {
            views.begun = nil
        }
        return keep(
            views, said.roles, file, in: context, at: cursor, bootstrap: bootstrap, previousSchema: previous)
    }

    private func keep(
        _ views: ClientViews, _ roles: String, _ file: ClientFileRecord, in context: RealmContext,
        at cursor: ServerVersion, bootstrap: UInt64?, previousSchema: UInt64?
    ) -> ViewIdentification {
        var views = views
        views.roles = roles
        let bytes = views.encoded()
        if bytes != file.views || (file.historyStart == nil && cursor > 0) {
            work.change(context).update(file.ident) {
                $0.views = bytes
                if cursor > 0 { $0.historyStart = $0.historyStart ?? cursor }
            }
        }
        return ViewIdentification(bootstrap: bootstrap, previousSchema: previousSchema)
    }

    /// Whether a session has to begin anew, to be sent in pages what its client has missed: other protocols than 14 have no way of saying that.
    func mustCatchUp(
        _ file: ClientFileRecord, from version: ServerVersion, _ context: RealmContext
    ) async throws -> Bool {
        guard file.protocolVersion >= 14, try await work.isFarBehind(version, file.ident, in: context) else {
            return false
        }
        return try work.clientViews(of: file, in: context).views.latest?.version ?? 0 > 0
    }

    /// The client has left a session in order, and forgets what it was sent of a set's data in it.
    func leave(_ session: SessionReference, _ file: ClientFileRecord, _ context: RealmContext) throws {
        var views = try work.clientViews(of: file, in: context)
        guard let begun = views.begun, begun.gateway == session.gateway, begun.session == session.number else { return }
        views.begun = nil
        work.change(context).update(file.ident) { [views] in $0.views = views.encoded() }
    }
}
