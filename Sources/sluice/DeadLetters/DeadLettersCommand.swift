import AMQP
import ArgumentParser
import Foundation
import Inspection
import Messages

struct DeadLettersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dead-letters",
        abstract: "List, show, requeue or drop messages that nobody could use.",
        discussion: """
            A dead letter is named by its position in the queue (1 is the oldest) or by its message id. Looking takes nothing
            out: what was fetched goes back to its place, even if this command is killed. A letter leaves the queue only
            after the broker has confirmed its copy (requeue), or by drop --yes.

              sluice dead-letters list --app tasks
              sluice dead-letters requeue --reason "app nobody is unknown" --all
              sluice dead-letters drop 1 3 --yes
            """,
        subcommands: [DeadLettersList.self, DeadLettersShow.self, DeadLettersRequeue.self, DeadLettersDrop.self],
        defaultSubcommand: DeadLettersList.self)
}

/// Which dead letters a command is about.
struct DeadLetterOptions: ParsableArguments {
    @Argument(help: "Positions or message ids.") var letters: [String] = []
    @Option(help: "Only this app's.") var app: String?
    @Option(help: "Only those whose reason contains this.") var reason: String?
    @Option(help: "Only messages of this type.") var type: String?
    @Option(help: "Look at no more than so many, from the head of the queue.") var limit = 10_000

    var isRestricted: Bool { !letters.isEmpty || app != nil || reason != nil || type != nil }

    func filter() throws -> DeadLetterFilter {
        guard limit > 0 else { throw CommandFailure(.badInput, "--limit: expected 1 or more, found \(limit)") }
        var filter = DeadLetterFilter(app: app, reason: reason, type: type)
        for letter in letters {
            // A short number is a position; message ids are longer, or hold other characters.
            if let position = Int(letter), letter.count < 10 {
                guard position > 0 else { throw CommandFailure(.badInput, "positions are counted from 1") }
                filter.positions.insert(position)
            } else {
                filter.ids.insert(letter)
            }
        }
        return filter
    }
}

/// Runs a command on the dead-letter queue of the cluster.
struct DeadLetterRunner {
    let settings: ClusterSettings
    let filter: DeadLetterFilter
    let limit: Int

    init(_ cluster: ClusterOptions, _ options: DeadLetterOptions) async throws {
        settings = try await cluster.load()
        filter = try options.filter()
        limit = options.limit
    }

    /// Visits the letters that are meant.
    /// - Returns: how many were meant, looked at, and there.
    func run(
        _ body: (DeadLetterEntry, AMQPMessage) async throws -> DeadLetterQueue.Fate,
        done: (DeadLetterEntry) throws -> Void = { _ in }
    ) async throws -> (meant: Int, seen: Int, of: Int) {
        let connection = AMQPConnection(
            configuration: try settings.amqp(name: "dead-letters"), logger: settings.quietLogger)
        try await connection.start()
        do {
            let queue = DeadLetterQueue(
                connection: connection, topology: settings.topology, slices: try settings.sliceCount())
            var meant = 0
            let (seen, of) = try await queue.visit(
                limit: limit,
                { entry, message in
                    guard filter.accepts(entry) else { return .kept }
                    meant += 1
                    return try await body(entry, message)
                },
                done: { entry, _ in
                    if filter.accepts(entry) { try done(entry) }
                })
            await connection.close()
            return (meant, seen, of)
        } catch {
            await connection.close()
            guard let failure = error as? AMQPError, failure.code == .notFound else { throw error }
            throw CommandFailure(
                .notFound, "there is no queue \(settings.topology.dead): is the cluster up, with this prefix?")
        }
    }

    /// Ids and positions that were named and are not there.
    func requireFound(_ meant: Int, _ what: String) throws {
        guard meant == 0, !(filter.ids.isEmpty && filter.positions.isEmpty) else { return }
        throw CommandFailure(.notFound, "there is no such dead letter to \(what)")
    }
}
