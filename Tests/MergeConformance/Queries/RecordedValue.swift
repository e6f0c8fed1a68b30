import Changesets
import Foundation
import RealmState
import SyncModel

/// Values as recordings of queries write them.
enum RecordedValue {
    /// A value of no declared type: a mixed one, an argument, an element of a collection.
    static func value(_ json: JSONValue) -> Value? {
        switch json {
        case .null: return .null
        case .bool(let value): return .bool(value)
        case .string(let text): return .string(ByteString(text))
        case .array(let items):
            let values = items.compactMap(value)
            return values.count == items.count ? .list(values) : nil
        case .object(let members): return tagged(members)
        case .integer, .number: return nil
        }
    }

    private static func tagged(_ members: [String: JSONValue]) -> Value? {
        guard members.count == 1, let (tag, content) = members.first else { return nil }
        switch (tag, content) {
        case ("$numberLong", .string(let text)): return Int64(text).map { .int($0) }
        case ("$float", .string(let text)): return Float(text.lowercased()).map { .float(bits: $0.bitPattern) }
        case ("$numberDouble", .string(let text)): return Double(text.lowercased()).map { .double(bits: $0.bitPattern) }
        case ("$numberDecimal", .string(let text)): return RecordedDecimal.value(text).map { .decimal($0) }
        case ("$binary", .string(let text)): return Data(base64Encoded: text).map { .binary(Array($0)) }
        case ("$ts", .array(let parts)):
            guard parts.count == 2, let seconds = parts[0].integerValue, let nanoseconds = parts[1].integerValue else {
                return nil
            }
            return .timestamp(TimestampValue(seconds: seconds, nanoseconds: Int32(clamping: nanoseconds)))
        case ("$oid", .string(let text)):
            guard text.utf8.count == 24, let high = UInt64(text.prefix(16), radix: 16),
                let low = UInt32(text.suffix(8), radix: 16)
            else { return nil }
            return .objectID(ObjectIDValue(high: high, low: low))
        case ("$uuid", .string(let text)):
            let digits = text.filter { $0 != "-" }
            guard digits.utf8.count == 32, let high = UInt64(digits.prefix(16), radix: 16),
                let low = UInt64(digits.suffix(16), radix: 16)
            else { return nil }
            return .uuid(UUIDValue(high: high, low: low))
        case ("$link", .array(let parts)):
            guard parts.count == 2, let name = parts[0].stringValue, let key = value(parts[1]).flatMap(key) else {
                return nil
            }
            return .link(ObjectAddress(ByteString(name), key))
        case ("$dict", .object(let entries)):
            var result: [ByteString: Value] = [:]
            for (key, entry) in entries { result[ByteString(key)] = value(entry) }
            return .dictionary(result)
        default: return nil
        }
    }

    static func key(_ value: Value) -> ObjectKey? {
        switch value {
        case .null: .null
        case .int(let value): .int(value)
        case .string(let value): .string(value)
        case .objectID(let value): .objectID(value)
        case .uuid(let value): .uuid(value)
        default: nil
        }
    }
}

/// Decimals as text. Written apart from the query module's own reading, which is what the recordings check.
enum RecordedDecimal {
    static func value(_ text: String) -> Decimal128Value? {
        var rest = text[...]
        let isNegative = rest.first == "-"
        if rest.first == "-" || rest.first == "+" { rest = rest.dropFirst() }
        let sign: UInt64 = isNegative ? 1 << 63 : 0
        if rest == "Inf" { return Decimal128Value(high: sign | 0x7800_0000_0000_0000, low: 0) }
        if rest == "NaN" { return Decimal128Value(high: 0x7C00_0000_0000_0000, low: 0) }
        let parts = rest.split(separator: "E", omittingEmptySubsequences: false)
        guard let mantissa = parts.first, parts.count <= 2 else { return nil }
        let digits = mantissa.split(separator: ".", omittingEmptySubsequences: false)
        guard let coefficient = UInt128(digits.joined()), let exponent = parts.count == 2 ? Int(parts[1]) : 0 else {
            return nil
        }
        let biased = UInt64(exponent - (digits.count == 2 ? digits[1].count : 0) + 6176)
        return Decimal128Value(
            high: sign | biased << 49 | UInt64(truncatingIfNeeded: coefficient >> 64),
            low: UInt64(truncatingIfNeeded: coefficient))
    }
}
