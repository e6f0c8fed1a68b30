import Changesets
import RealmState

/// Looks ahead in a query's text.
struct Scan {
    let bytes: [UInt8]
    private(set) var position: Int

    init(_ bytes: [UInt8], _ position: Int) {
        self.bytes = bytes
        self.position = position
    }

    mutating func skip(_ text: StaticString) -> Bool {
        guard position + text.utf8CodeUnitCount <= bytes.count else { return false }
        let matches = text.withUTF8Buffer { $0.elementsEqual(bytes[position...].prefix($0.count)) }
        if matches { position += text.utf8CodeUnitCount }
        return matches
    }

    mutating func skipIgnoringCase(_ lowercase: String) -> Bool {
        let found = bytes[position...].prefix(lowercase.utf8.count)
        guard found.count == lowercase.utf8.count, found.lazy.map(\.asciiLowercase).elementsEqual(lowercase.utf8) else {
            return false
        }
        position += found.count
        return true
    }

    mutating func digits() -> ArraySlice<UInt8>? {
        let found = bytes[position...].prefix { $0.decimalDigit != nil }
        position += found.count
        return found.isEmpty ? nil : found
    }

    mutating func hexDigits() -> ArraySlice<UInt8>? {
        let found = bytes[position...].prefix { $0.hexDigit != nil }
        position += found.count
        return found.isEmpty ? nil : found
    }

    mutating func signedDigits() -> (isNegative: Bool, digits: ArraySlice<UInt8>)? {
        let before = position
        let isNegative = skip("-")
        if !isNegative { _ = skip("+") }
        guard let digits = digits() else {
            position = before
            return nil
        }
        return (isNegative, digits)
    }

    /// The digits of a UUID, in its groups.
    mutating func uuid() -> UUIDValue? {
        var digits: [UInt8] = []
        for (index, count) in [8, 4, 4, 4, 12].enumerated() {
            guard index == 0 || skip("-"), let part = hex(count) else { return nil }
            digits += part
        }
        let high = digits[..<16].reduce(UInt64(0)) { $0 << 4 | UInt64($1) }
        return UUIDValue(high: high, low: digits[16...].reduce(UInt64(0)) { $0 << 4 | UInt64($1) })
    }

    /// So many hexadecimal digits, as numbers.
    mutating func hex(_ count: Int) -> [UInt8]? {
        let found = bytes[position...].prefix(count).compactMap(\.hexDigit)
        guard found.count == count else { return nil }
        position += count
        return found
    }
}

/// Numbers with a point or an exponent.
enum FloatLiteral {
    /// - Parameter isSingle: whether an `f` at the end makes it one of 32 bits.
    static func constant(_ text: ByteString, isSingle: Bool) -> ConstantSyntax {
        let digits = String(decoding: isSingle ? text.bytes.dropLast() : text.bytes[...], as: UTF8.self)
        let number = completed(digits)
        if isSingle { return .value(.float(bits: (Float(number) ?? 0).bitPattern)) }
        return .double(Double(number) ?? 0, text: ByteString(digits))
    }

    /// The text with a digit on both sides of the point, as Swift wants it.
    private static func completed(_ digits: String) -> String {
        let parts = digits.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return digits }
        let whole = parts[0].last?.isNumber == true ? String(parts[0]) : parts[0] + "0"
        let fraction = parts[1].first?.isNumber == true ? String(parts[1]) : "0" + parts[1]
        return whole + "." + fraction
    }
}

/// Whole numbers: octal after a leading 0, as in C, and clamped to 64 bits.
enum NaturalLiteral {
    static func magnitude(_ digits: ArraySlice<UInt8>) -> UInt64 {
        guard digits.first == UInt8(ascii: "0"), digits.count > 1 else { return magnitude(digits, radix: 10) }
        return magnitude(digits.prefix { $0 < UInt8(ascii: "8") }, radix: 8)
    }

    static func decimal(_ digits: ArraySlice<UInt8>) -> Int64 { Int64(clamping: magnitude(digits, radix: 10)) }

    static func value(_ digits: ArraySlice<UInt8>, radix: UInt64) -> Int64 {
        Int64(clamping: magnitude(digits, radix: radix))
    }

    static func signed(_ magnitude: UInt64, isNegative: Bool) -> Int64 {
        guard isNegative else { return Int64(clamping: magnitude) }
        return magnitude > UInt64(Int64.max) ? .min : -Int64(magnitude)
    }

    private static func magnitude(_ digits: ArraySlice<UInt8>, radix: UInt64) -> UInt64 {
        var value: UInt64 = 0
        for byte in digits {
            let (product, overflows) = value.multipliedReportingOverflow(by: radix)
            let (sum, isTooLarge) = product.addingReportingOverflow(UInt64(byte.hexDigit ?? 0))
            if overflows || isTooLarge { return .max }
            value = sum
        }
        return value
    }
}

/// Points in time as queries write them.
enum TimestampLiteral {
    /// What stands for a literal whose signs differ, until the parser refuses it.
    static let invalid = TimestampValue(seconds: 1, nanoseconds: -1)

    /// `T<seconds>:<nanoseconds>`
    static func unix(
        seconds: (isNegative: Bool, digits: ArraySlice<UInt8>),
        nanoseconds: (isNegative: Bool, digits: ArraySlice<UInt8>)
    ) -> TimestampValue? {
        let whole = NaturalLiteral.signed(NaturalLiteral.magnitude(seconds.digits), isNegative: seconds.isNegative)
        let fraction = NaturalLiteral.signed(
            NaturalLiteral.magnitude(nanoseconds.digits), isNegative: nanoseconds.isNegative)
        let value = TimestampValue(seconds: whole, nanoseconds: Int32(clamping: fraction))
        return value.isValid ? value : nil
    }

    /// `Y-M-D@h:m:s[:ns]`, or with `T` for `@`, in UTC; fields may overflow into the next ones. Nil for anything else.
    static func date(in bytes: [UInt8], at start: Int) throws(QueryError) -> (TimestampValue, Int)? {
        var scan = Scan(bytes, start)
        var fields: [Int64] = []
        // What stands before each field.
        let separators: [[StaticString]] = [[""], ["-"], ["-"], ["@", "T"], [":"], [":"]]
        for alternatives in separators {
            guard alternatives.contains(where: { scan.skip($0) }), let digits = scan.digits() else { return nil }
            fields.append(min(NaturalLiteral.decimal(digits), Int64(Int32.max)))
        }
        var nanoseconds: Int64 = 0
        var ahead = scan
        if ahead.skip(":"), let digits = ahead.digits() {
            nanoseconds = min(NaturalLiteral.decimal(digits), Int64(Int32.max))
            scan = ahead
        }
        guard fields[0] >= 1900 else {
            throw .query("expected a year from 1900 on, found \(fields[0])", at: start)
        }
        let seconds =
            days(year: fields[0], month: fields[1], day: fields[2]) * 86400 + fields[3] * 3600 + fields[4] * 60
            + fields[5]
        let value = TimestampValue(seconds: seconds, nanoseconds: Int32(seconds < 0 ? -nanoseconds : nanoseconds))
        guard value.isValid else {
            throw .syntax("expected fewer than 1000000000 nanoseconds, found \(nanoseconds)", at: start)
        }
        return (value, scan.position)
    }

    /// Days since 1970-01-01 in the Gregorian calendar.
    private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let months = year * 12 + month - 1
        // Years that begin in March: the leap day is the last one.
        let shifted = months - 2
        let (marchYear, marchMonth) = (shifted / 12, shifted % 12)
        let dayOfYear = (153 * marchMonth + 2) / 5
        let leapDays = marchYear / 4 - marchYear / 100 + marchYear / 400
        return marchYear * 365 + leapDays + dayOfYear + day - 1 - 719_468
    }
}

enum Base64Text {
    /// Padding may be missing; nothing else may.
    static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        var digits = text
        while digits.last == UInt8(ascii: "="), text.count - digits.count < 2 { digits = digits.dropLast() }
        guard digits.count % 4 != 1 else { return nil }
        var bytes: [UInt8] = []
        var bits: UInt32 = 0
        var count = 0
        for byte in digits {
            guard let value = value(byte) else { return nil }
            bits = bits << 6 | UInt32(value)
            count += 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        return bytes
    }

    static func encode(_ bytes: [UInt8]) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } << UInt32(8 * (3 - group.count))
            for index in 0..<4 {
                text.append(
                    index <= group.count ? alphabet[Int(bits >> UInt32(18 - 6 * index) & 63)] : UInt8(ascii: "="))
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func value(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): byte - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
