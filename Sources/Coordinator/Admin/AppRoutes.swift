import AdminAPI
import Changesets
import Hummingbird
import Storage

/// `apps`: create, list, show and change.
struct AppRoutes: Sendable {
    let context: CoordinatorContext

    func add(to group: RouterGroup<BasicRequestContext>) {
        group.on(.get, .apps) { _, _ in
            try AdminResponse.json(AppList(apps: try await context.store.apps().map { AppDocument($0) }))
        }
        group.on(.post, .apps) { request, _ in
            let new = try await AdminRequest.body(AppRequest.self, of: request)
            let app = try new.record(at: context.now)
            try await context.store.insert(app)
            await context.notices.send(app.id)
            return try AdminResponse.json(AppDocument(app), status: .created)
        }
        group.on(.get, .app) { _, route in
            let id = try route.value(of: .app)
            return try AdminResponse.json(
                AppDocument(try await context.app(id), users: try await context.store.userCount(app: id)))
        }
        group.on(.get, .schema) { _, route in
            let id = try route.value(of: .app)
            _ = try await context.app(id)
            return try AdminResponse.json(SchemaDocument(try await context.store.schema(ofApp: id)))
        }
        group.on(.patch, .app) { request, route in
            let id = try route.value(of: .app)
            let settings = try await AdminRequest.body(
                AppRequest.self, of: request, keys: AppRequest.changeableKeys)
            try settings.validate()
            if let wanted = try settings.wantedCompatibility(), let app = try await context.store.app(id),
                app.compatibility != wanted
            {
                throw AdminError.conflict(
                    "fixed_at_creation",
                    "app \(id) was created with compatibility \(app.compatibility.rawValue), by which the copies that its "
                        + "clients hold are built; create another app with compatibility \(wanted.rawValue)")
            }
            let app = try await context.store.updateApp(id) { settings.apply(to: &$0) }
            await context.notices.send(id)
            return try AdminResponse.json(AppDocument(app))
        }
    }
}

extension CoordinatorContext {
    /// - Throws: `not_found`.
    func app(_ id: String) async throws -> AppRecord {
        guard let app = try await store.app(id) else { throw AdminError.notFound("app \(id)") }
        return app
    }

    /// - Throws: `not_found`.
    func campaign(_ id: String) async throws -> CampaignSummary {
        guard let campaign = try await store.campaign(id) else { throw AdminError.notFound("campaign \(id)") }
        return campaign
    }
}
