import ArgumentParser
import Inspection
import Messages

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
        let meant = try await visitNamed(
            settings, all: all, to: "requeue", { _, _ in .requeued }, done: { try report($0, "requeued", output) })
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
        let meant = try await visitNamed(
            settings, all: all, to: "drop", { _, _ in yes ? .dropped : .kept },
            done: { try report($0, yes ? "dropped" : "would drop", output) })
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
