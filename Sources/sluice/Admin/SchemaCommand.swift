import AdminAPI
import ArgumentParser
import Foundation
import NIOHTTP1

struct SchemaCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema", abstract: "Change an app's schema, and take what is unused of it back.",
        discussion: "`sluice apps schema APP` shows what an app's clients have declared.",
        subcommands: [SchemaVersionsCommand.self, SchemaStage.self, SchemaDeploy.self, SchemaPrune.self])
}

struct SchemaPrune: AdminCommand {
    static let configuration = CommandConfiguration(
        commandName: "prune", abstract: "Take back the classes and properties that no object uses.",
        discussion: """
            Clients that have them go on as they are: their realms keep them. In development mode a client that \
            declares one again brings it back. With development mode off it could not, so what some realm declares \
            is kept, but with --declared.
            """)
    @OptionGroup var common: ReportOptions
    @Option(help: "The app's id.", completion: .apps) var app: String
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

struct SchemaVersionsCommand: AdminCommand {
    static let configuration = CommandConfiguration(
        commandName: "versions", abstract: "Show an app's schema versions, or what clients of one of them have.")
    @OptionGroup var common: ReportOptions
    @Option(help: "The app's id.", completion: .apps) var app: String
    @Option(help: "The version whose classes and properties are shown.") var version: UInt64?

    func run(_ admin: AdminClient) async throws {
        guard let version else { return try show(try await admin.ask(AdminRoute.schemaVersions.path(app)), output) }
        let schema: SchemaDocument = try await admin.ask(AdminRoute.schemaVersion.path(app, "\(version)"))
        let rows = schema.classes.flatMap { one in
            [[one.name.oneLine, "", one.type.oneLine]]
                + one.properties.map { [one.name.oneLine, $0.name.oneLine, $0.type.oneLine] }
        }
        try output.show(schema, Table("CLASS", "PROPERTY", "TYPE", rows: rows).rendered())
    }
}

struct SchemaStage: AdminCommand {
    static let configuration = CommandConfiguration(
        commandName: "stage", abstract: "Say what an app's schema is to be, and hear what would change.",
        discussion: """
            Nothing changes before `sluice schema deploy`. The file is what `sluice schema versions --version N \
            --json` prints, changed. What only adds goes to all clients. What takes something away, or gives a \
            property another type, makes a version beside those that there are: clients whose configuration names it \
            have the new schema, the others theirs.
            """)
    @OptionGroup var common: ReportOptions
    @Option(help: "The app's id.", completion: .apps) var app: String
    @Flag(help: "Forget what is staged.") var discard = false
    @Argument(help: "A file, or - for standard input.") var file: String?

    func validate() throws {
        guard discard == (file == nil) else { throw ValidationError("expected a file, or --discard") }
    }

    func run(_ admin: AdminClient) async throws {
        guard let file else { return try show(try await admin.ask(AdminRoute.schemaDraft.path(app), .DELETE), output) }
        let list: SchemaVersionList = try await admin.ask(
            AdminRoute.schemaDraft.path(app), .PUT, body: try Self.schema(from: file))
        try show(list, output)
    }

    private static func schema(from file: String) throws -> SchemaDraftRequest {
        let data: Data
        do {
            let input = file == "-" ? FileHandle.standardInput : try FileHandle(forReadingFrom: URL(filePath: file))
            // One byte more than is allowed tells that there is too much.
            data = try input.read(upToCount: AdminLimits.schemaBody + 1) ?? Data()
        } catch {
            throw CommandFailure(.badInput, "\(file): no file that can be read")
        }
        guard data.count <= AdminLimits.schemaBody else {
            throw CommandFailure(.badInput, "\(file): more than \(AdminLimits.schemaBody) bytes")
        }
        do {
            return try JSONDecoder().decode(SchemaDraftRequest.self, from: data)
        } catch {
            throw CommandFailure(
                .badInput,
                "\(file): expected {\"classes\": [{\"name\", \"type\", \"properties\": [{\"name\", \"type\"}]}]}: \(error)"
            )
        }
    }
}

struct SchemaDeploy: AdminCommand {
    static let configuration = CommandConfiguration(
        commandName: "deploy", abstract: "Put the schema that is staged in force.")
    @OptionGroup var common: ReportOptions
    @Option(help: "The app's id.", completion: .apps) var app: String

    func run(_ admin: AdminClient) async throws {
        try show(try await admin.ask(AdminRoute.deploySchema.path(app), .POST, body: EmptyRequest()), output)
    }
}

private func show(_ list: SchemaVersionList, _ output: OutputOptions) throws {
    let rows = list.versions.map { ["\($0.version)", $0.isServed ? "served" : "refused"] }
    var text =
        rows.isEmpty
        ? "no versions: clients' schema versions are not looked at" : Table("VERSION", "CLIENTS", rows: rows).rendered()
    if let draft = list.draft {
        let what = draft.version.map { "as version \($0)" } ?? "for clients of all versions, since nothing breaks"
        text += "\nstaged, \(what):\n" + draft.changes.map { "  \($0.oneLine)" }.joined(separator: "\n")
    }
    try output.show(list, text)
}
