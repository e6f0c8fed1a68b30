import AdminAPI
import ArgumentParser
import Inspection
import NIOCore
import SyncModel

struct DeadLettersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dead-letters",
        abstract: "List, show, requeue or drop messages that nobody could use.",
        discussion: """
            A dead letter is named by what its content makes, at each look the same, or by its message id. The \
            coordinator looks; looking takes nothing out: what was fetched goes back to its place, even if the \
            coordinator is killed. A letter leaves the queue only after the broker has confirmed its copy (requeue), \
            or by drop --yes.

              sluice dead-letters list --app tasks --sort bytes
              sluice dead-letters count
              sluice dead-letters requeue --reason "app nobody is unknown" --all
              sluice dead-letters drop 5f0c9a3be277 --yes
            """,
        subcommands: [
            DeadLettersList.self, DeadLettersCount.self, DeadLettersShow.self, DeadLettersRequeue.self,
            DeadLettersDrop.self,
        ],
        defaultSubcommand: DeadLettersList.self)
}

/// The options that say which dead letters a command is about.
struct DeadLetterOptions: ParsableArguments {
    @Argument(help: "Names or message ids.", completion: .letters) var letters: [String] = []
    @Option(help: "Only this app's.", completion: .apps) var app: String?
    @Option(help: "Only those whose reason contains this.") var reason: String?
    @Option(help: "Only messages of this type.") var type: String?
    @Option(help: "Look at no more than so many.") var limit = AdminLimits.deadLettersSeen

    var isRestricted: Bool { !letters.isEmpty || app != nil || reason != nil || type != nil }

    /// The query that says which letters are meant.
    fileprivate func query() throws -> [(AdminQuery, String?)] {
        try checkLimit()
        guard letters.count <= AdminLimits.namedLetters else {
            throw CommandFailure(
                .badInput, "expected at most \(AdminLimits.namedLetters) names, found \(letters.count)")
        }
        return letters.map { (.id, $0) } + [(.app, app), (.reason, reason), (.type, type), (.reach, "\(limit)")]
    }

    func request(all: Bool) throws -> DeadLettersRequest {
        try checkLimit()
        return DeadLettersRequest(
            letters: letters.isEmpty ? nil : letters, app: app, reason: reason, type: type, all: all ? true : nil,
            limit: limit)
    }

    private func checkLimit() throws {
        let allowed = AdminLimits.deadLetterReach
        guard allowed.contains(limit) else {
            throw CommandFailure(
                .badInput, "--limit: expected \(allowed.lowerBound) to \(allowed.upperBound), found \(limit)")
        }
    }
}

/// A command on the dead-letter queue of the cluster, through which the coordinator looks.
protocol DeadLetterCommand: AdminCommand {
    var options: DeadLetterOptions { get }
}

/// Letters as the coordinator tells of them.
struct DeadLetterAnswer: Decodable {
    var letters: [DeadLetterEntry]
    /// How many were looked at, and how many there are.
    var seen: Int
    var of: Int
    var groups: [DeadLetterGroup]
}

extension DeadLetterCommand {
    /// The letters that the options name, oldest first.
    func list(
        _ admin: AdminClient, limit: Int = AdminLimits.deadLetterReach.upperBound
    ) async throws -> DeadLetterAnswer {
        try await admin.ask(
            AdminRoute.deadLetters.path(query: try options.query() + [(.limit, "\(limit)")]),
            timeout: AdminClient.letterTimeout)
    }

    func bodies<Answer: Decodable>(_ admin: AdminClient) async throws -> Answer {
        try await admin.ask(
            AdminRoute.deadLetterBodies.path(query: try options.query()), timeout: AdminClient.letterTimeout)
    }

    /// - Parameter all: `--all`, for commands that have it.
    /// - Throws: `badInput` if the options name no letters.
    func requireNames(all: Bool? = nil) throws {
        guard all == true || options.isRestricted else {
            let rest = all == nil ? "--reason or --type" : "--reason, --type or --all"
            throw CommandFailure(.badInput, "say which: names, message ids, --app, \(rest)")
        }
    }

    /// - Parameters:
    ///   - meant: how many letters were named.
    ///   - verb: what the command does to a letter.
    /// - Throws: `notFound` if none was named, but where all are meant and there are none.
    func requireSome(_ meant: Int, seen: Int, of: Int, to verb: String) throws {
        guard meant > 0 || (of == 0 && !options.isRestricted) else {
            let rest = seen < of ? " among the \(seen) of \(of.counted("letter")) that were looked at (--limit)" : ""
            throw CommandFailure(.notFound, "there is no such dead letter to \(verb)\(rest)")
        }
    }
}

extension AdminClient {
    /// How long a look through the dead letters may take: each is fetched from the broker, and may be published again.
    static let letterTimeout = TimeAmount.minutes(10)
}
