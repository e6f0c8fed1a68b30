import AMQP
import ArgumentParser
import Foundation
import Inspection
import Messages
import SyncModel

struct DeadLettersRequeue: DeadLetterCommand {
    static let configuration = CommandConfiguration(
        commandName: "requeue",
        abstract: "Publish dead letters again to the queue that they died in.",
        discussion: """
            Each is published, confirmed and known to have reached its queue before it leaves this one; a command that dies in
            between leaves it in both, and what it does has its effect once. One that still cannot be used comes back.
            """)
    @OptionGroup var common: ReportOptions
    @OptionGroup var options: DeadLetterOptions
    @Flag(help: "All of them.") var all = false

    func run(_ settings: ClusterSettings) async throws {
        var handled = HandledLetters(.requeued)
        let meant = try await visitNamed(
            settings, all: all, to: "requeue", { _, _ in .requeued },
            done: {
                handled.add($0)
                try report($0, "requeued", output)
            }, ended: { await handled.tell(settings, on: $0) })
        if !output.json { Printing.note("\(meant) requeued") }
    }
}

struct DeadLettersDrop: DeadLetterCommand {
    static let configuration = CommandConfiguration(
        commandName: "drop",
        abstract: "Delete dead letters for good.",
        discussion: "Without --yes it says what it would delete, and deletes nothing (exit code 65).")
    @OptionGroup var common: ReportOptions
    @OptionGroup var options: DeadLetterOptions
    @Flag(help: "All of them.") var all = false
    @Flag(help: "Really delete them.") var yes = false

    func run(_ settings: ClusterSettings) async throws {
        var handled = HandledLetters(.dropped)
        let meant = try await visitNamed(
            settings, all: all, to: "drop", { _, _ in yes ? .dropped : .kept },
            done: {
                if yes { handled.add($0) }
                try report($0, yes ? "dropped" : "would drop", output)
            }, ended: { await handled.tell(settings, on: $0) })
        guard yes || meant == 0 else {
            throw CommandFailure(.badInput, "\(meant) would be deleted for good; say --yes to do it")
        }
        if !output.json { Printing.note("\(meant) dropped") }
    }
}

private func report(_ entry: DeadLetterEntry, _ action: String, _ output: OutputOptions) throws {
    let cells = ["\(action) \(entry.name)", entry.id.cell.oneLine, entry.type.oneLine, entry.queue.cell.oneLine]
    try output.show(JoinedObject(entry, ["action": action]), cells.joined(separator: "  "))
}

/// What a command has done with letters, which it tells the audit log by the broker: there may be no coordinator to ask.
private struct HandledLetters {
    let action: LettersReport.Action
    private var count = 0
    private var names: [String] = []

    init(_ action: LettersReport.Action) { self.action = action }

    mutating func add(_ entry: DeadLetterEntry) {
        count += 1
        if names.count < LettersReport.most { names.append(entry.name) }
    }

    func tell(_ settings: ClusterSettings, on connection: AMQPConnection) async {
        guard count > 0 else { return }
        let report = LettersReport(
            action: action, count: count, letters: names, by: "\(NSUserName())@\(ProcessInfo.processInfo.hostName)",
            at: UnixTime.milliseconds)
        do {
            let channel = try await connection.openChannel(confirms: true)
            try await channel.publish(
                try AMQPMessage(report), exchange: settings.topology.outcomes, routingKey: "", mandatory: true)
            await channel.close()
        } catch {
            Printing.note("what was done with the letters will not be in the audit log: \(error)")
        }
    }
}
