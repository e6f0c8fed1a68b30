import ArgumentParser
import MergeConformance

struct PairsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pairs",
        abstract: "Merge recorded pairs of small concurrent histories.",
        discussion: """
            Each case must give both sides' recorded bytes, or an error where the reference errs. Under `--compatibility
            convergent` a deliberate difference passes and is counted by its name. The last line counts cases. Exit code
            1: something differs; 2: a file or line cannot be read.
            """)

    @OptionGroup var options: CheckOptions

    func run() throws {
        var printer = ReportPrinter(options)
        for path in options.files {
            do throws(ConformanceError) {
                let report = PairCheck.check(
                    try InputFile(path: path), compatibility: options.compatibility.merge, limit: options.limit)
                printer.print(report)
                printer.verdict.passed += report.verdict.passed
                printer.verdict.failed += report.verdict.failed
            } catch {
                printer.printUnreadable(path, error, .cases)
            }
        }
        try printer.finish()
    }
}
