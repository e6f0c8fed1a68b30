import AdminAPI
import ArgumentParser
import Changesets
import NIOHTTP1
import SyncModel

struct AppsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apps", abstract: "Create apps, show them, change their settings and delete them.",
        subcommands: [
            AppsList.self, AppsShow.self, AppsSchema.self, AppsQuotas.self, AppsCreate.self, AppsSet.self,
            AppsMigrate.self, AppsDelete.self,
            AppsDeletions.self,
        ],
        defaultSubcommand: AppsList.self)
}

/// The settings of an app that can be given when it is created and changed afterwards.
struct AppSettingOptions: ParsableArguments {
    @Flag(inversion: .prefixedNo, help: "Clients may add classes and properties.")
    var developmentMode: Bool?
    @Flag(inversion: .prefixedNo, help: "Clients may recover unsynced changes in a reset.")
    var clientRecovery: Bool?
    @Option(help: "Days that a client may be away before it must reset, 1 to 3650.")
    var maxOfflineDays: Int?
    @Flag(inversion: .prefixedNo, help: "Anybody may log in without an account.")
    var anonymousLogin: Bool?
    @Flag(inversion: .prefixedNo, help: "People may register and log in with e-mail and password.")
    var emailPasswordLogin: Bool?
    @Option(help: "What becomes of the copy of a client that may not read its partition: keep (the default) or delete.")
    var onReadDenied: String?
    @Option(
        help: """
            What becomes of what a client has written without the right to: discard (the default; the client downloads a fresh \
            copy) or error (its session ends).
            """)
    var onWriteDenied: String?
    @Option(
        help: ArgumentHelp(
            """
            In flexible mode, the schema versions that clients' configurations may name, such as 1-3, or any (the default). A \
            client whose copy was made with another one of them begins anew; one that names none of them is refused.
            """, valueName: "versions"))
    var schemaVersions: String?
    @Option(
        help: """
            What is told of the app's changes to those who follow it: off (the default), keys (what has changed, by key) or documents \
            (the whole document after each change as well).
            """)
    var changeFeed: String?
    @Option(
        help: ArgumentHelp(
            "What the app or one user of it may have or do, such as userSockets=50, or userSockets=default: see `sluice apps quotas`.",
            valueName: "name=value"))
    var quota: [String] = []

    func body(
        id: String? = nil, syncMode: String? = nil, compatibility: PeerCompatibility? = nil, rules: JSONValue? = nil
    ) throws -> AppRequest {
        AppRequest(
            id: id, syncMode: syncMode, compatibility: compatibility?.rawValue, developmentMode: developmentMode,
            clientRecovery: clientRecovery, maxOfflineDays: maxOfflineDays, anonymousLogin: anonymousLogin,
            emailPasswordLogin: emailPasswordLogin, onReadDenied: onReadDenied, onWriteDenied: onWriteDenied,
            schemaVersions: schemaVersions, changeFeed: changeFeed, quotas: try quotas(), rules: rules)
    }

    private func quotas() throws -> [String: Int?]? {
        guard !quota.isEmpty else { return nil }
        var values: [String: Int?] = [:]
        for text in quota {
            let parts = text.split(separator: "=", maxSplits: 1)
            let value = parts.last.flatMap { Int($0) }
            guard parts.count == 2, value != nil || parts[1] == "default" else {
                throw ValidationError("--quota: expected NAME=NUMBER or NAME=default, found \(text)")
            }
            values.updateValue(value, forKey: String(parts[0]))
        }
        return values
    }
}

struct AppsList: AdminCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List the apps.")
    @OptionGroup var common: ReportOptions

    func run(_ admin: AdminClient) async throws {
        let apps = try await (admin.ask(AdminRoute.apps.path()) as AppList).apps
        if apps.isEmpty, !output.json {
            Printing.note("no apps yet; make one with: sluice apps create NAME --rules open")
        }
        try output.show(apps, table(of: apps))
    }
}

struct AppsShow: AdminCommand {
    static let configuration = CommandConfiguration(commandName: "show", abstract: "Show one app.")
    @OptionGroup var common: ReportOptions
    @Argument(help: "The app's id.", completion: .apps) var app: String

    func run(_ admin: AdminClient) async throws {
        let document: AppDocument = try await admin.ask(AdminRoute.app.path(app))
        try output.show(
            document,
            "\(table(of: [document]).rendered())\n\((document.users ?? 0).counted("user"))\n\(document.trafficText)\nrules: \(document.accessText)"
        )
    }
}

struct AppsSchema: AdminCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema", abstract: "Show the classes and properties that an app's clients have declared.",
        discussion: "With development mode off, clients may not add to them.")
    @OptionGroup var common: ReportOptions
    @Argument(help: "The app's id.", completion: .apps) var app: String

    func run(_ admin: AdminClient) async throws {
        let document: SchemaDocument = try await admin.ask(AdminRoute.schema.path(app))
        if document.classes.isEmpty, !output.json {
            return Printing.note("no client of app \(app) has declared a class yet")
        }
        let rows = document.classes.flatMap { declared in
            [[declared.name, "", declared.type]] + declared.properties.map { ["", $0.name, $0.type] }
        }
        try output.show(document, Table("CLASS", "PROPERTY", "TYPE", rows: rows))
    }
}

struct AppsQuotas: AdminCommand {
    static let configuration = CommandConfiguration(
        commandName: "quotas", abstract: "Show what an app and each of its users may have and do, and what is used.",
        discussion: "Change them with `sluice apps set APP --quota NAME=VALUE`.")
    @OptionGroup var common: ReportOptions
    @Argument(help: "The app's id.", completion: .apps) var app: String

    func run(_ admin: AdminClient) async throws {
        let list: QuotaList = try await admin.ask(AdminRoute.quotas.path(app))
        let rows = list.quotas.map { entry in
            [entry.quota, "\(entry.limit)", entry.from, entry.used.map { "\($0)" } ?? "-", entry.counts]
        }
        try output.show(list.quotas, Table("QUOTA", "LIMIT", "FROM", "USED", "COUNTS", rows: rows))
    }
}

struct AppsCreate: AdminCommand {
    static let configuration = CommandConfiguration(
        commandName: "create", abstract: "Create an app; its sync is enabled.",
        discussion:
            "Nobody may read or write before it has rules: give them with --rules, or later with `sluice rules set`.")
    @OptionGroup var common: ReportOptions
    @OptionGroup var settings: AppSettingOptions
    @Argument(help: "Its id: lower-case letters, digits, - and _, as the clients name it.") var app: String
    @Option(help: "partition or flexible (docs/flexible.md).") var syncMode: String?
    @Option(
        help: """
            Who may come, for good: stockClients (any Realm client; the default) or convergent (only Sluice's own SDK, \
            whose copies end equal in every case).
            """)
    var compatibility: PeerCompatibility?
    @Option(help: ArgumentHelp("Who may read and write what: \(RulesArgument.help)."))
    var rules: RulesArgument?

    func run(_ admin: AdminClient) async throws {
        let body = try settings.body(
            id: app, syncMode: syncMode, compatibility: compatibility, rules: try rules?.load())
        let shown: AppDocument = try await admin.ask(AdminRoute.apps.path(), .POST, body: body)
        try output.show(shown, "app \(shown.id) created, sync enabled; \(shown.accessText)")
        if shown.rulesVersion == 0, !output.json { Printing.note("set some with: sluice rules set \(shown.id) open") }
    }
}

struct AppsSet: AdminCommand {
    static let configuration = CommandConfiguration(commandName: "set", abstract: "Change an app's settings.")
    @OptionGroup var common: ReportOptions
    @OptionGroup var settings: AppSettingOptions
    @Argument(help: "The app's id.", completion: .apps) var app: String

    func run(_ admin: AdminClient) async throws {
        let shown: AppDocument = try await admin.ask(AdminRoute.app.path(app), .PATCH, body: try settings.body())
        try output.show(shown, table(of: [shown]))
    }
}

private func table(of apps: [AppDocument]) -> Table {
    Table(
        "APP", "MODE", "COMPATIBILITY", "SYNC", "GENERATION", "DEVELOPMENT", "RECOVERY", "OFFLINE DAYS", "LOGINS",
        "SESSIONS", "IN/S",
        rows: apps.map { app in
            let logins = [app.anonymousLogin ? "anonymous" : nil, app.emailPasswordLogin ? "email" : nil]
                .compactMap { $0 }
            return [
                app.id, app.syncMode, app.compatibility ?? "stockClients", app.syncState, "\(app.generation)",
                app.developmentMode ? "on" : "off", app.clientRecovery ? "on" : "off", "\(app.maxOfflineDays)",
                logins.isEmpty ? "none" : logins.joined(separator: ","), (app.traffic?.sessions).cell,
                (app.traffic.map { Printing.rate($0.changesetsPerSecond) }).cell,
            ]
        })
}

extension AppDocument {
    /// What the app's clients do, in a sentence.
    fileprivate var trafficText: String {
        guard let traffic else { return "what its clients do is not known: not every gateway tells" }
        return
            "\(traffic.sessions.counted("session")); a second \(Printing.rate(traffic.changesetsPerSecond)) changesets, "
            + "\(Printing.rate(traffic.uploadBytesPerSecond)) bytes of them, and "
            + "\(Printing.rate(traffic.downloadBytesPerSecond)) bytes to clients"
    }

    /// What is in force, in a sentence.
    fileprivate var accessText: String { access ?? "this coordinator knows no rules: everybody may read and write" }
}

extension PeerCompatibility: ExpressibleByArgument {}
