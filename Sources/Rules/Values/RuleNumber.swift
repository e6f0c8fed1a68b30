/// A number as rules compare it: by the decimal digits that name it, whatever type it had. 5, 5.0 and the decimal 5.00 are one
/// number, and a double is the shortest decimal that reads as it.
package struct RuleNumber: Hashable, Sendable {
    private let isNegative: Bool
    /// The significant digits, without zeros at either end; none of zero.
    private let digits: [UInt8]
    /// Where the decimal point stands: 0 is before the first digit.
    private let point: Int

    /// Longer texts name no number that any of our types can hold.
    private static let maxTextBytes = 400
    private static let maxExponent = -100_000...100_000

    package init(_ value: Int64) {
        self.init(isNegative: value < 0, digits: Array(String(value.magnitude).utf8.map { $0 - 0x30 }), exponent: 0)
    }

    /// Nil for infinities and what is not a number.
    package init?(_ value: Double) {
        guard value.isFinite else { return nil }
        self.init(decimal: value.description)
    }

    /// Reads digits with an optional sign, point and exponent, as in JSON or in `$numberDecimal`.
    package init?(decimal text: String) {
        guard text.utf8.count <= Self.maxTextBytes else { return nil }
        var rest = Substring(text).utf8[...]
        let sign = rest.first
        if sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") { rest = rest.dropFirst() }
        var digits: [UInt8] = []
        var fraction: Int?
        while let byte = rest.first {
            if (0x30...0x39).contains(byte) {
                digits.append(byte - 0x30)
                fraction = fraction.map { $0 + 1 }
            } else if byte == UInt8(ascii: "."), fraction == nil {
                fraction = 0
            } else {
                break
            }
            rest = rest.dropFirst()
        }
        guard !digits.isEmpty else { return nil }
        var exponent = 0
        if let byte = rest.first {
            guard byte == UInt8(ascii: "e") || byte == UInt8(ascii: "E"), let given = Int(Substring(rest.dropFirst())),
                Self.maxExponent.contains(given)
            else { return nil }
            exponent = given
        }
        self.init(isNegative: sign == UInt8(ascii: "-"), digits: digits, exponent: exponent - (fraction ?? 0))
    }

    /// - Parameter exponent: the power of ten of the last digit.
    private init(isNegative: Bool, digits: [UInt8], exponent: Int) {
        let leading = digits.drop { $0 == 0 }
        let end = leading.lastIndex { $0 != 0 }.map { $0 + 1 } ?? leading.startIndex
        self.digits = Array(leading[..<end])
        point = leading.isEmpty ? 0 : leading.count + exponent
        self.isNegative = isNegative && !leading.isEmpty
    }

    /// The number as an integer of 64 bits; nil if it is none.
    var integer: Int64? {
        guard point <= 19, digits.count <= point || digits.isEmpty else { return nil }
        let zeros = [UInt8](repeating: 0, count: point - digits.count)
        let text = (isNegative ? "-" : "") + (digits + zeros).map { String($0) }.joined()
        return Int64(digits.isEmpty ? "0" : text)
    }

    var text: String {
        if let integer { return String(integer) }
        return (isNegative ? "-0." : "0.") + digits.map { String($0) }.joined() + (point == 0 ? "" : "e\(point)")
    }
}

extension RuleNumber: Comparable {
    package static func < (left: Self, right: Self) -> Bool {
        guard left.isNegative == right.isNegative else { return left.isNegative }
        return left.isNegative ? right.isSmaller(than: left) : left.isSmaller(than: right)
    }

    /// Whether this number is nearer to zero than another one with the same sign.
    private func isSmaller(than other: RuleNumber) -> Bool {
        if digits.isEmpty || other.digits.isEmpty { return digits.isEmpty && !other.digits.isEmpty }
        if point != other.point { return point < other.point }
        return digits.lexicographicallyPrecedes(other.digits)
    }
}
