import ArgumentParser
import Inspection
import SyncModel

struct DeadLettersList: DeadLetterCommand {
    enum Order: String, ExpressibleByArgument, CaseIterable { case died, bytes, type, app, reason }

    static let configuration = CommandConfiguration(commandName: "list", abstract: "List dead letters, oldest first.")
    @Option(help: "By what they are sorted.") var sort = Order.died
    @Flag(help: "The other way round.") var reverse = false
    @OptionGroup var common: ReportOptions
    @OptionGroup var options: DeadLetterOptions

    func run(_ admin: AdminClient) async throws {
        let found = try await list(admin)
        var entries = found.letters.sorted(by: isBefore)
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
        Printing.note("\(entries.count) of \(found.of.counted("letter"))\(found.rest)")
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

    func run(_ admin: AdminClient) async throws {
        let found = try await list(admin, limit: 1)
        let rows = found.groups.map {
            ["\($0.count)", $0.type.oneLine, $0.app.cell.oneLine, $0.queue.cell.oneLine, $0.reason.oneLine]
        }
        try output.show(found.groups, Table("LETTERS", "TYPE", "APP", "FROM", "REASON", rows: rows))
        let meant = found.groups.reduce(0) { $0 + $1.count }
        if !output.json { Printing.note("\(meant) of \(found.of.counted("letter"))\(found.rest)") }
    }
}

extension DeadLetterAnswer {
    /// The words for letters that were not looked at.
    fileprivate var rest: String { seen < of ? "; \(of - seen) more: looked at \(seen) (--limit)" : "" }
}

struct DeadLettersShow: DeadLetterCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show dead letters in full; what users wrote only with --bodies.")
    @OptionGroup var common: ReportOptions
    @OptionGroup var options: DeadLetterOptions
    @Flag(help: "Show the bodies: users' data.") var bodies = false

    private struct Bodies: Decodable {
        struct Letter: Decodable {
            var letter: DeadLetterEntry
            var body: String
        }
        var letters: [Letter]
        var left: Int
        var seen: Int
        var of: Int
    }

    func run(_ admin: AdminClient) async throws {
        try requireNames()
        guard bodies else {
            let found = try await list(admin)
            try requireSome(found.letters.count, seen: found.seen, of: found.of, to: "show")
            for entry in found.letters { try print(entry, body: nil) }
            return
        }
        let found: Bodies = try await self.bodies(admin)
        try requireSome(found.letters.count, seen: found.seen, of: found.of, to: "show")
        for letter in found.letters { try print(letter.letter, body: letter.body) }
        if found.left > 0 { Printing.note("\(found.left.counted("letter")) more: name fewer at once") }
    }

    private func print(_ entry: DeadLetterEntry, body: String?) throws {
        if output.json {
            try Printing.json(JoinedObject(entry, ["body": body].compactMapValues(\.self)))
        } else {
            show(entry, body: body)
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
