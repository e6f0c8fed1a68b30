import SeededRandom

/// What will be done to the cluster and when: all of it follows from the seed.
struct FaultPlan: Sendable {
    struct Step: Sendable, CustomStringConvertible {
        /// Seconds after the one before it has ended.
        var after: Double
        var fault: Fault
        /// How long it lasts, in seconds.
        var lasts: Double
        /// Chooses among the processes, slices and so on that the fault may hit.
        var choice: UInt64

        var description: String { "\(fault.rawValue) for \((lasts * 10).rounded() / 10) s" }
    }

    private var generator: SeededGenerator
    private let faults: [Fault]
    private let stretch: Double
    private var waiting: [Fault] = []

    /// - Parameters:
    ///   - faults: those that are possible here, in the order of `Fault.allCases`.
    ///   - stretch: how many times as long each of them lasts.
    init(seed: UInt64, faults: [Fault], stretch: Double) {
        generator = SeededGenerator(seed: seed)
        self.faults = faults
        self.stretch = stretch
    }

    /// One fault, or two at a time, each to last its while. Every kind comes once before any comes again, so that a run of
    /// minutes has seen them all.
    mutating func next() -> [Step] {
        let count = Int.random(in: 0..<4, using: &generator) == 0 ? 2 : 1
        return (0..<count).map { _ in
            if waiting.isEmpty { waiting = faults.shuffled(using: &generator) }
            return Step(
                after: Double.random(in: 0.5...4, using: &generator), fault: waiting.removeLast(),
                lasts: stretch * Double.random(in: 0.5...8, using: &generator), choice: generator.next())
        }
    }
}
