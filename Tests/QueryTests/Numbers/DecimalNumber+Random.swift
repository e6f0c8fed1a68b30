import Changesets
import RealmState
import SeededRandom

@testable import Query

extension SeededGenerator {
    /// Up to 34 digits of any value, or nines, or a one and zeros.
    private mutating func coefficient() -> UInt128 {
        let count = below(3) == 0 ? 34 : 1 + below(34)
        let kind = below(8)
        return (0..<count).reduce(0) { result, place in
            let digit =
                switch kind {
                case 0: 9
                case 1: place == 0 ? 1 : 0
                case 2: place == 0 ? 5 : 0
                default: below(10)
                }
            return result * 10 + UInt128(digit)
        }
    }

    /// A decimal as programs write it; now and then bits that none would write.
    mutating func decimalNumber() -> DecimalNumber {
        switch below(40) {
        case 0: return .nan
        case 1: return .infinity(isNegative: below(2) == 0)
        case 2: return DecimalNumber(Decimal128Value(high: next(), low: next()))
        default:
            let exponent =
                switch below(20) {
                case 0: -6176 + below(50)
                case 1: 6111 - below(50)
                case 2: below(12_288) - 6176
                case 3..<7: below(80) - 40
                default: below(7) - 5
                }
            return DecimalNumber(
                isNegative: below(2) == 0, coefficient: below(12) == 0 ? 0 : coefficient(), exponent: exponent)
        }
    }

    /// A decimal that is close to another one, the same in other digits, or what decides how the other one is rounded.
    mutating func neighbour(of number: DecimalNumber) -> DecimalNumber {
        guard number.kind == .finite, number.coefficient < UInt128.powersOfTen[34] else { return decimalNumber() }
        var result = number
        switch below(6) {
        case 0 where number.coefficient > 0: result.coefficient -= 1
        case 1: result.coefficient = min(result.coefficient + 1, UInt128.powersOfTen[34] - 1)
        case 2:
            let count = below(35 - result.coefficient.digitCount)
            result.coefficient *= UInt128.powersOfTen[count]
            result.exponent -= count
        case 3:
            // Half of the last digit, or a little more.
            result.coefficient = below(2) == 0 ? 5 : 5_001
            result.exponent -= result.coefficient.digitCount
        case 4: result.exponent += below(75) - 37
        default: break
        }
        if below(2) == 0 { result.isNegative.toggle() }
        result.exponent = min(max(result.exponent, DecimalNumber.minExponent), DecimalNumber.maxExponent)
        return result
    }
}
