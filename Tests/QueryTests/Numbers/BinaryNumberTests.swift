import Foundation
import RealmState
import SeededRandom
import Testing

@testable import Query

/// Binary numbers as decimal digits, against what the C library prints.
@Suite struct BinaryNumberTests {
    private func double(_ random: inout SeededGenerator) -> Double {
        switch random.below(6) {
        case 0: Double(bitPattern: random.next())
        // Halves and quarters of whole numbers: their last digits are fives.
        case 1: Double(random.next() >> UInt64(random.below(60))) / 8
        case 2: Double(random.below(100_000)) / 1_000
        case 3: Double(Float(bitPattern: UInt32(truncatingIfNeeded: random.next())))
        case 4: Double(random.below(10)) * 1e22
        default: Double(random.below(1_000)) * 1e-7
        }
    }

    @Test func theyAreWrittenAsTheLibraryDoes() {
        for seed in UInt64(1)...1_500 {
            var random = SeededGenerator(seed: seed)
            let (value, digits) = (double(&random), 1 + random.below(17))
            guard !value.isNaN else { continue }
            let (found, expected) = (NumberText.text(value, digits: digits), String(format: "%.\(digits)g", value))
            guard found == expected else {
                Issue.record("seed \(seed): \(value) with \(digits) digits is \(found), expected \(expected)")
                return
            }
        }
    }

    @Test func theyBecomeDecimalsOfFifteenOrSevenDigits() {
        for seed in UInt64(10_001)...11_000 {
            var random = SeededGenerator(seed: seed)
            let value = double(&random)
            guard value.isFinite else { continue }
            let short = Float(value)
            for (found, digits, of) in [(DecimalNumber(value), 15, value), (DecimalNumber(short), 7, Double(short))]
            where of.isFinite {
                let text = String(format: "%.\(digits - 1)e", of)
                guard let expected = DecimalNumber(parsing: Array(text.utf8)), found.compare(expected) == 0 else {
                    Issue.record("seed \(seed): \(value) becomes \(found.text), expected \(text)")
                    return
                }
            }
        }
    }
}
