import SeededRandom

/// What the simulation takes from a seed: the same for the same seed everywhere.
package struct SimulationRandom: Sendable {
    private var generator: SeededGenerator

    package init(seed: UInt64) {
        generator = SeededGenerator(seed: seed &* 0x2545_F491_4F6C_DD1D &+ 0x9E37_79B9_7F4A_7C15)
    }

    package mutating func next() -> UInt64 { generator.next() }

    /// A number from 0 to `count` - 1; 0 if there is none.
    package mutating func below(_ count: Int) -> Int { generator.below(count) }
    package mutating func number(_ range: ClosedRange<Int>) -> Int { range.lowerBound + below(range.count) }
    /// Once in so many times.
    package mutating func oneIn(_ count: Int) -> Bool { below(count) == 0 }

    package mutating func pick<Element>(_ elements: [Element]) -> Element? {
        elements.isEmpty ? nil : elements[below(elements.count)]
    }

    /// Picks one of the choices, each as often as its weight says.
    package mutating func pick<Element>(_ choices: [(weight: Int, Element)]) -> Element? {
        var left = below(choices.reduce(0) { $0 + $1.weight })
        for (weight, element) in choices {
            if left < weight { return element }
            left -= weight
        }
        return nil
    }
}
