import ArgumentParser
import Inspection
import Messages
import SyncModel

struct DeadLettersList: DeadLetterCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List dead letters, oldest first.")
    @OptionGroup var common: ReportOptions
    @OptionGroup var options: DeadLetterOptions

    func run(_ settings: ClusterSettings) async throws {
        var entries: [DeadLetterEntry] = []
        let (_, seen, of) = try await visit(settings) { entry, _ in
            entries.append(entry)
            return .kept
        }
        entries.sort { ($0.diedAt ?? 0, $0.name) < ($1.diedAt ?? 0, $1.name) }
        if output.json { return try Printing.json(entries) }
        let rows = entries.map { entry in
            [
                entry.name, entry.id.cell.oneLine, entry.type.oneLine, entry.app.cell.oneLine,
                entry.partition.map(RealmName.shown).cell, entry.queue.cell.oneLine, "\(entry.bytes)",
                entry.diedAt.map { Printing.age(ofUnixMilliseconds: $0) }.cell,
                String(entry.reason.oneLine.prefix(120)),
            ]
        }
        let table = Table(
            "NAME", "MESSAGE ID", "TYPE", "APP", "PARTITION", "FROM", "BYTES", "AGE", "REASON", rows: rows)
        Printing.line(table.rendered())
        if seen < of { Printing.note("\(of - seen) more: looked at \(seen) (--limit)") }
    }
}

struct DeadLettersShow: DeadLetterCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show dead letters in full; what users wrote only with --bodies.")
    @OptionGroup var common: ReportOptions
    @OptionGroup var options: DeadLetterOptions
    @Flag(help: "Show the bodies: users' data.") var bodies = false

    func run(_ settings: ClusterSettings) async throws {
        _ = try await visitNamed(settings, to: "show") { entry, message in
            let body = bodies ? MessageBody.text(of: message) : nil
            if output.json {
                try Printing.json(JoinedObject(entry, ["body": body].compactMapValues(\.self)))
            } else {
                show(entry, body: body)
            }
            return .kept
        }
    }

    private func show(_ entry: DeadLetterEntry, body: String?) {
        var lines = [
            ("name", entry.name), ("message id", entry.id.cell), ("type", entry.type),
            ("app", entry.app.cell), ("partition", entry.partition.map(RealmName.shown).cell),
            ("client file", entry.clientFile.cell),
            ("from", entry.queue.cell),
            ("published", entry.publishedAt.map { Printing.time(ofUnixMilliseconds: $0 &* 1000) }.cell),
            ("died", entry.diedAt.map { Printing.time(ofUnixMilliseconds: $0) }.cell), ("bytes", "\(entry.bytes)"),
            ("content", entry.text), ("reason", entry.reason),
        ]
        if let body { lines.append(("body", body)) }
        for (name, value) in lines { Printing.line(name.padded(13) + value.oneLine) }
        Printing.line("")
    }
}
