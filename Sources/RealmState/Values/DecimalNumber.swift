package import Changesets

/// A decimal taken apart for comparing and printing.
package struct DecimalNumber: Hashable, Sendable {
    package enum Kind: Sendable { case finite, infinite, nan }
    package var kind: Kind
    package var isNegative: Bool
    package var coefficient: UInt128
    package var exponent: Int

    /// A finite number.
    package init(isNegative: Bool = false, coefficient: UInt128, exponent: Int) {
        kind = .finite
        self.isNegative = isNegative
        self.coefficient = coefficient
        self.exponent = exponent
    }

    package init(_ value: Decimal128Value) {
        isNegative = value.high >> 63 != 0
        coefficient = UInt128(value.high & 0x0001_FFFF_FFFF_FFFF) << 64 | UInt128(value.low)
        exponent = Int(value.high >> 49 & 0x3FFF) - 6176
        switch value.high >> 58 & 0x1F {
        case 0x1F: kind = .nan
        case 0x1E: kind = .infinite
        default: kind = .finite
        }
    }

    package init(_ value: Int64) {
        kind = .finite
        isNegative = value < 0
        coefficient = UInt128(value.magnitude)
        exponent = 0
    }

    /// Digits, exponent and sign as in a program's source.
    package var text: String {
        switch kind {
        case .nan: "NaN"
        case .infinite: isNegative ? "-Inf" : "Inf"
        case .finite: "\(isNegative ? "-" : "")\(coefficient)E\(exponent)"
        }
    }

    package var double: Double {
        switch kind {
        case .nan: .nan
        case .infinite: isNegative ? -.infinity : .infinity
        case .finite: Double(text) ?? 0
        }
    }

    package func compare(_ other: DecimalNumber) -> Int {
        if kind == .nan || other.kind == .nan { return kind == other.kind ? 0 : kind == .nan ? -1 : 1 }
        let signs = (sign, other.sign)
        guard signs.0 == signs.1 else { return signs.0 < signs.1 ? -1 : 1 }
        return signs.0 < 0 ? other.compareMagnitude(self) : compareMagnitude(other)
    }

    private var sign: Int { kind == .finite && coefficient == 0 ? 0 : isNegative ? -1 : 1 }

    private func compareMagnitude(_ other: DecimalNumber) -> Int {
        if kind == .infinite || other.kind == .infinite {
            return kind == other.kind ? 0 : kind == .infinite ? 1 : -1
        }
        guard coefficient != 0, other.coefficient != 0 else { return 0 }
        let digits = coefficient.digitCount
        let otherDigits = other.coefficient.digitCount
        let orders = (digits + exponent, otherDigits + other.exponent)
        guard orders.0 == orders.1 else { return orders.0 < orders.1 ? -1 : 1 }
        // Same number of digits before the point: padding the shorter one to the longer keeps both within 35 digits.
        let width = max(digits, otherDigits)
        let left = coefficient.padded(by: width - digits)
        let right = other.coefficient.padded(by: width - otherDigits)
        return left < right ? -1 : left == right ? 0 : 1
    }
}

extension UInt128 {
    /// Ten to the power of 0 to 38, all that fit.
    package static let powersOfTen: [UInt128] = (1...38).reduce(into: [1]) { powers, exponent in
        powers.append(powers[exponent - 1] * 10)
    }

    /// The number of decimal digits; one for zero.
    package var digitCount: Int {
        var count = 1
        // Most coefficients are short: from the smallest up.
        while count < 39, self >= Self.powersOfTen[count] { count += 1 }
        return count
    }

    fileprivate func padded(by zeros: Int) -> UInt128 {
        var result = self
        for _ in 0..<zeros {
            result = result &* 10
        }
        return result
    }
}
