import ArgumentParser
import Foundation
import Operations

struct ContextCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "context",
        abstract: "Say where your clusters are, to name one of them with --context.",
        discussion: """
            A context names a cluster's coordinators, and where the token is with which one asks them: a file, or an \
            environment variable. With a file of settings it is for the commands, too, that read the broker or the \
            store themselves.

            A command takes the context that --context names, else SLUICE_CONTEXT, else the current one (`sluice \
            context use`), unless flags or the environment say which cluster it is for. Whatever a context leaves \
            open is not looked for in the environment, where it may be another cluster's; flags of the command win. \
            Processes (`sluice worker` ...) take no context.

            Contexts are in ~/.config/sluice/contexts.json, or where SLUICE_CONTEXTS says, and hold no secrets.
            """,
        subcommands: [ContextList.self, ContextShow.self, ContextAdd.self, ContextUse.self, ContextRemove.self],
        defaultSubcommand: ContextList.self)
}

/// A command that reads or writes the file of contexts, and asks no cluster.
protocol ContextFileCommand: AsyncParsableCommand {
    func run(_ path: String) throws
}

extension ContextFileCommand {
    func run() async throws {
        try await reportingFailures {
            do {
                try run(ContextFile.path(in: ProcessInfo.processInfo.environment))
            } catch let error as OperationsError where error.code == .unknownSetting {
                throw CommandFailure(.notFound, error.message)
            }
        }
    }
}

/// A context as it is shown: all there is, for there are no secrets in it.
private struct ShownContext: Encodable {
    var name: String
    var isCurrent: Bool
    var coordinatorURL: String?
    var config: String?
    var tokenFile: String?
    var tokenVariable: String?
    var authoritiesFile: String?

    init(_ context: ClusterContext, of file: ContextFile) {
        name = context.name
        isCurrent = file.current == context.name
        coordinatorURL = context.coordinatorURL
        config = context.config
        tokenFile = context.tokenFile
        tokenVariable = context.tokenVariable
        authoritiesFile = context.authoritiesFile
    }

    var cells: [String] {
        [
            isCurrent ? "*" : "", name, coordinatorURL.cell, tokenFile ?? tokenVariable.map { "variable \($0)" }.cell,
            config.cell, authoritiesFile.cell,
        ]
    }

    static func table(_ contexts: [ShownContext]) -> Table {
        Table("", "NAME", "COORDINATORS", "TOKEN", "SETTINGS", "AUTHORITIES", rows: contexts.map(\.cells))
    }
}

struct ContextList: ContextFileCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List the contexts.")
    @OptionGroup var output: OutputOptions

    func run(_ path: String) throws {
        let file = try ContextFile.read(path)
        if file.contexts.isEmpty, !output.json {
            Printing.note(
                "no contexts yet; make one with: sluice context add NAME --coordinator-url URL --token-file FILE")
        }
        let shown = file.contexts.map { ShownContext($0, of: file) }
        try output.show(shown, ShownContext.table(shown))
    }
}

struct ContextShow: ContextFileCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show one context, or the current one; it holds no secrets.")
    @OptionGroup var output: OutputOptions
    @Argument(help: "Its name; the current one's if left out.", completion: .contexts) var name: String?

    func run(_ path: String) throws {
        let file = try ContextFile.read(path)
        guard let name = name ?? file.current else {
            throw CommandFailure(.notFound, "no context is the current one: sluice context use NAME")
        }
        let shown = ShownContext(try file.context(name), of: file)
        try output.show(shown, ShownContext.table([shown]))
    }
}

struct ContextAdd: ContextFileCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Add a context, or change the one of that name.")
    @Argument(help: "Its name: letters, digits, -, _ and .") var name: String
    @Option(help: "The coordinators' admin API, http://host:port,...") var coordinatorURL: String?
    @Option(help: "A file with an admin token.") var tokenFile: String?
    @Option(help: "The name of an environment variable with an admin token.") var tokenVariable: String?
    @Option(help: "A file of settings, for commands that read the broker or the store themselves.") var config: String?
    @Option(help: "A PEM file of authorities that are trusted beside the system's.") var caFile: String?
    @Flag(help: "Make it the current one.") var use = false

    func run(_ path: String) throws {
        var file = try ContextFile.read(path)
        try file.add(
            ClusterContext(
                name: name, coordinatorURL: coordinatorURL, config: config.map(Self.whole),
                tokenFile: tokenFile.map(Self.whole), tokenVariable: tokenVariable,
                authoritiesFile: caFile.map(Self.whole)))
        if use { file.current = name }
        try file.write(path)
        Printing.line("context \(name)" + (file.current == name ? ", the current one" : ""))
    }

    /// A path that leads to the same file from every folder.
    private static func whole(_ path: String) -> String { URL(fileURLWithPath: path).standardizedFileURL.path }
}

struct ContextUse: ContextFileCommand {
    static let configuration = CommandConfiguration(
        commandName: "use", abstract: "Make a context the current one, which commands take that name none.")
    @Argument(help: "Its name; \(ClusterContext.none): no context is.", completion: .contexts) var name: String

    func run(_ path: String) throws {
        var file = try ContextFile.read(path)
        file.current = name == ClusterContext.none ? nil : try file.context(name).name
        try file.write(path)
        Printing.line(file.current.map { "the current context is \($0)" } ?? "no context is the current one")
    }
}

struct ContextRemove: ContextFileCommand {
    static let configuration = CommandConfiguration(commandName: "remove", abstract: "Remove a context.")
    @Argument(help: "Its name.", completion: .contexts) var name: String

    func run(_ path: String) throws {
        var file = try ContextFile.read(path)
        try file.remove(name)
        try file.write(path)
        Printing.line("context \(name) removed")
    }
}
