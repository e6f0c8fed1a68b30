import AdminAPI
import Hummingbird
import Logging
import Storage
import SyncModel

/// `apps/{app}/users`: list, show, disable, enable, custom data, and revoking logins.
struct UserRoutes: Sendable {
    let context: CoordinatorContext

    func add(to group: RouterGroup<AdminRequestContext>) {
        group.answer(.get, .users) { try await list($0, app: $1.value(of: .app)) }
        group.answer(.get, .user) { _, route in
            UserDocument(try await context.user(route.value(of: .user), of: route.value(of: .app)))
        }
        group.answer(.post, .disableUser) { try await setDisabled(true, $0, $1) }
        group.answer(.post, .enableUser) { try await setDisabled(false, $0, $1) }
        group.answer(.put, .customData) { try await setCustomData($0, $1) }
        group.answer(.post, .revokeUser) { request, route in
            let (app, user) = (try route.value(of: .app), try route.value(of: .user))
            _ = try await AdminRequest.body(EmptyRequest.self, of: request)
            _ = try await context.user(user, of: app)
            let count = try await context.store.revokeLoginSessions(app: app, user: user)
            await changed(user, of: app, "logins of a user revoked")
            return RevocationAnswer(app: app, user: user, revoked: count)
        }
        group.answer(.post, .revokeUsers) { request, route in
            let app = try route.value(of: .app)
            _ = try await AdminRequest.body(EmptyRequest.self, of: request)
            let count = try await context.store.revokeLoginSessions(app: app, user: nil)
            context.logger.notice("logins of all users revoked", metadata: ["app": "\(app)", "count": "\(count)"])
            await context.notices.send(.user(app: app, id: nil))
            return RevocationAnswer(app: app, user: nil, revoked: count)
        }
    }

    private func list(_ request: Request, app: String) async throws -> UserList {
        _ = try await context.app(app)
        let limit = try AdminRequest.limit(request)
        let found = try await context.store.users(
            app: app, after: AdminRequest.query(.after, request), limit: limit)
        return UserList(users: found.map { UserDocument($0) }, next: found.count == limit ? found.last?.id : nil)
    }

    private func setDisabled(
        _ disabled: Bool, _ request: Request, _ route: AdminRequestContext
    ) async throws -> UserDocument {
        let (app, user) = (try route.value(of: .app), try route.value(of: .user))
        _ = try await AdminRequest.body(EmptyRequest.self, of: request)
        try await context.store.setDisabled(disabled, app: app, user: user)
        await changed(user, of: app, disabled ? "user disabled" : "user enabled")
        return UserDocument(try await context.user(user, of: app))
    }

    private func setCustomData(_ request: Request, _ route: AdminRequestContext) async throws -> UserDocument {
        let (app, user) = (try route.value(of: .app), try route.value(of: .user))
        let body = try await AdminRequest.body(CustomDataRequest.self, of: request)
        var text: String?
        switch body.customData {
        case nil, .null: break
        case .object(let members):
            let json = JSONWriter.text(of: .object(members))
            guard json.utf8.count <= UserRecord.maxCustomDataBytes else {
                throw AdminError.invalid(
                    "customData: \(json.utf8.count) bytes; \(UserRecord.maxCustomDataBytes) are allowed")
            }
            text = json
        default: throw AdminError.invalid("customData: expected an object")
        }
        try await context.store.setCustomData(text, app: app, user: user)
        await changed(user, of: app, "custom data of a user set")
        return UserDocument(try await context.user(user, of: app))
    }

    private func changed(_ user: String, of app: String, _ what: String) async {
        context.logger.notice("\(what)", metadata: ["app": "\(app)", "user": "\(user)"])
        await context.notices.send(.user(app: app, id: user))
    }
}

extension CoordinatorContext {
    /// - Throws: `not_found`.
    func user(_ id: String, of app: String) async throws -> UserRecord {
        guard let user = try await store.user(app: app, id: id) else {
            throw AdminError.notFound("user \(id.prefix(64)) of app \(app.prefix(64))")
        }
        return user
    }
}
