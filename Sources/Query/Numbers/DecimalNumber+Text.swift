package import Changesets
package import RealmState

extension DecimalNumber {
    /// Reads a whole text as a decimal; more than 34 digits are rounded. Nil for what is none, and for NaN.
    package init?(parsing text: some Collection<UInt8>) {
        let (isNegative, unsigned) = text.withoutSign
        var bytes = unsigned
        let lower = bytes.prefix(9).map { $0 | 0x20 }
        if lower == Array("inf".utf8) || lower == Array("infinity".utf8) {
            self = .infinity(isNegative: isNegative)
            return
        }
        var result = DecimalNumber(isNegative: isNegative, coefficient: 0, exponent: 0)
        var digits = 0
        var seenPoint = false
        var seenDigit = false
        var hasMore = false
        while let byte = bytes.first {
            if byte == UInt8(ascii: ".") {
                guard !seenPoint else { return nil }
                seenPoint = true
            } else if let digit = byte.decimalDigit {
                seenDigit = true
                if seenPoint { result.exponent -= 1 }
                if digits < 38 {
                    result.coefficient = result.coefficient * 10 + UInt128(digit)
                    if result.coefficient > 0 { digits += 1 }
                } else {
                    result.exponent += 1
                    if digit > 0 { hasMore = true }
                }
            } else {
                break
            }
            bytes = bytes.dropFirst()
        }
        guard seenDigit else { return nil }
        if let byte = bytes.first {
            guard byte | 0x20 == UInt8(ascii: "e"), let exponent = Self.exponent(bytes.dropFirst()) else { return nil }
            result.exponent += exponent
        }
        self = result.rounded(hasMore: hasMore)
    }

    /// A signed whole number, of any length, cut to what makes a difference.
    private static func exponent(_ text: some Collection<UInt8>) -> Int? {
        let (isNegative, bytes) = text.withoutSign
        guard !bytes.isEmpty else { return nil }
        var value = 0
        for byte in bytes {
            guard let digit = byte.decimalDigit else { return nil }
            value = min(value * 10 + Int(digit), 1_000_000)
        }
        return isNegative ? -value : value
    }

    /// The decimal that a binary number reads as: rounded to 15 significant digits. All of them stay if it was rounded, zeros at the end included;
    /// what needs fewer has no more than it needs.
    package init(_ value: Double) { self.init(value, digits: 15) }

    /// Rounded to 7 significant digits.
    package init(_ value: Float) { self.init(Double(value), digits: 7) }

    private init(_ value: Double, digits: Int) {
        guard value.isFinite else {
            self = value.isNaN ? .nan : .infinity(isNegative: value < 0)
            return
        }
        let text = SignificantDigits(value.magnitude, count: digits)
        var coefficient = text.digits.reduce(UInt128(0)) { $0 * 10 + UInt128($1) }
        var exponent = text.exponent - (text.digits.count - 1)
        while text.isExact, coefficient > 0, coefficient % 10 == 0, exponent < 0 {
            coefficient /= 10
            exponent += 1
        }
        if coefficient == 0 { exponent = 0 }
        self.init(isNegative: value.sign == .minus, coefficient: coefficient, exponent: exponent)
    }

    /// The bits of the number.
    package var value: Decimal128Value {
        let sign: UInt64 = isNegative ? 1 << 63 : 0
        switch kind {
        case .nan: return Decimal128Value(high: 0x7C00_0000_0000_0000, low: 0)
        case .infinite: return Decimal128Value(high: sign | 0x7800_0000_0000_0000, low: 0)
        case .finite:
            let rounded = self.rounded()
            guard rounded.kind == .finite else { return rounded.value }
            let high = UInt64(truncatingIfNeeded: rounded.coefficient >> 64)
            let biased = UInt64(rounded.exponent - Self.minExponent) << 49
            return Decimal128Value(high: sign | biased | high, low: UInt64(truncatingIfNeeded: rounded.coefficient))
        }
    }

    /// The number as queries write it: one digit before the point where an exponent remains.
    var queryText: String {
        guard kind == .finite else { return text }
        // Coefficients beyond 64 bits are written as they stand, with every sign.
        if coefficient >> 64 != 0 {
            return "\(isNegative ? "-" : "+")\(coefficient)E\(exponent < 0 ? "-" : "+")\(exponent.magnitude)"
        }
        let digits = String(UInt64(coefficient))
        var before = digits.utf8.count
        var exponent = exponent
        while before > 1, exponent != 0 {
            before -= 1
            exponent += 1
        }
        var text = (isNegative ? "-" : "") + digits.prefix(before)
        if before < digits.utf8.count { text += "." + digits.dropFirst(before) }
        if exponent != 0 { text += "E\(exponent)" }
        return text
    }
}

extension Collection<UInt8> {
    /// What follows a sign, if there is one, and whether that is a minus.
    var withoutSign: (isNegative: Bool, rest: SubSequence) {
        let isNegative = first == UInt8(ascii: "-")
        return (isNegative, isNegative || first == UInt8(ascii: "+") ? dropFirst() : self[...])
    }
}

extension UInt8 {
    var decimalDigit: UInt8? {
        let digit = self &- UInt8(ascii: "0")
        return digit < 10 ? digit : nil
    }

    var hexDigit: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// A letter in lower case; anything else as it is.
    var asciiLowercase: UInt8 { self >= UInt8(ascii: "A") && self <= UInt8(ascii: "Z") ? self | 0x20 : self }
}
