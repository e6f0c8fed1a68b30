/// How many of what was checked held.
package struct Verdict: Equatable, Sendable {
    package var passed = 0
    package var failed = 0

    package init() {}

    package mutating func count(_ held: Bool) {
        if held { passed += 1 } else { failed += 1 }
    }

    /// The last line of every report.
    package var summary: String { "\(passed) passed, \(failed) failed" }
}
