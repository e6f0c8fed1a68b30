import AdminAPI
import ArgumentParser
import NIOHTTP1

struct KeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys", abstract: "Show the keys that sign users' tokens, and make new ones.",
        subcommands: [KeysList.self, KeysRotate.self], defaultSubcommand: KeysList.self)
}

struct KeysList: AdminCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the signing keys, without what they sign with.")
    @OptionGroup var common: ReportOptions

    func run(_ admin: AdminClient) async throws {
        let keys = try await (admin.ask(AdminRoute.keys.path()) as KeyList).keys
        try output.show(keys, table(of: keys))
    }
}

struct KeysRotate: AdminCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate", abstract: "Make new signing keys; every gateway signs with them at once.",
        discussion: "Nobody is logged out: what the old keys signed stays valid for as long as it would have been.")
    @OptionGroup var common: ReportOptions
    @Option(help: "access or refresh; both if left out.") var purpose: String?

    func run(_ admin: AdminClient) async throws {
        let body = KeyRotationRequest(purpose: purpose)
        let keys = try await (admin.ask(AdminRoute.rotateKeys.path(), .POST, body: body) as KeyList).keys
        try output.show(keys, table(of: keys))
    }
}

private func table(of keys: [KeyDocument]) -> Table {
    Table(
        "KEY", "PURPOSE", "AGE", "USE",
        rows: keys.map { key in
            let until = key.verifiesUntil.map { "verifies until \(Printing.time(ofUnixMilliseconds: $0))" }
            return [key.id, key.purpose, Printing.age(ofUnixMilliseconds: key.createdAt), until ?? "signs"]
        })
}
