import ArgumentParser
import Foundation
import MergeConformance

/// Writes reports to the standard output as they come; the totals are the last line.
struct ReportPrinter {
    var verdict = Verdict()
    private let options: CheckOptions
    private var hasUnreadable = false

    init(_ options: CheckOptions) { self.options = options }

    mutating func print(_ report: FileReport) {
        if report.isUnreadable { hasUnreadable = true }
        if options.json { return write(report) }
        if options.quiet, report.hasPassed { return }
        Swift.print(report.summary)
        for line in report.details { Swift.print("      \(line)") }
    }

    /// A file that cannot even be opened counts as one that failed, in whatever is counted.
    mutating func printUnreadable(_ path: String, _ error: ConformanceError, _ unit: FileReport.Unit) {
        var report = FileReport(file: path, unit: unit, limit: 1)
        report.add(error)
        print(report)
        verdict.count(false)
    }

    func finish() throws {
        if options.json {
            write(["passed": verdict.passed, "failed": verdict.failed])
        } else {
            Swift.print(verdict.summary)
        }
        if hasUnreadable { throw ExitCode(2) }
        if verdict.failed > 0 { throw ExitCode(1) }
    }

    private func write(_ value: some Encodable) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(value) else { return }
        Swift.print(String(decoding: data, as: UTF8.self))
    }
}
