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

    /// The engine as one side's integration calls it.
    func on(_ side: Side) -> OneSide { OneSide(engine: self, side: side) }

    struct OneSide: ChangesetMerging {
        let engine: SimulatedEngine
        let side: Side

        func transform(
            incoming: [IncomingChangeset], over local: [LocalChangeset], currentLocalVersion: UInt64
        ) throws(SimulationFailure) -> TransformResult {
            guard let fault = engine.fault else {
                return try engine.merge(incoming, over: local, current: currentLocalVersion)
            }
            let (wrongLocal, wrongIncoming) = fault.before(local, incoming, on: side)
            let result = try engine.merge(wrongIncoming, over: wrongLocal, current: currentLocalVersion)
            return fault.after(result, of: incoming, on: side)
        }
    }

    /// Whether every merge is done in all the ways that have to give the same result. With a fault on purpose they differ.
    var checksLaws: Bool { laws != nil && fault == nil }

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
