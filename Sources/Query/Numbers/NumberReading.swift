/// Numbers at the beginning of strings.
enum NumberReading {
    /// Nil if there are no digits, or too many.
    static func int(_ bytes: [UInt8]) -> Int64? {
        let (sign, rest) = signed(bytes)
        let digits = rest.prefix { $0.decimalDigit != nil }
        guard !digits.isEmpty else { return nil }
        return Int64((sign ? "-" : "") + String(decoding: digits, as: UTF8.self))
    }

    static func double(_ bytes: [UInt8]) -> Double? {
        let lower = String(decoding: bytes.prefix(10).map(\.asciiLowercase), as: UTF8.self)
        switch lower {
        case "nan", "+nan", "-nan": return .nan
        case "inf", "+inf", "infinity", "+infinity": return .infinity
        case "-inf", "-infinity": return -.infinity
        default: break
        }
        let (sign, rest) = signed(bytes)
        let whole = rest.prefix { $0.decimalDigit != nil }
        var end = whole.endIndex
        var text = whole.isEmpty ? "0" : String(decoding: whole, as: UTF8.self)
        if end < rest.endIndex, rest[end] == UInt8(ascii: ".") {
            let fraction = rest[(end + 1)...].prefix { $0.decimalDigit != nil }
            guard !whole.isEmpty || !fraction.isEmpty else { return nil }
            if !fraction.isEmpty { text += "." + String(decoding: fraction, as: UTF8.self) }
            end = fraction.endIndex
        } else if whole.isEmpty {
            return nil
        }
        if end < rest.endIndex, rest[end] | 0x20 == UInt8(ascii: "e") {
            let (negative, after) = rest[(end + 1)...].withoutSign
            let digits = after.prefix { $0.decimalDigit != nil }
            // An exponent that is begun has to be one.
            guard !digits.isEmpty else { return nil }
            text += "e\(negative ? "-" : "")" + String(decoding: digits, as: UTF8.self)
        }
        guard let value = Double(text), value.isFinite else { return nil }
        return sign ? -value : value
    }

    private static func signed(_ bytes: [UInt8]) -> (isNegative: Bool, rest: ArraySlice<UInt8>) {
        bytes.drop { $0 == 0x20 || (0x09...0x0D).contains($0) }.withoutSign
    }
}
