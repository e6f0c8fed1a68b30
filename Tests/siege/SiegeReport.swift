import Foundation

/// The one table that a siege ends with.
struct SiegeReport: Codable {
    /// One phase: an attack, or a calm before or after.
    struct Row: Codable {
        var name: String
        var seconds: Double
        var sent = Tally.Counts()
        /// The honest apps: the one with partitions, and the flexible one.
        var partitioned = Honest()
        var flexible = Honest()
        /// The number of visits to the app with partitions.
        var visits = 0
        var longestVisit = 0.0
        var before = Footprint()
        /// The largest memory while it lasted, by role.
        var peak: [String: Int] = [:]
        /// Once everything has rested a moment.
        var after = Footprint()
        var unexpectedEnds = 0
        /// The bounds that were broken; empty in a good row.
        var broken: [String] = []

        var honestErrors: [String] { partitioned.errors + flexible.errors }
    }

    /// What an honest app met in a phase.
    struct Honest: Codable {
        /// How many changes it made, and how long they took to the other of a pair, in milliseconds.
        var changes = 0
        var median = 0.0
        var p99 = 0.0
        /// The median, as a multiple of the calm one's.
        var ratio = 1.0
        var errors: [String] = []

        init() {}

        init(_ extract: HonestLedger.Extract, calm: Double?) {
            changes = extract.latencies.count
            median = extract.median
            p99 = extract.p99
            ratio = calm.map { extract.median / $0 } ?? 1
            errors = extract.errors
        }
    }

    var seed: UInt64
    var seconds: Int
    var configuration: String
    var rows: [Row] = []
    /// What is wrong beside the rows, in words.
    var findings: [String] = []

    var passed: Bool { findings.isEmpty && rows.allSatisfy(\.broken.isEmpty) }

    /// Compares a row with the bounds.
    ///
    /// - Parameter judgesLatency: whether a slow honest app breaks a bound; a noisy machine slows it, too.
    static func broken(_ row: Row, judgesLatency: Bool) -> [String] {
        var broken: [String] = []
        for (name, honest) in [("honest", row.partitioned), ("honest flexible", row.flexible)] {
            if judgesLatency, honest.ratio > Bounds.medianRatio {
                broken.append("the \(name) app's median \(number(honest.ratio)) times the calm one's")
            }
            if honest.changes == 0 { broken.append("the \(name) app made no change") }
        }
        if !row.honestErrors.isEmpty { broken.append("\(row.honestErrors.count) honest errors") }
        if row.unexpectedEnds > 0 { broken.append("\(row.unexpectedEnds) processes ended") }
        for (role, bound) in Bounds.memory.sorted(by: { $0.key < $1.key }) {
            let before = row.before.memory[role] ?? 0
            let peak = ((row.peak[role] ?? 0) - before) >> 20
            let after = ((row.after.memory[role] ?? 0) - before) >> 20
            if peak > bound.peak { broken.append("\(role) +\(peak) MiB") }
            if after > bound.after { broken.append("\(role) keeps \(after) MiB") }
        }
        for (place, bound) in Bounds.disk.sorted(by: { $0.key < $1.key }) {
            let grown = ((row.after.disk[place] ?? 0) - (row.before.disk[place] ?? 0)) >> 20
            if grown > bound { broken.append("disk of the \(place) +\(grown) MiB") }
        }
        return broken
    }

    /// The table as Markdown.
    var table: String {
        let roles = ["gateway", "worker", "coordinator", "broker"]
        let places = ["store", "broker"]
        var lines = [
            "| attack | sent | accepted | refused | median ms (times calm) | p99 ms | "
                + "flexible median ms (times calm) | flexible p99 ms | errors | "
                + roles.map { "\($0) MiB" }.joined(separator: " | ") + " | "
                + places.map { "\($0) disk MiB" }.joined(separator: " | ") + " | processor s | verdict |"
        ]
        lines.append("|" + String(repeating: "---|", count: 11 + roles.count + places.count))
        for row in rows {
            let refusals = row.sent.refusals.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
                .map { "\($0.key) ×\($0.value)" }.joined(separator: ", ")
            var cells = [
                row.name, row.sent.messages == 0 ? "" : "\(row.sent.messages), \(Self.size(row.sent.bytesSent))",
                row.sent.messages == 0 ? "" : "\(row.sent.accepted)", refusals,
            ]
            for honest in [row.partitioned, row.flexible] {
                cells += ["\(Self.number(honest.median)) (\(Self.number(honest.ratio)))", Self.number(honest.p99)]
            }
            cells.append("\(row.honestErrors.count)")
            cells += roles.map { role in
                [row.before.memory[role], row.peak[role], row.after.memory[role]].map { "\(($0 ?? 0) >> 20)" }
                    .joined(separator: "/")
            }
            cells += places.map { "\((row.before.disk[$0] ?? 0) >> 20)/\((row.after.disk[$0] ?? 0) >> 20)" }
            cells.append(
                roles.map { Self.number((row.after.processor[$0] ?? 0) - (row.before.processor[$0] ?? 0)) }
                    .joined(separator: "/"))
            cells.append(row.broken.isEmpty ? "held" : row.broken.joined(separator: "; "))
            lines.append("| " + cells.joined(separator: " | ") + " |")
        }
        return lines.joined(separator: "\n")
    }

    private static func number(_ value: Double) -> String {
        value.isFinite ? String(format: value < 100 ? "%.1f" : "%.0f", value) : "-"
    }

    private static func size(_ bytes: Int) -> String {
        bytes < 10_000 ? "\(bytes) B" : bytes < 10_000_000 ? "\(bytes / 1_000) kB" : "\(bytes / 1_000_000) MB"
    }
}
