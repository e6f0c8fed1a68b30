import ArgumentParser
import Inspection
import Messages
import SyncModel

struct DeadLettersList: DeadLetterCommand {
    enum Order: String, ExpressibleByArgument, CaseIterable { case died, bytes, type, app, reason }

    static let configuration = CommandConfiguration(commandName: "list", abstract: "List dead letters, oldest first.")
    @Option(help: "By what they are sorted.") var sort = Order.died
    @Flag(help: "The other way round.") var reverse = false
    @OptionGroup var common: ReportOptions
    @OptionGroup var options: DeadLetterOptions

    func run(_ settings: ClusterSettings) async throws {
        var entries: [DeadLetterEntry] = []
        let (_, seen, of) = try await visit(settings) { entry, _ in
            entries.append(entry)
            return .kept
        }
        entries.sort(by: isBefore)
        if reverse { entries.reverse() }
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
        let more = seen < of ? "; \(of - seen) more: looked at \(seen) (--limit)" : ""
        Printing.note("\(entries.count) of \(of.counted("letter"))\(more)")
    }

    private func isBefore(_ left: DeadLetterEntry, _ right: DeadLetterEntry) -> Bool {
        let age = (left.diedAt ?? 0, left.name) < (right.diedAt ?? 0, right.name)
        return switch sort {
        case .died: age
        case .bytes: left.bytes == right.bytes ? age : left.bytes > right.bytes
        case .type: left.type == right.type ? age : left.type < right.type
        case .app: left.app == right.app ? age : (left.app ?? "") < (right.app ?? "")
        case .reason: left.reason == right.reason ? age : left.reason < right.reason
        }
    }
}

struct DeadLettersCount: DeadLetterCommand {
    static let configuration = CommandConfiguration(
        commandName: "count", abstract: "Count dead letters by what they died of, the most frequent first.",
        discussion: "Numbers within a reason are left out, so that letters of one cause count together.")
    @OptionGroup var common: ReportOptions
    @OptionGroup var options: DeadLetterOptions

    func run(_ settings: ClusterSettings) async throws {
        var counts = DeadLetterCounts()
        let (meant, seen, of) = try await visit(settings) { entry, _ in
            counts.add(entry)
            return .kept
        }
        let rows = counts.groups.map {
            ["\($0.count)", $0.type.oneLine, $0.app.cell.oneLine, $0.queue.cell.oneLine, $0.reason.oneLine]
        }
        try output.show(counts.groups, Table("LETTERS", "TYPE", "APP", "FROM", "REASON", rows: rows))
        let more = seen < of ? "; \(of - seen) more: looked at \(seen) (--limit)" : ""
        if !output.json { Printing.note("\(meant) of \(of.counted("letter"))\(more)") }
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
