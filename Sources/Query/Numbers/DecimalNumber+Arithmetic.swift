package import RealmState

/// Arithmetic on decimals as IEEE 754-2008 has it for decimal128: 34 digits, half to even.
extension DecimalNumber {
    package static let precision = 34
    package static let maxExponent = 6111
    static let minExponent = -6176
    package static let nan = special(.nan)
    static let zero = DecimalNumber(coefficient: 0, exponent: 0)

    static func infinity(isNegative: Bool) -> DecimalNumber { special(.infinite, isNegative: isNegative) }

    private static func special(_ kind: Kind, isNegative: Bool = false) -> DecimalNumber {
        var result = DecimalNumber(isNegative: isNegative, coefficient: 0, exponent: 0)
        result.kind = kind
        return result
    }

    var isZero: Bool { kind == .finite && coefficient == 0 }

    /// The number with its digits cut to 34 and its exponent within range.
    /// - Parameter hasMore: whether something other than zero follows the coefficient's last digit.
    func rounded(hasMore: Bool = false) -> DecimalNumber {
        guard kind == .finite else { return self }
        var result = self
        var hasMore = hasMore
        let surplus = coefficient.digitCount - Self.precision
        let below = coefficient == 0 ? 0 : Self.minExponent - exponent
        result.drop(max(surplus, below), &hasMore)
        if result.coefficient == Self.limit {
            result.coefficient /= 10
            result.exponent += 1
        }
        if result.coefficient == 0 {
            result.exponent = min(max(result.exponent, Self.minExponent), Self.maxExponent)
        }
        let above = result.exponent - Self.maxExponent
        guard above > 0 else { return result }
        guard result.coefficient.digitCount + above <= Self.precision else {
            return .infinity(isNegative: isNegative)
        }
        result.coefficient *= UInt128.powersOfTen[above]
        result.exponent = Self.maxExponent
        return result
    }

    private static let limit = UInt128.powersOfTen[precision]

    /// Takes the last digits away, rounding half to even.
    private mutating func drop(_ digits: Int, _ hasMore: inout Bool) {
        guard digits > 0 else { return }
        exponent += digits
        guard digits < 39 else {
            coefficient = 0
            return
        }
        let unit = UInt128.powersOfTen[digits]
        let rest = coefficient % unit
        coefficient /= unit
        let half = unit / 2
        if rest > half || (rest == half && (hasMore || coefficient & 1 == 1)) { coefficient += 1 }
        hasMore = false
    }

    package static prefix func - (number: DecimalNumber) -> DecimalNumber {
        var result = number
        result.isNegative.toggle()
        return result
    }

    package static func + (left: DecimalNumber, right: DecimalNumber) -> DecimalNumber {
        if left.kind == .nan || right.kind == .nan { return .nan }
        if left.kind == .infinite || right.kind == .infinite {
            guard left.kind == right.kind else { return left.kind == .infinite ? left : right }
            return left.isNegative == right.isNegative ? left : .nan
        }
        let (high, low) = left.exponent >= right.exponent ? (left, right) : (right, left)
        if high.coefficient == 0 { return low.coefficient == 0 && !high.isNegative ? low.magnitude : low }
        if low.coefficient == 0 { return high.scaled(downTo: low.exponent) }
        // The greater exponent's coefficient is padded as far as it fits; beyond that the other one has no digit of
        // the 34, and only counts as "something follows".
        let distance = high.exponent - low.exponent
        let padding = min(distance, 38 - high.coefficient.digitCount)
        let wide = high.coefficient * UInt128.powersOfTen[padding]
        let cut = distance - padding
        let unit = cut < 39 ? UInt128.powersOfTen[cut] : 0
        let narrow = unit == 0 ? 0 : low.coefficient / unit
        let hasMore = unit == 0 ? true : low.coefficient % unit != 0
        var result = DecimalNumber(isNegative: high.isNegative, coefficient: 0, exponent: high.exponent - padding)
        if high.isNegative == low.isNegative {
            result.coefficient = wide + narrow
        } else if wide > narrow || (wide == narrow && !hasMore) {
            result.coefficient = wide - narrow - (hasMore ? 1 : 0)
            if result.coefficient == 0 { result.isNegative = false }
        } else {
            result.coefficient = narrow - wide
            result.isNegative = low.isNegative
        }
        return result.rounded(hasMore: hasMore)
    }

    package static func - (left: DecimalNumber, right: DecimalNumber) -> DecimalNumber { left + -right }

    package static func * (left: DecimalNumber, right: DecimalNumber) -> DecimalNumber {
        if left.kind == .nan || right.kind == .nan { return .nan }
        let isNegative = left.isNegative != right.isNegative
        if left.kind == .infinite || right.kind == .infinite {
            return left.isZero || right.isZero ? .nan : .infinity(isNegative: isNegative)
        }
        // Halves of 17 digits each: every product of two fits.
        let base = UInt128.powersOfTen[17]
        let (leftHigh, leftLow) = left.coefficient.quotientAndRemainder(dividingBy: base)
        let (rightHigh, rightLow) = right.coefficient.quotientAndRemainder(dividingBy: base)
        let middle = leftHigh * rightLow + leftLow * rightHigh
        let low = leftLow * rightLow + middle % base * base
        let high = leftHigh * rightHigh + middle / base + low / limit
        var result = DecimalNumber(
            isNegative: isNegative, coefficient: low, exponent: left.exponent + right.exponent)
        guard high > 0 else { return result.rounded() }
        let rest = low % limit
        // As many digits as the upper half has go; one fewer, so that rounding sees the first of them.
        let gone = max(high.digitCount - 1, 0)
        let unit = UInt128.powersOfTen[gone]
        result.coefficient = high * UInt128.powersOfTen[precision - gone] + rest / unit
        result.exponent += gone
        return result.rounded(hasMore: rest % unit != 0)
    }

    package static func / (left: DecimalNumber, right: DecimalNumber) -> DecimalNumber {
        if left.kind == .nan || right.kind == .nan { return .nan }
        let isNegative = left.isNegative != right.isNegative
        if left.kind == .infinite { return right.kind == .infinite ? .nan : .infinity(isNegative: isNegative) }
        if right.kind == .infinite {
            return DecimalNumber(isNegative: isNegative, coefficient: 0, exponent: minExponent)
        }
        if right.isZero { return left.isZero ? .nan : .infinity(isNegative: isNegative) }
        var (quotient, rest) = left.coefficient.quotientAndRemainder(dividingBy: right.coefficient)
        var exponent = left.exponent - right.exponent
        while rest != 0, quotient < limit * 10 {
            rest *= 10
            quotient = quotient * 10 + rest / right.coefficient
            rest %= right.coefficient
            exponent -= 1
        }
        return DecimalNumber(isNegative: isNegative, coefficient: quotient, exponent: exponent)
            .rounded(hasMore: rest != 0)
    }

    package var magnitude: DecimalNumber {
        var result = self
        result.isNegative = false
        return result
    }

    /// The same number with a smaller exponent, as far as 34 digits allow.
    private func scaled(downTo smallest: Int) -> DecimalNumber {
        let padding = min(exponent - smallest, Self.precision - coefficient.digitCount)
        guard padding > 0 else { return self }
        var result = self
        result.coefficient *= UInt128.powersOfTen[padding]
        result.exponent -= padding
        return result
    }
}
