import AdminAPI
import ArgumentParser
import Foundation
import NIOHTTP1
import SyncModel

struct UsersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "users",
        abstract: "List an app's users, shut them out, let them in, and say what rules know of them.",
        subcommands: [
            UsersList.self, UsersShow.self, UsersDisable.self, UsersEnable.self, UsersCustomData.self,
            UsersRevoke.self, UsersDelete.self,
        ])
}

private func table(of users: [UserDocument]) -> Table {
    Table(
        "USER", "EMAIL", "PROVIDERS", "STATE", "CREATED", "CUSTOM DATA",
        rows: users.map { user in
            [
                user.id, (user.email?.oneLine).cell,
                user.identities.map(\.provider).joined(separator: ",").oneLine,
                user.isDisabled ? "disabled" : "enabled", Printing.time(ofUnixMilliseconds: user.createdAt),
                user.customData.map { JSONWriter.bytes(of: $0).count.counted("byte") } ?? "-",
            ]
        })
}

struct UsersList: AdminCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List an app's users by their ids, a page at a time.")
    @OptionGroup var common: ReportOptions
    @Argument(help: "The app's id.", completion: .apps) var app: String
    @Option(help: "At most so many, 1 to 1000.") var limit = 100
    @Option(help: "Only users after this id, as the page before said.") var after: String?

    func run(_ admin: AdminClient) async throws {
        let path = AdminRoute.users.path(app, query: [(.limit, "\(limit)"), (.after, after)])
        let list: UserList = try await admin.ask(path)
        try output.show(list, table(of: list.users))
        if let next = list.next, !output.json {
            Printing.note("there are more: sluice users list \(app) --after \(next)")
        }
    }
}

/// A user of an app, as most commands name one.
struct UserArguments: ParsableArguments {
    @Argument(help: "The app's id.", completion: .apps) var app: String
    @Argument(help: "The user's id.") var user: String
}

struct UsersShow: AdminCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show one user with its custom data.")
    @OptionGroup var common: ReportOptions
    @OptionGroup var named: UserArguments

    func run(_ admin: AdminClient) async throws {
        let user: UserDocument = try await admin.ask(AdminRoute.user.path(named.app, named.user))
        var text = table(of: [user]).rendered()
        if let data = user.customData { text += "\ncustom data: \(JSONWriter.text(of: data))" }
        try output.show(user, text)
    }
}

struct UsersDisable: AdminCommand {
    static let configuration = CommandConfiguration(
        commandName: "disable", abstract: "Shut a user out, open sessions as well.")
    @OptionGroup var common: ReportOptions
    @OptionGroup var named: UserArguments

    func run(_ admin: AdminClient) async throws {
        let user: UserDocument = try await admin.ask(
            AdminRoute.disableUser.path(named.app, named.user), .POST, body: EmptyRequest())
        try output.show(user, "user \(user.id) is disabled")
    }
}

struct UsersEnable: AdminCommand {
    static let configuration = CommandConfiguration(commandName: "enable", abstract: "Let a disabled user in again.")
    @OptionGroup var common: ReportOptions
    @OptionGroup var named: UserArguments

    func run(_ admin: AdminClient) async throws {
        let user: UserDocument = try await admin.ask(
            AdminRoute.enableUser.path(named.app, named.user), .POST, body: EmptyRequest())
        try output.show(user, "user \(user.id) is enabled")
    }
}

struct UsersCustomData: AdminCommand {
    static let configuration = CommandConfiguration(
        commandName: "custom-data",
        abstract: "Set a user's custom data: what rules see as %%user.custom_data, and the user's clients read.",
        discussion: "Clients cannot write it. Rules are evaluated anew for the user's open sessions; clients "
            + "have it with their next access token, if it takes no more than 4 KiB there, and else in the profile alone."
    )
    @OptionGroup var common: ReportOptions
    @OptionGroup var named: UserArguments
    @Argument(help: "A JSON object, or - for standard input.") var json: String?
    @Flag(help: "Take it away.") var clear = false

    func validate() throws {
        if (json == nil) != clear { throw ValidationError("give a JSON object, or --clear") }
    }

    func run(_ admin: AdminClient) async throws {
        let user: UserDocument = try await admin.ask(
            AdminRoute.customData.path(named.app, named.user), .PUT,
            body: CustomDataRequest(customData: try json.map(Self.parse)))
        try output.show(
            user, "custom data of user \(user.id): \(user.customData.map { JSONWriter.text(of: $0) } ?? "none")")
    }

    private static func parse(_ argument: String) throws -> JSONValue {
        var text = argument
        if argument == "-" {
            let data = try FileHandle.standardInput.read(upToCount: AdminLimits.body) ?? Data()
            text = String(decoding: data, as: UTF8.self)
        }
        return try JSONValue(parsing: Data(text.utf8), of: "custom data")
    }
}

struct UsersRevoke: AdminCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Revoke the logins of a user, or of all users of an app: they must log in again.",
        discussion: "With --all it says how many that concerns, and wants the app's id typed, or --yes.")
    @OptionGroup var common: ReportOptions
    @OptionGroup var confirmation: ConfirmationOptions
    @Argument(help: "The app's id.", completion: .apps) var app: String
    @Argument(help: "The user's id.") var user: String?
    @Flag(help: "All users of the app.") var all = false

    func validate() throws {
        if (user == nil) != all { throw ValidationError("name a user, or give --all") }
    }

    func run(_ admin: AdminClient) async throws {
        if all || confirmation.dryRun {
            let concerned = try await concerned(admin)
            if confirmation.dryRun {
                return try output.show(
                    concerned, "dry run: \(concerned.users.counted("user")) would have to log in again")
            }
            try confirmation.require(
                typed: app, "revoking the logins of all users of app \(app) (\(concerned.users.counted("user")))")
        }
        let path = user.map { AdminRoute.revokeUser.path(app, $0) } ?? AdminRoute.revokeUsers.path(app)
        let answer: RevocationAnswer = try await admin.ask(path, .POST, body: EmptyRequest())
        try output.show(answer, "\(answer.revoked.counted("login")) revoked")
    }

    /// The users that a dry run tells of.
    private struct Concerned: Encodable {
        var app: String
        var user: String?
        var users: Int
    }

    private func concerned(_ admin: AdminClient) async throws -> Concerned {
        if let user {
            let found: UserDocument = try await admin.ask(AdminRoute.user.path(app, user))
            return Concerned(app: app, user: found.id, users: 1)
        }
        let document: AppDocument = try await admin.ask(AdminRoute.app.path(app))
        return Concerned(app: app, users: document.users ?? 0)
    }
}

struct UsersDelete: AdminCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Delete a user with its logins and its address; what it has synced stays.",
        discussion: """
            With --with-realm the realms go as well that are the user's own by the app's rules: those of the \
            partition that is the user's id, if nobody else may open it. What the user has written to shared realms \
            stays.
            """)
    @OptionGroup var common: ReportOptions
    @OptionGroup var confirmation: ConfirmationOptions
    @OptionGroup var named: UserArguments
    @Flag(help: "Erase the realms that are the user's own, too.") var withRealm = false

    func run(_ admin: AdminClient) async throws {
        let realms: [(AdminQuery, String?)] = [(.withRealm, withRealm ? "true" : nil)]
        if confirmation.dryRun || (withRealm && !confirmation.yes) {
            let plan: ErasurePlan = try await admin.ask(
                AdminRoute.user.path(named.app, named.user, query: realms + [(.dryRun, "true")]), .DELETE)
            if confirmation.dryRun {
                return try output.show(plan, "would delete user \(named.user)" + (withRealm ? " and \(plan.text)" : ""))
            }
            try confirmation.require(typed: named.user, "deleting user \(named.user) and \(plan.text)")
        } else {
            try confirmation.require(typed: named.user, "deleting user \(named.user)")
        }
        let removal: UserRemoval = try await admin.ask(
            AdminRoute.user.path(named.app, named.user, query: realms), .DELETE)
        try output.show(removal, "user \(removal.user) deleted")
        for campaign in removal.erasures ?? [] where !output.json {
            Printing.note("its realm is erased: sluice campaigns show \(campaign)")
        }
    }
}
