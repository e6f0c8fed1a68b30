package import Changesets

/// An IEEE 754-2008 decimal128 number: 34 significant decimal digits. Kept bit for bit; 1.0 and 1.00 differ.
public final class Decimal128: Hashable, Codable, Sendable, CustomStringConvertible, ExpressibleByIntegerLiteral,
    ExpressibleByStringLiteral
{
    package let value: Decimal128Value

    package init(_ value: Decimal128Value) { self.value = value }

    /// Zero.
    public convenience init() { self.init(integerLiteral: 0) }

    /// The number that a decimal literal such as `-12.50E3`, `Infinity` or `NaN` spells.
    /// - Throws: `Realm.Error` with code `invalidInput` if it is not a number or does not fit.
    public convenience init(string: String) throws {
        guard let value = DecimalText.parse(string) else {
            throw Realm.Error(.invalidInput, "expected a decimal number of at most 34 digits")
        }
        self.init(value)
    }

    /// An exact integer.
    public convenience init(integerLiteral value: Int) {
        self.init(
            DecimalText.make(negative: value < 0, digits: String(value.magnitude), exponent: 0) ?? DecimalText.nan)
    }

    /// The number that the literal spells, or NaN if the literal is not a number.
    public convenience init(stringLiteral value: String) { self.init(DecimalText.parse(value) ?? DecimalText.nan) }

    /// Whether this is not a number.
    public var isNaN: Bool { (value.high >> 58) & 0x1F == 0x1F }

    /// The number in decimal notation.
    public var stringValue: String { DecimalText.text(value) }
    /// The number in decimal notation.
    public var description: String { stringValue }

    /// Whether all bits are equal.
    public static func == (left: Decimal128, right: Decimal128) -> Bool { left.value == right.value }
    /// Hashes the bits.
    public func hash(into hasher: inout Hasher) { hasher.combine(value) }

    /// Reads decimal notation.
    public convenience init(from decoder: any Decoder) throws {
        try self.init(string: try decoder.singleValueContainer().decode(String.self))
    }
    /// Writes decimal notation.
    public func encode(to encoder: any Encoder) throws {
        try stringValue.encode(to: encoder)
    }
}

/// Decimal notation to and from the binary-integer layout of decimal128.
enum DecimalText {
    static let nan = Decimal128Value(high: 0x7C00_0000_0000_0000, low: 0)
    private static let bias = 6176
    /// The exponents of the literals that are parsed at all; far beyond what fits.
    private static let maxPower = -100_000...100_000
    private static let infinity: UInt64 = 0x7800_0000_0000_0000
    private static let sign: UInt64 = 1 << 63

    static func parse(_ text: String) -> Decimal128Value? {
        let negative = text.hasPrefix("-")
        let rest = negative || text.hasPrefix("+") ? text.dropFirst() : text[...]
        switch rest.lowercased() {
        case "nan": return nan
        case "inf", "infinity": return Decimal128Value(high: infinity | (negative ? sign : 0), low: 0)
        default: break
        }
        let pattern = /([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]+))?/
        guard let parts = rest.wholeMatch(of: pattern)?.output else { return nil }
        let fraction = parts.2 ?? ""
        guard !(parts.1 + fraction).isEmpty, let power = Int(parts.3 ?? "0"),
            maxPower.contains(power)
        else { return nil }
        let digits = (parts.1 + fraction).drop { $0 == "0" }
        return make(
            negative: negative, digits: digits.isEmpty ? "0" : String(digits), exponent: power - fraction.count)
    }

    static func make(negative: Bool, digits: String, exponent: Int) -> Decimal128Value? {
        guard digits.utf8.count <= 34, (-bias...(12287 - bias)).contains(exponent) else { return nil }
        var coefficient: UInt128 = 0
        for digit in digits.utf8 { coefficient = coefficient * 10 + UInt128(digit &- 0x30) }
        let high = UInt64(truncatingIfNeeded: coefficient >> 64) | UInt64(exponent + bias) << 49
        return Decimal128Value(high: high | (negative ? sign : 0), low: UInt64(truncatingIfNeeded: coefficient))
    }

    static func text(_ value: Decimal128Value) -> String {
        let negative = value.high & sign != 0
        let combination = (value.high >> 58) & 0x1F
        if combination == 0x1F { return "NaN" }
        if combination == 0x1E { return negative ? "-Infinity" : "Infinity" }
        // The large-coefficient form stands for more than 34 digits, which reads as zero.
        let large = (value.high >> 61) & 3 == 3
        let field = large ? (value.high >> 47) & 0x3FFF : (value.high >> 49) & 0x3FFF
        let exponent = Int(field) - bias
        let coefficient = large ? 0 : UInt128(value.high & 0x1_FFFF_FFFF_FFFF) << 64 | UInt128(value.low)
        var digits = String(coefficient)
        let prefix = negative ? "-" : ""
        if exponent == 0 { return prefix + digits }
        if exponent < 0, digits.utf8.count + exponent > -6 {
            if digits.utf8.count <= -exponent {
                digits = String(repeating: "0", count: -exponent - digits.utf8.count + 1) + digits
            }
            let split = digits.index(digits.endIndex, offsetBy: exponent)
            return prefix + digits[..<split] + "." + digits[split...]
        }
        let scientific = exponent + digits.utf8.count - 1
        let tail = digits.dropFirst()
        let mantissa = digits.prefix(1) + (tail.isEmpty ? "" : "." + tail)
        return prefix + mantissa + "E" + (scientific < 0 ? "" : "+") + String(scientific)
    }
}
