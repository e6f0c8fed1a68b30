import ArgumentParser
import Foundation
import MergeConformance

/// `conformance exhaustive`: every combination of small changes, in every order.
struct ExhaustiveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "exhaustive",
        abstract: "Try every combination of what a few clients can do at once, in every order of arrival.",
        discussion: "Each client makes one move without knowing of the others'; in the end all copies have to be equal."
    )

    @Option(help: "Which family of cases: 'all', or a name; 'list' lists them.")
    var family = "all"

    @Option(help: "By which rules the peers merge, apply and record: convergent, stock or mixed.")
    var compatibility: SimulationRules = .convergent

    @Option(help: "How many failures of a family to print.")
    var show = 2

    @Option(help: "Where to keep the scripts of failures.")
    var keep: String?

    func run() async throws {
        guard family != "list" else {
            for family in ExhaustiveFamily.all {
                print("\(family.name): \(family.caseCount) cases, \(family.summary)")
            }
            return
        }
        let families = family == "all" ? ExhaustiveFamily.all : ExhaustiveFamily.named(family).map { [$0] } ?? []
        guard !families.isEmpty else {
            throw ValidationError("no family is called '\(family)'; --family list lists them")
        }
        var total = Verdict()
        for family in families {
            let start = ContinuousClock.now
            let report = ExhaustiveRun(family, compatibility, maxFailures: show).run()
            let seconds = (ContinuousClock.now - start) / .seconds(1)
            total.passed += report.cases - report.failed
            total.failed += report.failed
            print(
                "\(family.name): \(report.cases) cases, \(report.failed) failed, \(String(format: "%.1f", seconds)) s")
            for (number, found) in report.failures.enumerated() {
                show(found.script, found.failure, "\(family.name)-\(compatibility.rawValue)-\(number + 1)")
            }
        }
        print(total.summary)
        if total.failed > 0 { throw ExitCode(1) }
    }

    private func show(_ script: SimulationScript, _ failure: SimulationFailure, _ name: String) {
        var shrinker = SimulationShrinker(failure.invariant)
        let small = shrinker.shrink(script)
        let text = "\n\(failure)\n\n\(small.description)\n"
        FileHandle.standardError.write(Data(text.utf8))
        guard let keep else { return }
        try? FileManager.default.createDirectory(atPath: keep, withIntermediateDirectories: true)
        try? Data(small.description.utf8).write(to: URL(fileURLWithPath: keep).appendingPathComponent("\(name).script"))
    }
}
