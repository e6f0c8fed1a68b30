/// SplitMix64: the same numbers from the same seed on every machine and with every version of the standard library.
package struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }

    /// A number from 0 to `count` - 1; 0 if there is none.
    package mutating func below(_ count: Int) -> Int { count > 1 ? Int(next() >> 1) % count : 0 }

    /// A generator for one of several users, so that the numbers of one do not depend on what the others have taken.
    package func fork(_ number: Int) -> SeededGenerator {
        var generator = SeededGenerator(seed: state &+ UInt64(truncatingIfNeeded: number) &* 0xD1B5_4A32_D192_ED03)
        _ = generator.next()
        return generator
    }
}
