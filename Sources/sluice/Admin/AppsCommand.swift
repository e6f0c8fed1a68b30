import AdminAPI
import ArgumentParser
import Changesets
import NIOHTTP1

struct AppsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apps", abstract: "Create apps, show them and change their settings.",
        subcommands: [AppsList.self, AppsShow.self, AppsSchema.self, AppsCreate.self, AppsSet.self],
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

    func body(
        id: String? = nil, syncMode: String? = nil, compatibility: PeerCompatibility? = nil
    ) -> AppRequest {
        AppRequest(
            id: id, syncMode: syncMode, compatibility: compatibility?.rawValue, developmentMode: developmentMode,
            clientRecovery: clientRecovery, maxOfflineDays: maxOfflineDays, anonymousLogin: anonymousLogin,
            emailPasswordLogin: emailPasswordLogin)
    }
}

struct AppsList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List the apps.")
    @OptionGroup var cluster: ClusterOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        try await reportingFailures {
            let list: AppList = try await AdminClient(try await cluster.load()).get(AdminRoute.apps.path())
            if output.json { return try Printing.json(list.apps) }
            if list.apps.isEmpty { Printing.note("no apps yet; make one with: sluice apps create NAME") }
            Printing.line(AppTable.rendered(list.apps))
        }
    }
}

struct AppsShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "show", abstract: "Show one app.")
    @OptionGroup var cluster: ClusterOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "The app's id.") var app: String

    func run() async throws {
        try await reportingFailures {
            let document: AppDocument = try await AdminClient(try await cluster.load()).get(
                AdminRoute.app.path(app))
            if output.json { return try Printing.json(document) }
            Printing.line(AppTable.rendered([document]))
            Printing.line("\(document.users ?? 0) users")
        }
    }
}

struct AppsSchema: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema", abstract: "Show the classes and properties that an app's clients have declared.",
        discussion: "With development mode off, clients may not add to them.")
    @OptionGroup var cluster: ClusterOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "The app's id.") var app: String

    func run() async throws {
        try await reportingFailures {
            let document: SchemaDocument = try await AdminClient(try await cluster.load())
                .get(AdminRoute.schema.path(app))
            if output.json { return try Printing.json(document) }
            if document.classes.isEmpty { return Printing.note("no client of app \(app) has declared a class yet") }
            var table = Table("CLASS", "PROPERTY", "TYPE")
            for declared in document.classes {
                table.row(declared.name, "", declared.type)
                for property in declared.properties { table.row("", property.name, property.type) }
            }
            Printing.line(table.rendered())
        }
    }
}

struct AppsCreate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create", abstract: "Create an app; its sync is enabled.")
    @OptionGroup var cluster: ClusterOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var settings: AppSettingOptions
    @Argument(help: "Its id: lower-case letters, digits, - and _, as the clients name it.") var app: String
    @Option(help: "partition or flexible; only partition sync is served so far.") var syncMode: String?
    @Option(
        help: """
            Who may come, for good: stockClients (any Realm client; the default) or convergent (only Sluice's own SDK, \
            whose copies end equal in every case).
            """)
    var compatibility: PeerCompatibility?

    func run() async throws {
        try await reportingFailures {
            let shown: AppDocument = try await AdminClient(try await cluster.load()).send(
                .POST, AdminRoute.apps.path(),
                body: settings.body(id: app, syncMode: syncMode, compatibility: compatibility))
            output.json ? try Printing.json(shown) : Printing.line("app \(shown.id) created, sync enabled")
        }
    }
}

struct AppsSet: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "set", abstract: "Change an app's settings.")
    @OptionGroup var cluster: ClusterOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var settings: AppSettingOptions
    @Argument(help: "The app's id.") var app: String

    func run() async throws {
        try await reportingFailures {
            let shown: AppDocument = try await AdminClient(try await cluster.load()).send(
                .PATCH, AdminRoute.app.path(app), body: settings.body())
            output.json ? try Printing.json(shown) : Printing.line(AppTable.rendered([shown]))
        }
    }
}

enum AppTable {
    static func rendered(_ apps: [AppDocument]) -> String {
        var table = Table(
            "APP", "MODE", "COMPATIBILITY", "SYNC", "GENERATION", "DEVELOPMENT", "RECOVERY", "OFFLINE DAYS", "LOGINS")
        for app in apps {
            let logins = [app.anonymousLogin ? "anonymous" : nil, app.emailPasswordLogin ? "email" : nil]
                .compactMap { $0 }
            table.row(
                app.id, app.syncMode, app.compatibility ?? "stockClients", app.syncState, "\(app.generation)",
                app.developmentMode ? "on" : "off", app.clientRecovery ? "on" : "off", "\(app.maxOfflineDays)",
                logins.isEmpty ? "none" : logins.joined(separator: ","))
        }
        return table.rendered()
    }
}

extension PeerCompatibility: ExpressibleByArgument {}
