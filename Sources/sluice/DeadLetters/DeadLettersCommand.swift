import AMQP
import ArgumentParser
import Inspection
import Messages
import SyncModel

struct DeadLettersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dead-letters",
        abstract: "List, show, requeue or drop messages that nobody could use.",
        discussion: """
            A dead letter is named by what its content makes, at each look the same, or by its message id. Looking takes nothing
            out: what was fetched goes back to its place, even if this command is killed. A letter leaves the queue only
            after the broker has confirmed its copy (requeue), or by drop --yes.

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
    @Option(help: "Look at no more than so many.") var limit = 10_000

    var isRestricted: Bool { !letters.isEmpty || app != nil || reason != nil || type != nil }

    func filter() throws -> DeadLetterFilter {
        guard limit > 0 else { throw CommandFailure(.badInput, "--limit: expected 1 or more, found \(limit)") }
        return DeadLetterFilter(letters: Set(letters), app: app, reason: reason, type: type)
    }
}

/// A command on the dead-letter queue of the cluster.
protocol DeadLetterCommand: ReportingCommand {
    var options: DeadLetterOptions { get }
}

extension DeadLetterCommand {
    /// Visits the letters that the options name.
    ///
    /// - Returns: how many were named, looked at, and there.
    func visit(
        _ settings: ClusterSettings, _ body: (DeadLetterEntry, AMQPMessage) async throws -> DeadLetterQueue.Fate,
        done: (DeadLetterEntry) throws -> Void = { _ in }, ended: (AMQPConnection) async -> Void = { _ in }
    ) async throws -> (meant: Int, seen: Int, of: Int) {
        let filter = try options.filter()
        let slices = try settings.sliceCount()
        do {
            return try await settings.withBroker(name: "dead-letters") { connection in
                let queue = DeadLetterQueue(connection: connection, topology: settings.topology, slices: slices)
                var meant = 0
                do {
                    let (seen, of) = try await queue.visit(
                        limit: options.limit,
                        { letter, message in
                            let entry = DeadLetterEntry(letter, message, slices: slices)
                            guard filter.accepts(entry) else { return .kept }
                            meant += 1
                            return try await body(entry, message)
                        },
                        done: { letter, message, _ in
                            let entry = DeadLetterEntry(letter, message, slices: slices)
                            if filter.accepts(entry) { try done(entry) }
                        })
                    await ended(connection)
                    return (meant, seen, of)
                } catch {
                    await ended(connection)
                    throw error
                }
            }
        } catch let error as DeadLetterError {
            throw CommandFailure(.badInput, "\(error)")
        } catch let error as AMQPError where error.code == .notFound {
            throw CommandFailure(
                .notFound, "there is no queue \(settings.topology.dead): is the cluster up, with this prefix?")
        }
    }

    /// Visits the letters that the options name, which must name some, and decides their fate.
    ///
    /// - Parameters:
    ///   - all: `--all`, for commands that have it.
    ///   - verb: what the command does to a letter.
    ///   - ended: called at the end, also of a command that has failed, while there is a connection.
    /// - Returns: how many letters were named.
    /// - Throws: `notFound` if none was.
    func visitNamed(
        _ settings: ClusterSettings, all: Bool? = nil, to verb: String,
        _ body: (DeadLetterEntry, AMQPMessage) async throws -> DeadLetterQueue.Fate,
        done: (DeadLetterEntry) throws -> Void = { _ in }, ended: (AMQPConnection) async -> Void = { _ in }
    ) async throws -> Int {
        let filter = try options.filter()
        guard all == true || options.isRestricted else {
            let rest = all == nil ? "--reason or --type" : "--reason, --type or --all"
            throw CommandFailure(.badInput, "say which: names, message ids, --app, \(rest)")
        }
        let (meant, seen, of) = try await visit(settings, body, done: done, ended: ended)
        guard meant > 0 || (of == 0 && filter.letters.isEmpty && !options.isRestricted) else {
            let rest = seen < of ? " among the \(seen) of \(of.counted("letter")) that were looked at (--limit)" : ""
            throw CommandFailure(.notFound, "there is no such dead letter to \(verb)\(rest)")
        }
        return meant
    }
}
