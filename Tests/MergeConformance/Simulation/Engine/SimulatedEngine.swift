import Merge

/// The merge as the simulated peers use it: the product's own, watched from outside.
package struct SimulatedEngine: Sendable {
    package enum Side: Sendable { case server, client }

    package let rules: SimulationRules
    private let engine: MergeEngine
    private let laws: MergeLaws?
    let fault: EngineFault?

    /// - Parameter checksLaws: whether every merge is done in all the ways that have to give the same result.
    package init(_ rules: SimulationRules, checksLaws: Bool = true, fault: EngineFault? = nil) {
        self.rules = rules
        self.fault = fault
        engine = MergeEngine(compatibility: rules.merge)
        laws = checksLaws ? MergeLaws(rules.merge) : nil
    }

    func merge(
        _ incoming: [IncomingChangeset], over local: [LocalChangeset], current: UInt64, on side: Side
    ) throws(SimulationFailure) -> TransformResult {
        guard let fault else { return try merge(incoming, over: local, current: current) }
        let (wrongLocal, wrongIncoming) = fault.before(local, incoming, on: side)
        let result = try merge(wrongIncoming, over: wrongLocal, current: current)
        return fault.after(result, of: incoming, on: side)
    }

    private func merge(
        _ incoming: [IncomingChangeset], over local: [LocalChangeset], current: UInt64
    ) throws(SimulationFailure) -> TransformResult {
        let result: TransformResult
        do throws(MergeError) {
            result = try engine.transform(incoming: incoming, over: local, currentLocalVersion: current)
        } catch {
            throw SimulationFailure(.honestPeersAreAccepted, "the merge failed: \(error)")
        }
        try laws?.check(result, incoming, over: local, current: current)
        return result
    }
}
