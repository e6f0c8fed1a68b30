/// SplitMix64: the same numbers from the same seed on every machine.
struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    /// A generator of its own for each who needs one, so that one's use does not shift another's numbers.
    func fork(_ number: Int) -> SeededGenerator {
        var generator = SeededGenerator(seed: state &+ UInt64(truncatingIfNeeded: number) &* 0xd1b5_4a32_d192_ed03)
        _ = generator.next()
        return generator
    }
}
