package import Changesets

/// Decimal notation to and from the binary-integer layout of decimal128.
extension Decimal128Value {
    package static let nan = Decimal128Value(high: 0x7C00_0000_0000_0000, low: 0)
    private static let bias = 6176
    private static let maxDigits = 34
    /// The exponents of the texts that are read at all; far beyond what fits.
    private static let maxPower = -100_000...100_000
    private static let infinity: UInt64 = 0x7800_0000_0000_0000
    private static let signBit: UInt64 = 1 << 63

    /// Reads a number such as `-12.50E3`, `Infinity` or `NaN`, in any case of letters. Nil for other texts, and for a number of more than 34
    /// digits or beyond the exponents: nothing is rounded.
    package init?(_ text: String) {
        let bytes = Array(text.utf8)
        let isNegative = bytes.first == UInt8(ascii: "-")
        var rest = isNegative || bytes.first == UInt8(ascii: "+") ? bytes[1...] : bytes[...]
        switch String(decoding: rest, as: UTF8.self).lowercased() {
        case "nan":
            self = .nan
            return
        case "inf", "infinity":
            self.init(high: Self.infinity | (isNegative ? Self.signBit : 0), low: 0)
            return
        default: break
        }
        var digits: [UInt8] = []
        var places: Int?
        while let byte = rest.first, byte != UInt8(ascii: "e"), byte != UInt8(ascii: "E") {
            rest = rest.dropFirst()
            if byte == UInt8(ascii: "."), places == nil {
                places = 0
            } else if (0x30...0x39).contains(byte) {
                digits.append(byte - 0x30)
                places = places.map { $0 + 1 }
            } else {
                return nil
            }
        }
        guard !digits.isEmpty else { return nil }
        var exponent = -(places ?? 0)
        if !rest.isEmpty {
            guard let power = Int(String(decoding: rest.dropFirst(), as: UTF8.self)), Self.maxPower.contains(power)
            else { return nil }
            exponent += power
        }
        self.init(isNegative: isNegative, digits: digits, exponent: exponent)
    }

    package init(_ integer: Int64) {
        // Every integer of 64 bits has fewer digits than a decimal.
        self.init(high: UInt64(Self.bias) << 49 | (integer < 0 ? Self.signBit : 0), low: integer.magnitude)
    }

    /// - Parameters:
    ///   - digits: the number's, from 0 to 9 each.
    ///   - exponent: the power of ten of the last digit.
    /// - Returns: nil for more than 34 digits, zeros in front not counted, and for exponents beyond the format's.
    package init?(isNegative: Bool, digits: [UInt8], exponent: Int) {
        let significant = digits.drop { $0 == 0 }
        guard significant.count <= Self.maxDigits, (-Self.bias...(12287 - Self.bias)).contains(exponent) else {
            return nil
        }
        let coefficient = significant.reduce(UInt128(0)) { $0 * 10 + UInt128($1) }
        let high = UInt64(truncatingIfNeeded: coefficient >> 64) | UInt64(exponent + Self.bias) << 49
        self.init(
            high: high | (isNegative ? Self.signBit : 0), low: UInt64(truncatingIfNeeded: coefficient))
    }

    /// The number as IEEE 754 writes decimals: plainly, or with an exponent where that would need padding.
    package var text: String {
        let sign = high & Self.signBit != 0 ? "-" : ""
        switch (high >> 58) & 0x1F {
        case 0x1F: return "NaN"
        case 0x1E: return "\(sign)Infinity"
        default: break
        }
        // The large-coefficient form stands for more than 34 digits, which reads as zero.
        let isLarge = (high >> 61) & 3 == 3
        let exponent = Int((isLarge ? high >> 47 : high >> 49) & 0x3FFF) - Self.bias
        let coefficient = isLarge ? 0 : UInt128(high & 0x1_FFFF_FFFF_FFFF) << 64 | UInt128(low)
        let digits = String(coefficient)
        if exponent == 0 { return sign + digits }
        let adjusted = exponent + digits.utf8.count - 1
        guard exponent < 0, adjusted >= -6 else {
            let fraction = digits.utf8.count > 1 ? "." + digits.dropFirst() : ""
            return "\(sign)\(digits.prefix(1))\(fraction)E\(adjusted < 0 ? "" : "+")\(adjusted)"
        }
        let padded = String(repeating: "0", count: max(0, 1 - exponent - digits.utf8.count)) + digits
        return "\(sign)\(padded.dropLast(-exponent)).\(padded.suffix(-exponent))"
    }
}
