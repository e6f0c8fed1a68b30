import AdminAPI
import ArgumentParser
import NIOHTTP1
import Storage

struct AccessCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "admin", abstract: "Say who may use the admin API.", subcommands: [AdminTokensCommand.self])
}

struct AdminTokensCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tokens", abstract: "Make admin tokens for people and programs, and revoke them.",
        subcommands: [AdminTokensList.self, AdminTokensCreate.self, AdminTokensRevoke.self],
        defaultSubcommand: AdminTokensList.self)
}

struct AdminTokensList: AdminCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the admin tokens that were made by command, without the tokens.")
    @OptionGroup var common: ReportOptions

    func run(_ admin: AdminClient) async throws {
        let tokens = try await (admin.ask(AdminRoute.tokens.path()) as AdminTokenList).tokens
        let rows = tokens.map { token in
            [token.name, token.role.rawValue, Printing.time(ofUnixMilliseconds: token.createdAt), token.createdBy]
        }
        try output.show(tokens, Table("NAME", "ROLE", "CREATED", "BY", rows: rows))
    }
}

struct AdminTokensCreate: AdminCommand {
    static let configuration = CommandConfiguration(
        commandName: "create", abstract: "Make an admin token, and print it: it is not shown again.")
    @OptionGroup var common: ReportOptions
    @Argument(help: "Whose it is: lower-case letters, digits, - and _. The audit log says it.") var name: String
    @Option(
        help: """
            read (look at everything), operate (also change apps, sync and users) or own (also make admin tokens and \
            signing keys, and delete apps).
            """)
    var role: String

    func run(_ admin: AdminClient) async throws {
        let body = AdminTokenRequest(name: name, role: role)
        let made: AdminTokenDocument = try await admin.ask(AdminRoute.tokens.path(), .POST, body: body)
        try output.show(made, made.token ?? "")
        if !output.json { Printing.note("give it as SLUICE_ADMIN_TOKEN; it is not shown again") }
    }
}

struct AdminTokensRevoke: AdminCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke", abstract: "Revoke an admin token: it opens nothing from now on.",
        discussion: "Says first which token that is, and wants its name typed, or --yes.")
    @OptionGroup var common: ReportOptions
    @OptionGroup var confirmation: ConfirmationOptions
    @Argument(help: "Its name.") var name: String

    func run(_ admin: AdminClient) async throws {
        if confirmation.dryRun || !confirmation.yes {
            let tokens = try await (admin.ask(AdminRoute.tokens.path()) as AdminTokenList).tokens
            guard let token = tokens.first(where: { $0.name == name }) else {
                throw CommandFailure(.notFound, "there is no admin token \(name)")
            }
            let made = Printing.time(ofUnixMilliseconds: token.createdAt)
            let text =
                "revoking admin token \(name) (role \(token.role.rawValue), made by \(token.createdBy) at \(made))"
            if confirmation.dryRun { return try output.show(token, "dry run: \(text)") }
            try confirmation.require(typed: name, text)
        }
        try await admin.tell(AdminRoute.token.path(name), .DELETE)
        try output.show(["revoked": name], "admin token \(name) revoked")
    }
}

struct AuditCommand: AdminCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit", abstract: "Show what has changed something, by requests and through queues, newest first."
    )
    @OptionGroup var common: ReportOptions
    @Option(help: "The most entries to show, 1 to 1000.") var limit = 50
    @Option(help: "Only entries before this number: where the last page ended.") var after: Int64?

    func run(_ admin: AdminClient) async throws {
        let page: AuditList = try await admin.ask(
            AdminRoute.audit.path(query: [(.limit, "\(limit)"), (.after, after.map(String.init))]))
        let rows = page.entries.map { entry in
            [
                "\(entry.number)", Printing.time(ofUnixMilliseconds: entry.at), entry.token, entry.role.rawValue,
                entry.address.cell.oneLine, entry.status.cell, entry.method, entry.path,
                [entry.dryRun == true ? "dry run" : nil, entry.details].compactMap(\.self).joined(separator: "; ")
                    .oneLine,
            ]
        }
        try output.show(
            page, Table("NUMBER", "TIME", "TOKEN", "ROLE", "FROM", "STATUS", "METHOD", "PATH", "DETAILS", rows: rows))
        if let next = page.next, !output.json { Printing.note("older ones: sluice audit --after \(next)") }
    }
}
