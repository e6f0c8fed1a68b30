package import Changesets
public import Foundation
internal import Query
internal import RealmState

/// An IEEE 754-2008 decimal128 number: 34 significant decimal digits.
///
/// Numbers are kept as they are written, zeros at the end included, and compared by value: `1.50 == 1.5`. NaN equals NaN and is less than every number.
public final class Decimal128: Hashable, Codable, Sendable, CustomStringConvertible {
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

    /// The number. One in binary floating point is rounded to 15 significant digits, a `Float` to 7.
    public convenience init(number: NSNumber) { self.init(value: number) }

    /// The number that a number of any type or a text is; NaN for nil, `NSNull` and a text that is none. Anything else traps.
    public convenience init(value: Any) {
        switch ValueConversion.unwrapped(value) {
        case nil: self.init(DecimalText.nan)
        case let number as Decimal128: self.init(number.value)
        case let text as String: self.init(DecimalText.parse(text) ?? DecimalText.nan)
        case let any?:
            guard let number = DecimalText.number(any) else {
                preconditionFailure("a \(type(of: any)) is no decimal number")
            }
            self.init(number)
        }
    }

    /// Whether this is not a number.
    public var isNaN: Bool { number.kind == .nan }
    /// Whether this is not a number.
    public var isSignaling: Bool { isNaN }
    /// Whether this is not a number.
    public var isSignalingNaN: Bool { isNaN }

    /// The number in decimal notation, without zeros at the end of what follows the point.
    public var stringValue: String { DecimalText.short(value) }
    /// The number in decimal notation.
    public var description: String { stringValue }
    /// The nearest number in binary floating point.
    public var doubleValue: Double { number.double }
    /// The number as Foundation's decimal, which has 38 digits and a smaller range; NaN for what does not fit.
    public var decimalValue: Decimal { Decimal(string: DecimalText.text(value), locale: nil) ?? .nan }

    var number: DecimalNumber { DecimalNumber(value) }
    convenience init(_ number: DecimalNumber) { self.init(number.value) }

    /// Whether both are the same number, however it is written.
    public static func == (left: Decimal128, right: Decimal128) -> Bool { left.number.compare(right.number) == 0 }
    /// Hashes the number.
    public func hash(into hasher: inout Hasher) {
        var number = number
        hasher.combine(number.kind)
        guard number.kind != .nan else { return }
        if number.kind == .finite {
            while number.coefficient != 0, number.coefficient % 10 == 0 {
                number.coefficient /= 10
                number.exponent += 1
            }
            guard number.coefficient != 0 else { return }
            hasher.combine(number.coefficient)
            hasher.combine(number.exponent)
        }
        hasher.combine(number.isNegative)
    }

    /// Reads decimal notation, or a number.
    public convenience init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let text = try? container.decode(String.self) {
            try self.init(string: text)
        } else if let integer = try? container.decode(Int64.self) {
            self.init(DecimalNumber(integer))
        } else {
            self.init(DecimalNumber(try container.decode(Double.self)))
        }
    }
    /// Writes decimal notation.
    public func encode(to encoder: any Encoder) throws {
        try stringValue.encode(to: encoder)
    }
}

extension Decimal128: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByStringLiteral {
    /// An exact integer.
    public convenience init(integerLiteral value: Int) { self.init(DecimalNumber(Int64(value))) }
    /// The number, rounded to 15 significant digits.
    public convenience init(floatLiteral value: Double) { self.init(DecimalNumber(value)) }
    /// The number that the literal spells, or NaN if the literal is not a number.
    public convenience init(stringLiteral value: String) { self.init(DecimalText.parse(value) ?? DecimalText.nan) }
}

// MARK: - Arithmetic

extension Decimal128: Comparable, Numeric {
    /// An integer, exactly; nil for one of more than 34 digits.
    public convenience init?<T: BinaryInteger>(exactly source: T) {
        guard let value = DecimalText.parse("\(source)") else { return nil }
        self.init(value)
    }

    /// The least number.
    public static var min: Decimal128 { Decimal128(-max.number) }
    /// The greatest number.
    public static var max: Decimal128 {
        Decimal128(
            DecimalNumber(
                coefficient: UInt128.powersOfTen[DecimalNumber.precision] - 1, exponent: DecimalNumber.maxExponent))
    }
    /// The number without its sign.
    public var magnitude: Decimal128 { Decimal128(number.magnitude) }

    /// Compares the numbers, however they are written.
    public static func < (left: Decimal128, right: Decimal128) -> Bool { left.number.compare(right.number) < 0 }

    /// The sum, to 34 digits.
    public static func + (left: Decimal128, right: Decimal128) -> Decimal128 {
        Decimal128(left.number + right.number)
    }
    /// The difference, to 34 digits.
    public static func - (left: Decimal128, right: Decimal128) -> Decimal128 {
        Decimal128(left.number - right.number)
    }
    /// The product, to 34 digits.
    public static func * (left: Decimal128, right: Decimal128) -> Decimal128 {
        Decimal128(left.number * right.number)
    }
    /// Multiplies, to 34 digits.
    public static func *= (left: inout Decimal128, right: Decimal128) { left = left * right }
    /// The quotient, to 34 digits. By zero it is infinite, that of zeros NaN.
    public static func / (left: Decimal128, right: Decimal128) -> Decimal128 {
        Decimal128(left.number / right.number)
    }
    /// The number with the other sign.
    public static prefix func - (number: Decimal128) -> Decimal128 { Decimal128(-number.number) }

    /// The number that has to be added to reach another one.
    public func distance(to other: Decimal128) -> Decimal128 { other - self }
    /// The sum.
    public func advanced(by distance: Decimal128) -> Decimal128 { self + distance }
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

    /// The value of a number of Swift or Foundation; nil for anything else.
    static func number(_ any: Any) -> DecimalNumber? {
        switch any {
        case let value as Double: DecimalNumber(value)
        case let value as Float: DecimalNumber(value)
        case let value as Decimal: parse(value.description).map { DecimalNumber($0) }
        case let value as Bool: DecimalNumber(Int64(value ? 1 : 0))
        case let value as any BinaryInteger: parse("\(value)").map { DecimalNumber($0) }
        default: nil
        }
    }

    /// The text without what says nothing: zeros at the end of what follows the point, and the sign of a positive exponent.
    static func short(_ value: Decimal128Value) -> String {
        let text = text(value)
        guard text.contains(".") || text.contains("E") else { return text }
        let parts = text.split(separator: "E", maxSplits: 1)
        var digits = parts[0]
        if digits.contains(".") {
            while digits.last == "0" { digits.removeLast() }
            if digits.last == "." { digits.removeLast() }
        }
        return digits + (parts.count > 1 ? "E" + parts[1].drop { $0 == "+" } : "")
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
