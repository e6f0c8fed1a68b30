import Foundation
import MergeConformance
import TestSupport
import Testing

/// The laws that hold under each setting (docs/merge.md, "Where we differ").
@Suite(.hangGuard) struct StockRulesTests {
    /// What stock clients can bring apart among themselves.
    private static let divergent: Set<String> = [
        // D1, and Clears that do not follow their element.
        "mixed", "mixed-pairs", "embedded", "embedded-pairs",
        // D3.
        "erased-schema",
        // D4.
        "embedded-dictionaries",
        // Equal numbers that are not the same.
        "twins",
    ]
    private static let names = ExhaustiveFamily.all.map(\.name)

    @Test(arguments: names.filter { !divergent.contains($0) })
    func stockClientsAgree(family name: String) throws {
        let family = try #require(ExhaustiveFamily.named(name))
        let report = ExhaustiveRun(family, .stock, sparseness: max(1, family.caseCount / 300) | 1).run()
        for (script, failure) in report.failures { Issue.record("\(failure)\n\(script)") }
    }

    @Test(arguments: names.filter { divergent.contains($0) })
    func stockClientsComeApart(family name: String) throws {
        let family = try #require(ExhaustiveFamily.named(name))
        expectTrue(ExhaustiveRun(family, .stock, sparseness: max(1, family.caseCount / 2_000) | 1).run().failed > 0)
    }

    /// Convergent merging is enough for all but what the recorder and the applier have their part in.
    @Test(arguments: ExhaustiveFamily.all)
    func convergentMergingIsEnoughForMost(family: ExhaustiveFamily) {
        let report = ExhaustiveRun(family, .mixed, sparseness: max(1, family.caseCount / 300) | 1).run()
        expectEqual((report.failed > 0), family.needsOwnPeers, "\(family.name)")
    }

    /// Each known weakness of the reference in its smallest form: it shows by the rules of stock clients, and not by ours.
    @Test func weaknessesOfTheReferenceAreOursNoMore() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Fixtures/simulation/weaknesses")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".script") }
        expectTrue(names.count >= 5)
        for name in names.sorted() {
            var script = try SimulationScript(
                parsing: String(contentsOf: folder.appending(path: name), encoding: .utf8))
            expectTrue(Simulation.run(script, checksLaws: false) != nil, "\(name) by its own rules")
            script.rules = .convergent
            expectTrue(Simulation.run(script) == nil, "\(name) by the convergent rules")
        }
    }
}
