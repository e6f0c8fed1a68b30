import ArgumentParser
import MergeConformance

struct QueriesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "queries",
        abstract: "Run recorded queries on recorded objects.",
        discussion: """
            Each query must select the recorded objects and be written as the recorded canonical text, which in turn must
            select the same; or it must be refused where the reference refuses it. Lines on which the reference departs from its
            own rules are counted as accepted. The last line counts queries. Exit code 1: something differs; 2: a file or line
            cannot be read.
            """)

    @OptionGroup var options: CheckOptions

    func run() throws {
        var printer = ReportPrinter(options)
        for path in options.files {
            do throws(ConformanceError) {
                let report = QueryCheck.check(try InputFile(path: path), limit: options.limit)
                printer.print(report)
                printer.verdict.passed += report.verdict.passed
                printer.verdict.failed += report.verdict.failed
            } catch {
                printer.printUnreadable(path, error, .queries)
            }
        }
        try printer.finish()
    }
}
