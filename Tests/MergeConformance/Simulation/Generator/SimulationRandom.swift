/// SplitMix64: the same numbers for the same seed on every machine and with every version of the standard library.
package struct SimulationRandom: Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed &* 0x2545_F491_4F6C_DD1D &+ 0x9E37_79B9_7F4A_7C15 }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }

    /// A number from 0 to `count` - 1; 0 if there is none.
    package mutating func below(_ count: Int) -> Int { count > 1 ? Int(next() >> 1) % count : 0 }
    package mutating func number(_ range: ClosedRange<Int>) -> Int { range.lowerBound + below(range.count) }
    /// Once in so many times.
    package mutating func oneIn(_ count: Int) -> Bool { below(count) == 0 }

    package mutating func pick<Element>(_ elements: [Element]) -> Element? {
        elements.isEmpty ? nil : elements[below(elements.count)]
    }

    /// One of the choices, each as often as its weight says.
    package mutating func pick<Element>(_ choices: [(weight: Int, Element)]) -> Element? {
        var left = below(choices.reduce(0) { $0 + $1.weight })
        for (weight, element) in choices {
            if left < weight { return element }
            left -= weight
        }
        return nil
    }
}
