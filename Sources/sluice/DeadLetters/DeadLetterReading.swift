import ArgumentParser
import Foundation
import Inspection

struct DeadLettersList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List dead letters, oldest first.")
    @OptionGroup var cluster: ClusterOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var options: DeadLetterOptions

    func run() async throws {
        try await reportingFailures {
            let runner = try await DeadLetterRunner(cluster, options)
            var entries: [DeadLetterEntry] = []
            let (_, seen, of) = try await runner.run { entry, _ in
                entries.append(entry)
                return .kept
            }
            if output.json { return try Printing.json(entries) }
            var table = Table("POSITION", "MESSAGE ID", "TYPE", "APP", "PARTITION", "FROM", "BYTES", "AGE", "REASON")
            for entry in entries {
                table.row(
                    "\(entry.position)", (entry.id ?? "-").oneLine, entry.type.oneLine, (entry.app ?? "-").oneLine,
                    (entry.partition ?? "-").oneLine, (entry.queue ?? "-").oneLine, "\(entry.bytes)",
                    entry.publishedAt.map { Printing.age(ofUnixMilliseconds: $0 &* 1000) } ?? "-",
                    String(entry.reason.oneLine.prefix(120)))
            }
            Printing.line(table.rendered())
            if seen < of { Printing.note("\(of - seen) more: looked at the first \(seen) (--limit)") }
        }
    }
}

struct DeadLettersShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show dead letters in full; what users wrote only with --bodies.")
    @OptionGroup var cluster: ClusterOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var options: DeadLetterOptions
    @Flag(help: "Show the bodies: users' data.") var bodies = false

    private struct Shown: Encodable {
        var entry: DeadLetterEntry
        var body: String?
        private enum Key: CodingKey { case body }

        func encode(to encoder: any Encoder) throws {
            try entry.encode(to: encoder)
            var container = encoder.container(keyedBy: Key.self)
            try container.encodeIfPresent(body, forKey: .body)
        }
    }

    func run() async throws {
        try await reportingFailures {
            let runner = try await DeadLetterRunner(cluster, options)
            guard options.isRestricted else {
                throw CommandFailure(.badInput, "say which: positions, message ids, --app, --reason or --type")
            }
            let (meant, _, _) = try await runner.run { entry, message in
                let shown = Shown(entry: entry, body: bodies ? MessageBody.text(of: message) : nil)
                if output.json { try Printing.json(shown) } else { show(shown) }
                return .kept
            }
            try runner.requireFound(meant, "show")
        }
    }

    private func show(_ shown: Shown) {
        let entry = shown.entry
        var lines = [
            ("position", "\(entry.position)"), ("message id", entry.id ?? "-"), ("type", entry.type),
            ("app", entry.app ?? "-"), ("partition", entry.partition ?? "-"),
            ("client file", entry.clientFile.map(String.init) ?? "-"), ("from", entry.queue ?? "-"),
            ("published", entry.publishedAt.map { Printing.time(ofUnixMilliseconds: $0 &* 1000) } ?? "-"),
            ("bytes", "\(entry.bytes)"), ("content", entry.text), ("reason", entry.reason),
        ]
        if let body = shown.body { lines.append(("body", body)) }
        for (name, value) in lines {
            Printing.line(name + String(repeating: " ", count: 13 - name.count) + value.oneLine)
        }
        Printing.line("")
    }
}
