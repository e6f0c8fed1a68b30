import RealmState
import SeededRandom
import Testing

@testable import Query

/// Decimals against arithmetic on paper.
@Suite struct DecimalArithmeticTests {
    /// Calls for each of some seeds with two decimals, of which the second may be close to the first.
    private func pairs(_ seeds: Range<UInt64>, _ check: (DecimalNumber, DecimalNumber, String) -> Bool) {
        for seed in seeds {
            var random = SeededGenerator(seed: seed)
            let left = random.decimalNumber()
            let right = random.below(2) == 0 ? random.decimalNumber() : random.neighbour(of: left)
            guard check(left, right, "seed \(seed): \(left.text) and \(right.text)") else { return }
        }
    }

    /// What a decimal is once its bits are stored.
    private func stored(_ number: DecimalNumber) -> SchoolNumber { SchoolNumber(DecimalNumber(number.value)) }

    private func expect(_ found: DecimalNumber, _ expected: SchoolNumber, _ what: @autoclosure () -> String) -> Bool {
        let found = stored(found)
        if found == expected { return true }
        Issue.record("\(what()): \(found), on paper \(expected)")
        return false
    }

    @Test func sumsAndDifferencesAreThoseOnPaper() {
        pairs(1..<2_000) { left, right, what in
            let (first, second) = (SchoolNumber(left), SchoolNumber(right))
            return expect(left + right, (first + second).rounded(), "\(what), sum")
                && expect(left - right, (first + -second).rounded(), "\(what), difference")
        }
    }

    @Test func productsAreThoseOnPaper() {
        pairs(10_001..<10_400) { left, right, what in
            expect(left * right, (SchoolNumber(left) * SchoolNumber(right)).rounded(), "\(what), product")
        }
    }

    @Test func quotientsAreThoseOnPaper() {
        pairs(20_001..<20_500) { left, right, what in
            let (quotient, hasMore) = SchoolNumber(left).divided(by: SchoolNumber(right))
            return expect(left / right, quotient.rounded(hasMore: hasMore), "\(what), quotient")
        }
    }

    @Test func orderIsThatOnPaper() {
        pairs(30_001..<32_000) { left, right, what in
            let expected = SchoolNumber(left).compare(SchoolNumber(right))
            guard left.compare(right) == expected, right.compare(left) == -expected else {
                Issue.record("\(what): \(left.compare(right)), \(right.compare(left)), on paper \(expected)")
                return false
            }
            return true
        }
    }

    @Test func decimalTextsAreReadAsTheSameNumber() {
        pairs(40_001..<42_000) { number, _, what in
            let (stored, text) = (DecimalNumber(number.value), DecimalNumber(number.value).queryText)
            let read = DecimalNumber(parsing: Array(text.utf8))
            guard number.kind == .nan ? read == nil : read.map({ SchoolNumber($0) }) == SchoolNumber(stored) else {
                Issue.record("\(what): written as \(text), read as \(read?.text ?? "nothing")")
                return false
            }
            return true
        }
    }

    @Test func textsAreReadAsTheyStand() {
        for seed in UInt64(50_001)...53_000 {
            var random = SeededGenerator(seed: seed)
            let count = 1 + (random.below(3) == 0 ? random.below(70) : random.below(8))
            let isLong = random.below(2) == 0
            var digits = (0..<count).map { _ in random.below(10) }
            // Halves, and what is just above them.
            if isLong, count > 36 {
                digits.replaceSubrange(35..<count - 1, with: Array(repeating: 0, count: count - 36))
            }
            let point = random.below(3) == 0 ? random.below(count + 1) : count
            let sign = ["", "+", "-"][random.below(3)]
            var text = sign + digits[..<point].map(String.init).joined()
            if point < count || random.below(8) == 0 { text += "." + digits[point...].map(String.init).joined() }
            var exponent = point - count
            if random.below(2) == 0 {
                let power = random.below(4) == 0 ? random.below(13_000) - 6_500 : random.below(9) - 4
                exponent += power
                text += ["e", "E"][random.below(2)] + (power >= 0 && random.below(2) == 0 ? "+" : "") + "\(power)"
            }
            let expected = SchoolNumber(isNegative: sign == "-", digits: digits, exponent: exponent).rounded()
            guard let number = DecimalNumber(parsing: Array(text.utf8)), SchoolNumber(number) == expected else {
                let found = DecimalNumber(parsing: Array(text.utf8))?.text ?? "nothing"
                Issue.record("seed \(seed): \(text) is read as \(found), on paper \(expected)")
                return
            }
        }
    }
}
