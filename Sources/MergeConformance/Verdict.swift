/// How many of what was checked held.
package struct Verdict: Equatable, Sendable {
    package var passed = 0
    package var failed = 0

    package init() {}

    /// The last line of every report.
    package var summary: String { "\(passed) passed, \(failed) failed" }
}
