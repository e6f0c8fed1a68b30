import Foundation
import TestSupport
import Testing

/// Clients with subscriptions and roles of their own write, come and go, ask for other subscriptions while others write, are given other
/// rights, and lose connections in the middle, while owners come and go: in the end each has exactly what is in its view, and was never sent
/// what its role did not let it read.
@Suite(.hangGuard) struct FlexibleSimulationTests {
    /// Ten schedules each: 80 for each law in a usual run, which take a minute of a processor.
    private static let seeds =
        ProcessInfo.processInfo.environment["SLUICE_FLEXIBLE_SEEDS"].flatMap { UInt64($0) } ?? 8

    /// A schedule that is told of (`QuickClientSimulation`) is the only one that runs of its seed's.
    private func schedules(_ seed: UInt64) -> [UInt64] {
        let all = (0..<10).map { seed * 100 + $0 }
        guard let told = QuickClientSimulation.told else { return all }
        return all.filter { $0 == told }
    }

    @Test(arguments: 1...seeds) func everyCopyIsItsView(seed: UInt64) async throws {
        var used = 0
        for round in 0..<10 {
            let simulation = try await FlexibleSimulation(seed: seed * 100 + UInt64(round))
            try await simulation.run()
            try await simulation.finish()
            used += simulation.used
        }
        expectTrue(used > 0)
    }

    /// Clients that do nothing wrong and wait for nothing, and now and then have to reset.
    @Test(arguments: 1...seeds) func noWriteOfAnHonestClientIsUndone(seed: UInt64) async throws {
        var early = 0
        var resets = 0
        for number in schedules(seed) {
            let simulation = try await QuickClientSimulation(seed: number)
            do {
                try await simulation.run()
                try await simulation.finish()
            } catch { Issue.record("seed \(number): \(error)") }
            early += simulation.early
            resets += simulation.resets
        }
        expectTrue(QuickClientSimulation.told != nil || early > 0 && resets > 0)
    }

    /// Clients that write whatever they like, under roles that change, and often have to reset.
    @Test(arguments: 1...seeds) func everyCopyOfAWildClientIsItsView(seed: UInt64) async throws {
        var resets = 0
        for number in schedules(seed) {
            let simulation = try await QuickClientSimulation(seed: number, isHonest: false)
            do {
                try await simulation.run()
                try await simulation.finish()
            } catch { Issue.record("seed \(number): \(error)") }
            resets += simulation.resets
        }
        expectTrue(QuickClientSimulation.told != nil || resets > 0)
    }
}
