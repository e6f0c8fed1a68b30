import AdminAPI
import Changesets
import Storage
import SyncModel

extension AppDocument {
    init(_ app: AppRecord, users: Int? = nil, access: String? = nil) {
        self.init(app, compatibility: app.compatibility.rawValue, users: users, access: access)
    }
}

extension ClientRealmCursor {
    /// `<client file>.<partition in hexadecimal>`: safe in a URL.
    var text: String {
        "\(clientFile).\(HexBytes(Array(partition.utf8)).hex)"
    }

    init?(text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let file = UInt64(parts[0]), let partition = HexBytes(hex: parts[1]) else { return nil }
        self.init(partition: String(decoding: partition.bytes, as: UTF8.self), clientFile: FileIdent(file))
    }
}

// MARK: - Requests

extension AppRequest {
    /// The new app.
    func record(at now: UInt64) throws(AdminError) -> AppRecord {
        guard let id else { throw .invalid("the key \"id\" is missing") }
        guard AdminRequest.isPlainName(id) else {
            throw .invalid("id: expected 1 to 64 lower-case letters, digits, - and _")
        }
        try validate()
        var app = AppRecord(
            id: id, syncMode: try AdminRequest.value(syncMode, called: "syncMode") ?? .partition,
            compatibility: try wantedCompatibility() ?? .stockClients, createdAt: now)
        try wantedDenials().apply(to: &app)
        if let feed = try wantedChangeFeed() { app.changeFeed.set(feed, at: now) }
        apply(to: &app)
        return app
    }

    /// What is to become of copies without the right to be.
    func wantedDenials() throws(AdminError) -> DenialSettings {
        DenialSettings(
            onReadDenied: try AdminRequest.value(onReadDenied, called: "onReadDenied"),
            onWriteDenied: try AdminRequest.value(onWriteDenied, called: "onWriteDenied"))
    }

    /// What is to be told of the app's changes; nil: as before.
    func wantedChangeFeed() throws(AdminError) -> ChangeFeedSetting.Mode? {
        try AdminRequest.value(changeFeed, called: "changeFeed")
    }

    func wantedCompatibility() throws(AdminError) -> PeerCompatibility? {
        try AdminRequest.value(compatibility, called: "compatibility")
    }

    func validate() throws(AdminError) {
        let days = AdminLimits.maxOfflineDays
        if let maxOfflineDays, !days.contains(maxOfflineDays) {
            throw .invalid(
                "maxOfflineDays: expected \(days.lowerBound) to \(days.upperBound), found \(maxOfflineDays)")
        }
        if let schemaVersions, schemaVersions != Self.anySchema, SchemaVersionRange(schemaVersions) == nil {
            throw .invalid(
                "schemaVersions: expected a version, two with - in between, or any; found \(schemaVersions.prefix(40))")
        }
        for (name, value) in quotas ?? [:] {
            guard let quota = Quota(rawValue: name) else {
                throw .invalid(
                    "quotas: there is no quota \(name); expected \(Quota.allCases.map(\.rawValue).joined(separator: ", "))"
                )
            }
            if let value, !quota.bounds.contains(value) {
                throw .invalid(
                    "quotas.\(name): expected \(quota.bounds.lowerBound) to \(quota.bounds.upperBound), found \(value)")
            }
        }
    }

    /// Nobody looks at clients' schema versions.
    static let anySchema = "any"

    /// Changes the settings that may be changed at any time.
    func apply(to app: inout AppRecord) {
        app.developmentMode = developmentMode ?? app.developmentMode
        app.clientRecovery = clientRecovery ?? app.clientRecovery
        app.maxOfflineDays = maxOfflineDays ?? app.maxOfflineDays
        app.anonymousLogin = anonymousLogin ?? app.anonymousLogin
        app.emailPasswordLogin = emailPasswordLogin ?? app.emailPasswordLogin
        if let schemaVersions { app.clientSchemas = SchemaVersionRange(schemaVersions) }
        for (name, value) in quotas ?? [:] { if let quota = Quota(rawValue: name) { app.quotas[quota] = value } }
    }
}

/// What a request says of copies that lack a right; nil: nothing.
struct DenialSettings: Sendable {
    var onReadDenied: AppRecord.OnReadDenied?
    var onWriteDenied: AppRecord.OnWriteDenied?

    func apply(to app: inout AppRecord) {
        app.onReadDenied = onReadDenied ?? app.onReadDenied
        app.onWriteDenied = onWriteDenied ?? app.onWriteDenied
    }
}
