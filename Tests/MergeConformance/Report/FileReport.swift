/// What checking one file has found.
package struct FileReport: Sendable {
    package enum Unit: String, Sendable {
        case events, cases, queries
    }

    package var file: String
    package var unit: Unit
    /// The verdict on the events or cases.
    package var verdict = Verdict()
    /// How often something differed for a known and accepted reason: deliberate differences by their names, and
    /// `interning`, equal instructions over another table of strings.
    package var accepted: [String: Int] = [:]
    /// The first differences, up to the limit.
    package private(set) var differences: [Difference] = []
    package private(set) var differenceCount = 0
    /// Lines that are no recording's, or why the file cannot be read.
    package private(set) var errors: [ConformanceError] = []
    /// More about what was checked, for people.
    package var note: String?
    private let limit: Int

    package init(file: String, unit: Unit, limit: Int) {
        self.file = file
        self.unit = unit
        self.limit = limit
    }

    package mutating func add(_ difference: Difference) {
        differenceCount += 1
        if differences.count < limit { differences.append(difference) }
    }

    package mutating func add(_ error: ConformanceError) { errors.append(error) }

    package mutating func accept(_ reason: String) { accepted[reason, default: 0] += 1 }

    package var isUnreadable: Bool { !errors.isEmpty }
    package var hasPassed: Bool { differenceCount == 0 && errors.isEmpty && verdict.failed == 0 }

    /// One line.
    package var summary: String {
        var text = hasPassed ? "ok    \(file): " : "FAIL  \(file): "
        text += "\(verdict.passed + verdict.failed) \(unit.rawValue), \(verdict.summary)"
        if let note { text += "; \(note)" }
        if !accepted.isEmpty {
            let counts = accepted.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
            text += "; accepted: \(counts.joined(separator: ", "))"
        }
        return text
    }

    /// What is behind a failure.
    package var details: [String] {
        var lines = errors.prefix(limit).map { "\($0)" }
        if errors.count > limit { lines.append("\(errors.count - limit) more lines that cannot be read") }
        lines += differences.flatMap(\.lines)
        if differenceCount > differences.count {
            lines.append("\(differenceCount - differences.count) more differences")
        }
        return lines
    }
}
