import AdminAPI
import ArgumentParser
import Foundation
import NIOHTTP1
import Storage

struct LoginsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "logins", abstract: "Show and set how an app's users log in with API keys and custom tokens.",
        discussion: "Anonymous logins and passwords are settings of the app: sluice apps set.",
        subcommands: [LoginsShow.self, LoginsSet.self, LoginsRemove.self], defaultSubcommand: LoginsShow.self)
}

struct LoginsShow: AdminCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show how an app's users log in with API keys and custom tokens.")
    @OptionGroup var common: ReportOptions
    @Argument(help: "The app's id.", completion: .apps) var app: String

    func run(_ admin: AdminClient) async throws {
        try output.show(try await admin.ask(AdminRoute.logins.path(app)))
    }
}

struct LoginsSet: AdminCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Let an app's users log in so.",
        discussion: "docs/admin-api.md has what the file for custom-token says.")
    @OptionGroup var common: ReportOptions
    @Argument(help: "The app's id.", completion: .apps) var app: String
    @Argument(help: "api-key, custom-token or local-userpass (what mails prove of accounts with passwords).")
    var provider: LoginProvider
    @Option(help: "A JSON file of its settings; - is standard input. api-key has none.") var file: String?
    @Option(help: "Of custom-token with HS256: a file with the secret alone, so that it stands in no other.")
    var secretFile: String?

    func run(_ admin: AdminClient) async throws {
        let path = AdminRoute.login.path(app, provider.rawValue)
        switch provider {
        case .apiKey: try output.show(try await admin.ask(path, .PUT, body: EmptyRequest()))
        case .customToken:
            var settings: TokenLoginSettings = try settings()
            if let secretFile { settings.secret = try secret(in: secretFile) }
            try output.show(try await admin.ask(path, .PUT, body: settings))
        case .emailPassword:
            let settings: EmailLoginSettings = try settings()
            try output.show(try await admin.ask(path, .PUT, body: settings))
        }
    }

    private func secret(in file: String) throws -> String {
        guard let data = FileManager.default.contents(atPath: file),
            let text = String(validating: data, as: UTF8.self)
        else { throw CommandFailure(.notFound, "\(file) is no file with text that can be read") }
        return text.trimmingCharacters(in: .newlines)
    }

    private func settings<Settings: Decodable>() throws -> Settings {
        guard let file else { throw CommandFailure(.badInput, "\(provider.rawValue) has settings: name their --file") }
        let data: Data
        do {
            data =
                file == "-"
                ? try FileHandle.standardInput.readToEnd() ?? Data() : try Data(contentsOf: URL(filePath: file))
        } catch {
            throw CommandFailure(.notFound, "\(file) cannot be read: \(error.localizedDescription)")
        }
        do {
            return try JSONDecoder().decode(Settings.self, from: data)
        } catch {
            throw CommandFailure(.badInput, "\(file) holds no settings of \(provider.rawValue): \(error)")
        }
    }
}

struct LoginsRemove: AdminCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Let nobody log in so any more; who is logged in stays so.",
        discussion: "Its settings go, a secret among them: it wants the app's id typed, or --yes.")
    @OptionGroup var common: ReportOptions
    @OptionGroup var confirmation: ConfirmationOptions
    @Argument(help: "The app's id.", completion: .apps) var app: String
    @Argument(help: "api-key, custom-token or local-userpass (what mails prove of accounts with passwords).")
    var provider: LoginProvider

    func run(_ admin: AdminClient) async throws {
        if confirmation.dryRun { return try output.show(try await admin.ask(AdminRoute.logins.path(app))) }
        try confirmation.require(typed: app, "removing \(provider.rawValue) with its settings from app \(app)")
        try output.show(try await admin.ask(AdminRoute.login.path(app, provider.rawValue), .DELETE))
    }
}

extension OutputOptions {
    fileprivate func show(_ logins: LoginList) throws {
        let token = logins.customToken
        let rows = [
            ["api-key", logins.apiKey ? "on" : "off", ""],
            [
                "custom-token", token == nil ? "off" : "on",
                token.map { "\($0.issuer.map { "issuer \($0)" } ?? "any issuer"), \($0.keysInWords)" } ?? "",
            ],
            [
                "local-userpass", logins.emailPassword == nil ? "no mails" : "mails",
                logins.emailPassword.map {
                    "confirming: \($0.confirmURL ?? "no"), new passwords: \($0.resetURL ?? "no")"
                } ?? "",
            ],
        ]
        try show(logins, Table("LOGIN", "STATE", "SETTINGS", rows: rows))
    }
}

extension TokenLoginSettings {
    fileprivate var keysInWords: String {
        if algorithms.contains(.hs256) { return "a secret" }
        return "keys \(jwksURL ?? "\(jwks?.keys.count ?? 0) given")"
    }
}

extension LoginProvider: ExpressibleByArgument {}
