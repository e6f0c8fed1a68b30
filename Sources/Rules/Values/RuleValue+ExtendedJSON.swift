internal import Foundation
package import SyncModel

// MongoDB's extended JSON: `{"$oid": "..."}` and its like stand for one value.
extension RuleValue {
    /// Reads a document's value. An object that stands for no value of another kind is an object.
    package init(_ json: JSONValue) {
        switch json {
        case .null: self = .null
        case .bool(let value): self = .bool(value)
        case .integer(let value): self = .number(RuleNumber(value))
        case .number(let value): self = RuleNumber(value).map(RuleValue.number) ?? .null
        case .string(let value): self = .string(value)
        case .array(let elements): self = .array(elements.map { RuleValue($0) })
        case .object(let members): self = Self.wrapped(members) ?? .object(members.mapValues { RuleValue($0) })
        }
    }

    /// Whether an object with this key alone should stand for a value.
    static func isWrapper(_ key: String) -> Bool {
        [
            "$numberInt", "$numberLong", "$numberDouble", "$numberDecimal", "$oid", "$uuid", "$date", "$binary",
        ].contains(key)
    }

    /// The value that an object such as `{"$oid": "..."}` stands for; nil if it stands for none.
    static func wrapped(_ members: [String: JSONValue]) -> RuleValue? {
        guard members.count == 1, let (key, content) = members.first else { return nil }
        switch (key, content) {
        case ("$numberInt", .string(let text)): return Int32(text).map { .number(RuleNumber(Int64($0))) }
        case ("$numberLong", .string(let text)): return Int64(text).map { .number(RuleNumber($0)) }
        case ("$numberDouble", .string(let text)): return Double(text).flatMap { RuleNumber($0) }.map { .number($0) }
        case ("$numberDecimal", .string(let text)): return RuleNumber(decimal: text).map { .number($0) }
        case ("$oid", .string(let text)): return objectID(hex: text)
        case ("$uuid", .string(let text)): return uuid(text: text)
        case ("$date", let date): return milliseconds(date).map { .date($0) }
        case ("$binary", .object(let binary)): return bytes(binary)
        default: return nil
        }
    }

    /// Nil unless the text is 24 hexadecimal digits.
    static func objectID(hex: String) -> RuleValue? {
        guard hex.utf8.count == 24, let bytes = HexBytes(hex: hex)?.bytes else { return nil }
        return .objectID(bytes)
    }

    /// Nil unless the text is a UUID with its hyphens.
    static func uuid(text: String) -> RuleValue? {
        guard text.utf8.count == 36, let uuid = UUID(uuidString: text) else { return nil }
        return .uuid(withUnsafeBytes(of: uuid.uuid) { Array($0) })
    }

    static func uuidText(_ bytes: [UInt8]) -> String {
        let hex = HexBytes(bytes).hex
        var parts: [Substring] = []
        var rest = Substring(hex)
        for length in [8, 4, 4, 4] {
            parts.append(rest.prefix(length))
            rest = rest.dropFirst(length)
        }
        return (parts + [rest]).joined(separator: "-")
    }

    private static func milliseconds(_ date: JSONValue) -> Int64? {
        switch date {
        case .integer(let milliseconds): return milliseconds
        case .object(let members): return members["$numberLong"]?.stringValue.flatMap { Int64($0) }
        case .string(let text):
            let style = Date.ISO8601FormatStyle()
            guard
                let date = (try? style.parse(text))
                    ?? (try? Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(text))
            else { return nil }
            return Int64(exactly: (date.timeIntervalSince1970 * 1000).rounded())
        default: return nil
        }
    }

    /// A UUID travels as bytes of subtype 4.
    private static func bytes(_ binary: [String: JSONValue]) -> RuleValue? {
        guard binary.count == 2, let text = binary["base64"]?.stringValue, let subtype = binary["subType"]?.stringValue,
            let data = Data(base64Encoded: text)
        else { return nil }
        let isUUID = subtype == "04" || subtype == "4"
        if isUUID { return data.count == 16 ? .uuid([UInt8](data)) : nil }
        return .binary([UInt8](data))
    }
}

extension RuleValue {
    /// The value in extended JSON.
    package var json: JSONValue {
        switch self {
        case .null: .null
        case .bool(let value): .bool(value)
        case .number(let number):
            number.integer.map { .integer($0) } ?? .object(["$numberDecimal": .string(number.text)])
        case .string(let value): .string(value)
        case .binary(let bytes): Self.binary(bytes, subtype: "00")
        case .objectID(let bytes): .object(["$oid": .string(HexBytes(bytes).hex)])
        case .uuid(let bytes): .object(["$uuid": .string(Self.uuidText(bytes))])
        case .date(let milliseconds): .object(["$date": .object(["$numberLong": .string(String(milliseconds))])])
        case .array(let elements): .array(elements.map(\.json))
        case .object(let members): .object(members.mapValues(\.json))
        }
    }

    private static func binary(_ bytes: [UInt8], subtype: String) -> JSONValue {
        .object([
            "$binary": .object(["base64": .string(Data(bytes).base64EncodedString()), "subType": .string(subtype)])
        ])
    }

    /// A partition value as a realm's name has it; nil if the name is no extended JSON, as no client's BIND could make it.
    package init?(partition: String) {
        guard let json = try? JSONParser.parse(partition) else { return nil }
        self.init(json)
    }
}
