import ArgumentParser
import MergeConformance

struct ReplayCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Replay recorded scenarios of one server and several clients.",
        discussion: """
            Each integration must give the recorded result, instruction for instruction and byte for byte, and every
            peer must end in the recorded state. The last line counts files. Exit code 1: something differs; 2: a file
            cannot be read.
            """)

    @OptionGroup var options: CheckOptions

    func run() throws {
        var printer = ReportPrinter(options)
        for path in options.files {
            do throws(ConformanceError) {
                let report = ScenarioReplay.check(
                    try InputFile(path: path), compatibility: options.compatibility.merge, limit: options.limit)
                printer.print(report)
                printer.verdict.count(report.hasPassed)
            } catch {
                printer.printUnreadable(path, error, .events)
            }
        }
        try printer.finish()
    }
}
