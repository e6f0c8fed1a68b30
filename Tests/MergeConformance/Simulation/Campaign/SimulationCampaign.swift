/// Many seeds, on as many cores as wanted.
package struct SimulationCampaign: Sendable {
    /// A seed that failed, made small.
    package struct Case: Sendable {
        package var seed: UInt64
        package var failure: SimulationFailure
        package var script: SimulationScript
        package var stepsBefore: Int
    }

    package struct Report: Sendable {
        package var verdict = Verdict()
        /// The lowest failing seeds, in order; no more than were asked for.
        package var cases: [Case] = []
    }

    private let options: SimulationGenerator.Options
    private let width: Int
    private let maxCases: Int
    private static let chunk: UInt64 = 64

    package init(_ options: SimulationGenerator.Options, width: Int = 1, maxCases: Int = 3) {
        self.options = options
        self.width = max(1, width)
        self.maxCases = maxCases
    }

    /// - Parameter progress: called now and then with the verdict so far.
    package func run(
        _ seeds: ClosedRange<UInt64>, progress: @Sendable (Verdict) -> Void = { _ in }
    ) async -> Report {
        var report = Report()
        var failures: [(seed: UInt64, script: SimulationScript, failure: SimulationFailure)] = []
        await withTaskGroup(of: ChunkResult.self) { group in
            var next: UInt64? = seeds.lowerBound
            func addChunk() {
                guard let low = next else { return }
                let high = min(seeds.upperBound, low.addingReportingOverflow(Self.chunk - 1).partialValue)
                next = high < low || high == seeds.upperBound ? nil : high + 1
                group.addTask { [self] in chunk(low...max(low, high)) }
            }
            for _ in 0..<width { addChunk() }
            for await result in group {
                report.verdict.passed += result.passed
                report.verdict.failed += result.failures.count
                failures += result.failures
                // What is kept is the same however the chunks came in.
                failures.sort { $0.seed < $1.seed }
                failures.removeLast(max(0, failures.count - maxCases))
                progress(report.verdict)
                addChunk()
            }
        }
        report.cases = failures.map(small)
        return report
    }

    private struct ChunkResult: Sendable {
        var passed = 0
        var failures: [(seed: UInt64, script: SimulationScript, failure: SimulationFailure)] = []
    }

    private func chunk(_ seeds: ClosedRange<UInt64>) -> ChunkResult {
        var result = ChunkResult()
        for seed in seeds {
            var generator = SimulationGenerator(seed: seed, options)
            let (script, failure) = generator.run()
            if let failure {
                result.failures.append((seed, script, failure))
            } else {
                result.passed += 1
            }
        }
        return result
    }

    private func small(
        _ found: (seed: UInt64, script: SimulationScript, failure: SimulationFailure)
    ) -> Case {
        var shrinker = SimulationShrinker(found.failure.invariant, fault: options.fault)
        var script = shrinker.shrink(found.script)
        let failure = Simulation.run(script, fault: options.fault) ?? found.failure
        script.remarks = [
            "Seed \(found.seed) of profile \(options.profile.name) broke \(failure.invariant)."
        ]
        return Case(seed: found.seed, failure: failure, script: script, stepsBefore: found.script.steps.count)
    }
}
