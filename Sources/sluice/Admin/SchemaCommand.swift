import AdminAPI
import ArgumentParser
import NIOHTTP1

struct SchemaCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema", abstract: "Take unused classes and properties of an app back.",
        discussion: "`sluice apps schema APP` shows what an app's clients have declared.",
        subcommands: [SchemaPrune.self])
}

struct SchemaPrune: AdminCommand {
    static let configuration = CommandConfiguration(
        commandName: "prune", abstract: "Take back the classes and properties that no object uses.",
        discussion: """
            Clients that have them go on as they are: their realms keep them. In development mode a client that declares one \
            again brings it back. With development mode off it could not, so what some realm declares is kept, but with --declared.
            """)
    @OptionGroup var common: ReportOptions
    @Option(help: "The app's id.") var app: String
    @Flag(help: "Only say what would go.") var dryRun = false
    @Flag(help: "With development mode off: also what some realm declares and no object uses.") var declared = false

    func run(_ admin: AdminClient) async throws {
        let document: PruneDocument = try await admin.ask(
            AdminRoute.pruneSchema.path(app), .POST,
            body: PruneRequest(dryRun: dryRun, declared: declared))
        let rows = document.pruned.classes.flatMap { pruned in
            (pruned.type.isEmpty ? [] : [[pruned.name, "", pruned.type]])
                + pruned.properties.map { [pruned.name, $0.name, $0.type] }
        }
        let verb = document.dryRun ? "would go" : "gone"
        try output.show(
            document,
            Table("CLASS", "PROPERTY", "TYPE", rows: rows).rendered()
                + "\n\(document.count) \(verb), \(document.kept) kept")
    }
}
