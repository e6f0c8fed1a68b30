import SeededRandom

/// Chance that all who take part in a schedule share.
final class Chance {
    private var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    func pick(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
    func element<Element>(of elements: [Element]) -> Element? { elements.randomElement(using: &random) }
}
