import AdminAPI
import Changesets
import Hummingbird
import Rules
import Storage
import SyncModel

/// `apps`: create, list, show and change.
struct AppRoutes: Sendable {
    let context: CoordinatorContext

    func add(to group: RouterGroup<AdminRequestContext>) {
        group.answer(.get, .apps) { _, _ in
            let now = context.now
            return AppList(
                apps: try await context.store.apps().map { app in
                    var document = AppDocument(app)
                    document.traffic = context.state.traffic(of: app.id, at: now)
                    return document
                })
        }
        group.on(.post, .apps) { request, _ in
            let new = try await AdminRequest.body(AppRequest.self, of: request, limit: AdminLimits.rulesBody)
            let app = try new.record(at: context.now)
            // Without rules it opens nothing, in development mode neither.
            let rules = try new.rules.map { try RulesCheck($0).accepted() }
            try await context.store.insert(app, rules: rules.map { context.change(to: $0) })
            await context.notices.send(app.id)
            return try AdminResponse.json(try await context.document(of: app.id), status: .created)
        }
        group.answer(.get, .app) { _, route in
            let id = try route.value(of: .app)
            var document = try await context.document(of: id)
            document.users = try await context.store.userCount(app: id)
            document.traffic = context.state.traffic(of: id, at: context.now)
            return document
        }
        group.answer(.get, .quotas) { try await quotas(of: try await context.app($1.value(of: .app))) }
        group.answer(.patch, .app) { request, route in
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
            if let versions = settings.schemaVersions, versions != AppRequest.anySchema,
                try await context.store.app(id)?.syncMode == .partition
            {
                throw AdminError.invalid(
                    "schemaVersions: app \(id) uses partition sync, whose clients do not say their schema version")
            }
            let denials = try settings.wantedDenials()
            let (feed, now) = (try settings.wantedChangeFeed(), context.now)
            let app = try await context.store.updateApp(id) { app in
                settings.apply(to: &app)
                if let feed { app.changeFeed.set(feed, at: now) }
                denials.apply(to: &app)
            }
            await context.notices.send(id)
            return AppDocument(app)
        }
    }

    private func quotas(of app: AppRecord) async throws -> QuotaList {
        let usage = try await usage(of: app.id)
        return QuotaList(
            quotas: Quota.allCases.map { quota in
                let used =
                    switch quota {
                    case .realms: usage?.realms
                    case .clientFiles: usage?.clientFiles
                    case .bytes: usage?.bytes
                    default: Int?.none
                    }
                return .init(quota, of: app, by: context.configuration.quotas, used: used)
            })
    }

    /// The most that a slice has; nil where the slices' stores cannot be read.
    private func usage(of app: String) async throws -> AppUsage? {
        guard let stores = await context.stores() else { return nil }
        var most = AppUsage()
        for slice in stores.stored {
            let usage = try await stores.inspector.reader(for: slice).usage(ofApp: app)
            most.realms = max(most.realms, usage.realms)
            most.clientFiles = max(most.clientFiles, usage.clientFiles)
            most.bytes = max(most.bytes, usage.bytes)
        }
        return most
    }
}

extension CoordinatorContext {
    /// An app with what its rules say.
    /// - Throws: `not_found`.
    fileprivate func document(of id: String) async throws -> AppDocument {
        let app = try await app(id)
        return AppDocument(app, access: try await access(to: app))
    }

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
