import ArgumentParser
import Foundation
import Inspection

struct DeadLettersRequeue: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "requeue",
        abstract: "Publish dead letters again to the queue that they died in.",
        discussion: """
            Each is published, confirmed and known to have reached its queue before it leaves this one; a command that dies in
            between leaves it in both, and what it does has its effect once. One that still cannot be used comes back.
            """)
    @OptionGroup var cluster: ClusterOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var options: DeadLetterOptions
    @Flag(help: "All of them.") var all = false

    func run() async throws {
        try await reportingFailures {
            let runner = try await DeadLetterRunner(cluster, options)
            guard all || options.isRestricted else {
                throw CommandFailure(.badInput, "say which: positions, message ids, --app, --reason, --type or --all")
            }
            let (meant, _, _) = try await runner.run(
                { _, _ in .requeued }, done: { try DeadLetterReport.write($0, "requeued", json: output.json) })
            try runner.requireFound(meant, "requeue")
            if !output.json { Printing.note("\(meant) requeued") }
        }
    }
}

struct DeadLettersDrop: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drop",
        abstract: "Delete dead letters for good.",
        discussion: "Without --yes it says what it would delete, and deletes nothing (exit code 65).")
    @OptionGroup var cluster: ClusterOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var options: DeadLetterOptions
    @Flag(help: "All of them.") var all = false
    @Flag(help: "Really delete them.") var yes = false

    func run() async throws {
        try await reportingFailures {
            let runner = try await DeadLetterRunner(cluster, options)
            guard all || options.isRestricted else {
                throw CommandFailure(.badInput, "say which: positions, message ids, --app, --reason, --type or --all")
            }
            let (meant, _, _) = try await runner.run(
                { _, _ in yes ? .dropped : .kept },
                done: { try DeadLetterReport.write($0, yes ? "dropped" : "would drop", json: output.json) })
            try runner.requireFound(meant, "drop")
            guard yes || meant == 0 else {
                throw CommandFailure(.badInput, "\(meant) would be deleted for good; say --yes to do it")
            }
            if !output.json { Printing.note("\(meant) dropped") }
        }
    }
}

enum DeadLetterReport {
    private struct Line: Encodable {
        var action: String
        var entry: DeadLetterEntry
        private enum Key: CodingKey { case action }

        func encode(to encoder: any Encoder) throws {
            try entry.encode(to: encoder)
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(action, forKey: .action)
        }
    }

    static func write(_ entry: DeadLetterEntry, _ action: String, json: Bool) throws {
        if json { return try Printing.json(Line(action: action, entry: entry)) }
        Printing.line(
            "\(action) \(entry.position)  \((entry.id ?? "-").oneLine)  \(entry.type.oneLine)  \((entry.queue ?? "-").oneLine)"
        )
    }
}
