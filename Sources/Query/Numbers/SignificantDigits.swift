/// The first decimal digits of a binary number, correctly rounded from its exact value, half to even.
struct SignificantDigits {
    /// The digits, as many as were asked for; the first one is zero for zero only.
    private(set) var digits: [UInt8]
    /// The power of ten of the first digit.
    private(set) var exponent: Int
    /// The number has no further digits.
    let isExact: Bool

    /// - Parameter value: finite and not negative.
    init(_ value: Double, count: Int) {
        guard value > 0 else {
            digits = [UInt8](repeating: 0, count: count)
            exponent = 0
            isExact = true
            return
        }
        let exact = Self.exactDigits(of: value)
        digits = Array(exact.digits.prefix(count))
        exponent = exact.digits.count - 1 - exact.fraction
        let rest = exact.digits.dropFirst(count)
        isExact = rest.allSatisfy { $0 == 0 }
        if let first = rest.first, let last = digits.last {
            let isHalf = first == 5 && rest.dropFirst().allSatisfy { $0 == 0 }
            if first > 5 || (first == 5 && (!isHalf || last & 1 == 1)) { increment() }
        }
        digits += [UInt8](repeating: 0, count: count - digits.count)
    }

    private mutating func increment() {
        for position in digits.indices.reversed() {
            guard digits[position] == 9 else {
                digits[position] += 1
                return
            }
            digits[position] = 0
        }
        digits[0] = 1
        exponent += 1
    }

    /// All digits of a number, and how many of them follow the point.
    private static func exactDigits(of value: Double) -> (digits: [UInt8], fraction: Int) {
        let mantissa = value.significandBitPattern | (value.isNormal ? 1 << 52 : 0)
        let power = (value.isNormal ? Int(value.exponentBitPattern) : 1) - 1075
        // m * 2^-k = m * 5^k / 10^k.
        let shift = min(mantissa.trailingZeroBitCount, max(-power, 0))
        var number = LargeNumber(mantissa >> UInt64(shift))
        let remaining = power + shift
        for _ in 0..<abs(remaining) { number.multiply(by: remaining < 0 ? 5 : 2) }
        return (number.digits, max(-remaining, 0))
    }
}

/// A natural number of any size, in limbs of nine decimal digits, the lowest first.
private struct LargeNumber {
    private static let base: UInt64 = 1_000_000_000
    private var limbs: [UInt64]

    init(_ value: UInt64) {
        limbs = []
        var rest = value
        repeat {
            limbs.append(rest % Self.base)
            rest /= Self.base
        } while rest > 0
    }

    mutating func multiply(by factor: UInt64) {
        var carry: UInt64 = 0
        for position in limbs.indices {
            let product = limbs[position] * factor + carry
            limbs[position] = product % Self.base
            carry = product / Self.base
        }
        if carry > 0 { limbs.append(carry) }
    }

    /// The highest first, without leading zeros.
    var digits: [UInt8] {
        var reversed: [UInt8] = []
        for limb in limbs {
            var rest = limb
            for _ in 0..<9 {
                reversed.append(UInt8(rest % 10))
                rest /= 10
            }
        }
        while reversed.count > 1, reversed.last == 0 { reversed.removeLast() }
        return reversed.reversed()
    }
}
