import SeededRandom

/// What will be done to the cluster and when: all of it follows from the seed.
struct FaultPlan<Kind: RawRepresentable<String> & Sendable>: Sendable {
    struct Step: Sendable, CustomStringConvertible {
        /// Seconds after the one before it has ended.
        var after: Double
        var fault: Kind
        /// How long it lasts, in seconds.
        var lasts: Double
        /// Chooses among the processes, slices and so on that the fault may hit.
        var choice: UInt64

        var description: String { "\(fault.rawValue) for \((lasts * 10).rounded() / 10) s" }
    }

    private var generator: SeededGenerator
    private let faults: [Kind]
    private let stretch: Double
    private var waiting: [Kind] = []
    private let together: Int

    /// - Parameters:
    ///   - faults: those that are possible here, in the order that their kinds are declared in.
    ///   - stretch: how many times as long each of them lasts.
    ///   - together: how many there are at a time at most.
    init(seed: UInt64, faults: [Kind], stretch: Double, together: Int = 2) {
        self.together = together
        generator = SeededGenerator(seed: seed)
        self.faults = faults
        self.stretch = stretch
    }

    /// One fault, or several at a time, each to last its while. Every kind comes once before any comes again, so that a run of
    /// minutes has seen them all.
    mutating func next() -> [Step] {
        let count = Int.random(in: 0..<4, using: &generator) == 0 ? together : 1
        return (0..<count).map { _ in
            if waiting.isEmpty { waiting = faults.shuffled(using: &generator) }
            return Step(
                after: Double.random(in: 0.5...4, using: &generator), fault: waiting.removeLast(),
                lasts: stretch * Double.random(in: 0.5...8, using: &generator), choice: generator.next())
        }
    }
}
