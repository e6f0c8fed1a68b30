/// How queries write binary numbers: the shortest of plain and scientific form with so many significant digits, trailing
/// zeros dropped.
enum NumberText {
    /// Reads back as the same double.
    static let doubleDigits = 17
    /// Reads back as the same float.
    static let floatDigits = 9
    /// What clients keep of numbers in lists and beside mixed properties.
    static let shortDigits = 6

    static func text(_ value: Double, digits count: Int) -> String {
        if value.isNaN { return "nan" }
        let sign = value.sign == .minus ? "-" : ""
        guard value.isFinite else { return sign + "inf" }
        let significant = SignificantDigits(value.magnitude, count: count)
        var digits = significant.digits
        while digits.count > 1, digits.last == 0 { digits.removeLast() }
        let text = digits.map { Character(UnicodeScalar($0 + UInt8(ascii: "0"))) }
        let exponent = significant.exponent
        if exponent < -4 || exponent >= count {
            let fraction = text.count > 1 ? "." + String(text.dropFirst()) : ""
            let power = exponent.magnitude < 10 ? "0\(exponent.magnitude)" : "\(exponent.magnitude)"
            return "\(sign)\(text[0])\(fraction)e\(exponent < 0 ? "-" : "+")\(power)"
        }
        if exponent < 0 { return "\(sign)0." + String(repeating: "0", count: -exponent - 1) + String(text) }
        let before = exponent + 1
        if text.count <= before { return sign + String(text) + String(repeating: "0", count: before - text.count) }
        return sign + String(text.prefix(before)) + "." + String(text.dropFirst(before))
    }
}
