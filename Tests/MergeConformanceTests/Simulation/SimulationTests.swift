import Foundation
import MergeConformance
import TestSupport
import Testing

@Suite(.hangGuard) struct SimulationTests {
    private static let profiles = SimulationProfile.all.map(\.name)

    /// A few seeds of every profile; `conformance simulate` runs as many as one likes.
    @Test(arguments: profiles)
    func allCopiesConverge(profile name: String) async throws {
        let report = await SimulationCampaign(try options(name)).run(1...8)
        for found in report.cases { Issue.record("\(found.failure)\n\(found.script)") }
        expectEqual(report.verdict.passed, 8)
    }

    /// Only the families of section 15 may differ with the recorder and applier of stock clients.
    @Test(arguments: SimulationProfile.all.filter { !$0.needsOwnPeers }.map(\.name))
    func convergentMergesSufficeWithoutDictionariesOfEmbeddedObjects(profile name: String) async throws {
        var options = try options(name)
        options.rules = .mixed
        let report = await SimulationCampaign(options).run(1...4)
        for found in report.cases { Issue.record("\(found.failure)\n\(found.script)") }
        expectEqual(report.verdict.passed, 4)
    }

    @Test func aSeedIsTheSameRunEveryTime() throws {
        var first = SimulationGenerator(seed: 4711, try options("rich"))
        var second = SimulationGenerator(seed: 4711, try options("rich"))
        let (script, failure) = first.run()
        let (again, _) = second.run()
        expectTrue(failure == nil)
        expectEqual(script, again)
        expectTrue(script.editCount > 10)
        // As text it is the same run as well.
        expectTrue(Simulation.run(try SimulationScript(parsing: script.description)) == nil)
    }

    /// The harness can fail: whatever is broken in the merge is found, and made small.
    @Test(arguments: EngineFault.allCases)
    func aMistakeInTheMergeIsFoundAndShrunk(fault: EngineFault) async throws {
        var options = try options("lists")
        options.fault = fault
        var found: SimulationCampaign.Case?
        for seed in UInt64(1)...200 where found == nil {
            found = await SimulationCampaign(options, maxCases: 1).run(seed...seed).cases.first
        }
        let shrunk = try #require(found)
        expectTrue(shrunk.script.editCount <= 8, "\(shrunk.script)")
        expectTrue(shrunk.script.steps.count <= 20, "\(shrunk.script)")
        expectEqual(Simulation.run(shrunk.script, fault: fault)?.invariant, shrunk.failure.invariant)
        expectTrue(Simulation.run(shrunk.script) == nil, "without the mistake the script passes")
    }

    /// What was found once is run for ever.
    @Test func keptScriptsPass() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Fixtures/simulation")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".script") }
        expectTrue(!names.isEmpty)
        for name in names.sorted() {
            let text = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
            let failure = Simulation.run(try SimulationScript(parsing: text))
            expectTrue(failure == nil, "\(name)")
        }
    }

    private func options(_ profile: String) throws -> SimulationGenerator.Options {
        var options = SimulationGenerator.Options()
        options.profile = try #require(SimulationProfile.named(profile))
        options.steps = 50
        return options
    }
}
