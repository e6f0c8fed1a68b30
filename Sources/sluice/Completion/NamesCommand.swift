import AdminAPI
import ArgumentParser
import Foundation
import Inspection
import NIOCore
import Operations

/// Prints names for a shell that completes a word: one a line, and none where nobody can be asked.
struct NamesCommand: ClusterCommand {
    enum Kind: String, CaseIterable, ExpressibleByArgument { case apps, campaigns, letters, contexts }

    static let configuration = CommandConfiguration(
        commandName: "names", abstract: "Print what a shell may complete a word with.", shouldDisplay: false)

    @OptionGroup(title: "The cluster") var cluster: ClusterOptions
    @Argument(help: "Which names.") var kind: Kind

    /// Somebody waits at the keyboard.
    private static let patience = TimeAmount.seconds(2)

    func run() async throws {
        guard let names = try? await names() else { return }
        for name in names { Printing.line(name.oneLine) }
    }

    func run(_ settings: ClusterSettings) async throws {}

    private func names() async throws -> [String] {
        if kind == .contexts {
            let path = ContextFile.path(in: ProcessInfo.processInfo.environment)
            return try ContextFile.read(path).contexts.map(\.name) + [ClusterContext.none]
        }
        let admin = try AdminClient(try await cluster.load())
        switch kind {
        case .apps:
            let list: AppList = try await admin.ask(AdminRoute.apps.path(), timeout: Self.patience)
            return list.apps.map(\.id)
        case .campaigns:
            struct List: Decodable {
                struct Campaign: Decodable { var id: String }
                var campaigns: [Campaign]
            }
            let list: List = try await admin.ask(AdminRoute.campaigns.path(), timeout: Self.patience)
            return list.campaigns.map(\.id)
        case .letters:
            struct List: Decodable { var letters: [DeadLetterEntry] }
            let list: List = try await admin.ask(AdminRoute.deadLetters.path(), timeout: Self.patience)
            return list.letters.map(\.name)
        case .contexts: return []
        }
    }
}

extension CompletionKind {
    static var apps: CompletionKind { names(.apps) }
    static var campaigns: CompletionKind { names(.campaigns) }
    static var letters: CompletionKind { names(.letters) }
    static var contexts: CompletionKind { names(.contexts) }

    private static func names(_ kind: NamesCommand.Kind) -> CompletionKind {
        .shellCommand("sluice names \(kind.rawValue) 2>/dev/null")
    }
}
