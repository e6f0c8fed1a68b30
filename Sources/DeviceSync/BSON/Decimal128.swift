package import Changesets
internal import ExtendedJSON
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
        guard let value = Decimal128Value(string) else {
            throw Realm.Error(.invalidInput, "expected a decimal number of at most 34 digits")
        }
        self.init(value)
    }

    /// The number. One in binary floating point is rounded to 15 significant digits, a `Float` to 7.
    public convenience init(number: NSNumber) { self.init(value: number) }

    /// The number that a number of any type or a text is; NaN for nil, `NSNull` and a text that is none. Anything else traps.
    public convenience init(value: Any) {
        switch ValueConversion.unwrapped(value) {
        case nil: self.init(Decimal128Value.nan)
        case let number as Decimal128: self.init(number.value)
        case let text as String: self.init(Decimal128Value(text) ?? .nan)
        case let any?:
            guard let number = DecimalNumber(any) else {
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
    public var stringValue: String { value.shortText }
    /// The number in decimal notation.
    public var description: String { stringValue }
    /// The nearest number in binary floating point.
    public var doubleValue: Double { number.double }
    /// The number as Foundation's decimal, which has 38 digits and a smaller range; NaN for what does not fit.
    public var decimalValue: Decimal { Decimal(string: value.text, locale: nil) ?? .nan }

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
    public convenience init(stringLiteral value: String) { self.init(Decimal128Value(value) ?? .nan) }
}

// MARK: - Arithmetic

extension Decimal128: Comparable, Numeric {
    /// An integer, exactly; nil for one of more than 34 digits.
    public convenience init?<T: BinaryInteger>(exactly source: T) {
        guard let value = Decimal128Value("\(source)") else { return nil }
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

extension DecimalNumber {
    /// The value of a number of Swift or Foundation; nil for anything else.
    init?(_ any: Any) {
        switch any {
        case let value as Double: self.init(value)
        case let value as Float: self.init(value)
        case let value as Decimal: self.init(text: value.description)
        case let value as Bool: self.init(Int64(value ? 1 : 0))
        case let value as any BinaryInteger: self.init(text: "\(value)")
        default: return nil
        }
    }

    private init?(text: String) {
        guard let value = Decimal128Value(text) else { return nil }
        self.init(value)
    }
}

extension Decimal128Value {
    /// The text without what says nothing: zeros at the end of what follows the point, and the sign of a positive exponent.
    fileprivate var shortText: String {
        let text = text
        guard text.contains(".") || text.contains("E") else { return text }
        let parts = text.split(separator: "E", maxSplits: 1)
        var digits = parts[0]
        if digits.contains(".") {
            while digits.last == "0" { digits.removeLast() }
            if digits.last == "." { digits.removeLast() }
        }
        return digits + (parts.count > 1 ? "E" + parts[1].drop { $0 == "+" } : "")
    }
}
