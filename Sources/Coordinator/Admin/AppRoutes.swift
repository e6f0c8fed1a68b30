import AdminAPI
import Changesets
import Hummingbird
import Storage

/// `apps`: create, list, show and change.
struct AppRoutes: Sendable {
    let store: any ControlStore
    let notices: SettingsNotifier
    let clock: WallClock

    func add(to group: RouterGroup<BasicRequestContext>) {
        group.get(.apps) { _, _ in
            try AdminResponse.json(AppList(apps: try await store.apps().map { AppDocument($0) }))
        }
        group.post(.apps) { request, _ in
            let new = try await AdminRequest.body(AppRequest.self, of: request)
            let app = try new.record(at: clock.now())
            try await store.insert(app)
            await notices.send(app.id)
            return try AdminResponse.json(AppDocument(app), status: .created)
        }
        group.get(.app) { _, context in
            let id = try context.value(of: .app)
            guard let app = try await store.app(id) else { throw AdminError.notFound("app \(id)") }
            return try AdminResponse.json(AppDocument(app, users: try await store.userCount(app: id)))
        }
        group.get(.schema) { _, context in
            let id = try context.value(of: .app)
            guard try await store.app(id) != nil else { throw AdminError.notFound("app \(id)") }
            return try AdminResponse.json(SchemaDocument(try await store.schema(ofApp: id)))
        }
        group.patch(.app) { request, context in
            let id = try context.value(of: .app)
            let settings = try await AdminRequest.body(
                AppRequest.self, of: request, keys: AppRequest.changeableKeys)
            try settings.validate()
            if let wanted = try settings.wantedCompatibility(), let app = try await store.app(id),
                app.compatibility != wanted
            {
                throw AdminError.conflict(
                    "fixed_at_creation",
                    "app \(id) was created with compatibility \(app.compatibility.rawValue), by which the copies that its "
                        + "clients hold are built; create another app with compatibility \(wanted.rawValue)")
            }
            let app = try await store.updateApp(id) { settings.apply(to: &$0) }
            await notices.send(id)
            return try AdminResponse.json(AppDocument(app))
        }
    }
}
