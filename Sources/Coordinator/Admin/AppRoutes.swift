import Changesets
import Hummingbird
import Storage

/// `apps`: create, list, show and change.
struct AppRoutes: Sendable {
    let store: any ControlStore
    let notices: SettingsNotifier
    let clock: WallClock

    func add(to group: RouterGroup<BasicRequestContext>) {
        group.get("apps") { _, _ in
            try AdminResponse.json(AppPage(apps: try await store.apps()))
        }
        group.post("apps") { request, _ in
            let new = try await AdminRequest.body(NewApp.self, of: request, keys: NewApp.keys)
            let app = try new.record(at: clock.now())
            try await store.insert(app)
            await notices.send(app.id)
            return try AdminResponse.json(app, status: .created)
        }
        group.get("apps/:app") { _, context in
            let id = try context.parameters.require("app")
            guard let app = try await store.app(id) else { throw AdminError.notFound("app \(id)") }
            return try AdminResponse.json(AppDocument(app: app, users: try await store.userCount(app: id)))
        }
        group.get("apps/:app/schema") { _, context in
            let id = try context.parameters.require("app")
            guard try await store.app(id) != nil else { throw AdminError.notFound("app \(id)") }
            return try AdminResponse.json(SchemaDocument(try await store.schema(ofApp: id)))
        }
        group.patch("apps/:app") { request, context in
            let id = try context.parameters.require("app")
            let settings = try await AdminRequest.body(
                AppSettings.self, of: request, keys: AppSettings.keys.union(["compatibility"]))
            try settings.validate()
            if let wanted = settings.compatibility, let app = try await store.app(id), app.compatibility != wanted {
                throw AdminError.conflict(
                    "fixed_at_creation",
                    "app \(id) was created with compatibility \(app.compatibility.rawValue), by which the copies that its "
                        + "clients hold are built; create another app with compatibility \(wanted.rawValue)")
            }
            let app = try await store.updateApp(id) { settings.apply(to: &$0) }
            await notices.send(id)
            return try AdminResponse.json(app)
        }
    }
}

/// The settings that may be changed at any time, and the one that is fixed at the creation.
struct AppSettings: Decodable, Sendable {
    static let keys: Set<String> = [
        "developmentMode", "clientRecovery", "maxOfflineDays", "anonymousLogin", "emailPasswordLogin",
    ]

    /// Of a change: what the app is expected to have.
    var compatibility: PeerCompatibility?
    var developmentMode: Bool?
    var clientRecovery: Bool?
    var maxOfflineDays: Int?
    var anonymousLogin: Bool?
    var emailPasswordLogin: Bool?

    func validate() throws(AdminError) {
        if let maxOfflineDays, !(1...3650).contains(maxOfflineDays) {
            throw .invalid("maxOfflineDays: expected 1 to 3650, found \(maxOfflineDays)")
        }
    }

    func apply(to app: inout AppRecord) {
        app.developmentMode = developmentMode ?? app.developmentMode
        app.clientRecovery = clientRecovery ?? app.clientRecovery
        app.maxOfflineDays = maxOfflineDays ?? app.maxOfflineDays
        app.anonymousLogin = anonymousLogin ?? app.anonymousLogin
        app.emailPasswordLogin = emailPasswordLogin ?? app.emailPasswordLogin
    }
}

struct NewApp: Decodable, Sendable {
    static let keys = AppSettings.keys.union(["id", "syncMode", "compatibility"])

    var id: String
    var syncMode: AppRecord.SyncMode?
    var settings: AppSettings

    private enum Key: CodingKey { case id, syncMode }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        id = try container.decode(String.self, forKey: .id)
        syncMode = try container.decodeIfPresent(AppRecord.SyncMode.self, forKey: .syncMode)
        settings = try AppSettings(from: decoder)
    }

    func record(at now: UInt64) throws(AdminError) -> AppRecord {
        let isPlain = id.utf8.allSatisfy {
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_")
        }
        guard isPlain, (1...AppRecord.maxIDBytes).contains(id.utf8.count) else {
            throw .invalid("id: expected 1 to 64 lower-case letters, digits, - and _")
        }
        try settings.validate()
        var app = AppRecord(
            id: id, syncMode: syncMode ?? .partition, compatibility: settings.compatibility ?? .stockClients,
            createdAt: now)
        settings.apply(to: &app)
        return app
    }
}
