import AdminAPI
import ArgumentParser
import Inspection
import NIOHTTP1
import SyncModel

struct DeadLettersRequeue: DeadLetterCommand {
    static let configuration = CommandConfiguration(
        commandName: "requeue",
        abstract: "Publish dead letters again to the queue that they died in.",
        discussion: """
            Each is published, confirmed and known to have reached its queue before it leaves this one; a command \
            that dies in between leaves it in both, and what it does has its effect once. One that still cannot be \
            used comes back.
            """)
    @OptionGroup var common: ReportOptions
    @OptionGroup var options: DeadLetterOptions
    @Flag(help: "All of them.") var all = false

    func run(_ admin: AdminClient) async throws {
        let result = try await handle(.requeueLetters, admin, all: all)
        try requireSome(result.letters.count + result.refused.count, seen: result.seen, of: result.of, to: "requeue")
        for entry in result.letters { try report(entry, "requeued", output) }
        if let first = result.refused.first {
            let more = result.refused.count > 1 ? " (and \(result.refused.count - 1) more cannot be requeued)" : ""
            throw CommandFailure(.badInput, first.reason + more)
        }
        if !output.json { Printing.note("\(result.letters.count) requeued") }
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

    func run(_ admin: AdminClient) async throws {
        guard yes else {
            try requireNames(all: all)
            let found = try await list(admin)
            let meant = found.letters.count
            try requireSome(meant, seen: found.seen, of: found.of, to: "drop")
            for entry in found.letters { try report(entry, "would drop", output) }
            guard meant == 0 else {
                throw CommandFailure(.badInput, "\(meant) would be deleted for good; say --yes to do it")
            }
            if !output.json { Printing.note("0 dropped") }
            return
        }
        let result = try await handle(.dropLetters, admin, all: all)
        try requireSome(result.letters.count, seen: result.seen, of: result.of, to: "drop")
        for entry in result.letters { try report(entry, "dropped", output) }
        if !output.json { Printing.note("\(result.letters.count) dropped") }
    }
}

private func report(_ entry: DeadLetterEntry, _ action: String, _ output: OutputOptions) throws {
    let cells = ["\(action) \(entry.name)", entry.id.cell.oneLine, entry.type.oneLine, entry.queue.cell.oneLine]
    try output.show(JoinedObject(entry, ["action": action]), cells.joined(separator: "  "))
}

/// What has become of the letters that a command means.
private struct HandledLetters: Decodable {
    struct Refusal: Decodable { var reason: String }

    var letters: [DeadLetterEntry]
    var refused: [Refusal]
    var seen: Int
    var of: Int
}

extension DeadLetterCommand {
    fileprivate func handle(_ route: AdminRoute, _ admin: AdminClient, all: Bool) async throws -> HandledLetters {
        try requireNames(all: all)
        return try await admin.ask(
            route.path(), .POST, body: try options.request(all: all), timeout: AdminClient.letterTimeout)
    }
}
