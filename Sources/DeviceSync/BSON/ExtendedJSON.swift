internal import Foundation
internal import SyncModel

/// Reads and writes extended JSON. An object that stands for no BSON value becomes a document.
enum ExtendedJSON {
    static func value(_ json: JSONValue) -> AnyBSON {
        switch json {
        case .null: .null
        case .bool(let value): .bool(value)
        case .integer(let value): .int64(value)
        case .number(let value): .double(value)
        case .string(let value): .string(value)
        case .array(let items): .array(items.map(value))
        case .object(let members): wrapped(members) ?? .document(document(members))
        }
    }

    static func document(_ members: [String: JSONValue]) -> Document { members.mapValues { value($0) } }

    // MARK: Writing, in the canonical form

    static func json(_ value: AnyBSON?) -> JSONValue {
        switch value {
        case nil, .null?: .null
        case .bool(let value)?: .bool(value)
        case .string(let value)?: .string(value)
        case .int32(let value)?: .object(["$numberInt": .string("\(value)")])
        case .int64(let value)?: .object(["$numberLong": .string("\(value)")])
        case .double(let value)?: .object(["$numberDouble": .string(text(value))])
        case .decimal128(let value)?: .object(["$numberDecimal": .string(DecimalText.text(value.value))])
        case .objectId(let value)?: .object(["$oid": .string(value.stringValue)])
        case .uuid(let value)?:
            withUnsafeBytes(of: value.uuid) { binary(Data($0), subtype: "04") }
        case .binary(let value)?: binary(value, subtype: "00")
        case .datetime(let value)?:
            .object([
                "$date": .object(["$numberLong": .string("\(Int64((value.timeIntervalSince1970 * 1000).rounded()))")])
            ])
        case .timestamp(let value)?:
            .object(["$timestamp": .object(["t": .integer(Int64(value.timeIntervalSince1970)), "i": .integer(0)])])
        case .regex(let value)?:
            .object([
                "$regularExpression": .object([
                    "pattern": .string(value.pattern),
                    "options": .string(value.options.contains(.caseInsensitive) ? "i" : ""),
                ])
            ])
        case .minKey?: .object(["$minKey": .integer(1)])
        case .maxKey?: .object(["$maxKey": .integer(1)])
        case .array(let items)?: .array(items.map(json))
        case .document(let document)?: .object(json(document))
        }
    }

    static func json(_ document: Document) -> [String: JSONValue] { document.mapValues { json($0) } }

    private static func binary(_ bytes: Data, subtype: String) -> JSONValue {
        .object(["$binary": .object(["base64": .string(bytes.base64EncodedString()), "subType": .string(subtype)])])
    }

    private static func text(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        return value.isInfinite ? (value < 0 ? "-Infinity" : "Infinity") : "\(value)"
    }

    private static func wrapped(_ members: [String: JSONValue]) -> AnyBSON? {
        guard members.count == 1, let (key, content) = members.first else { return nil }
        switch (key, content) {
        case ("$numberInt", .string(let text)): return Int32(text).map(AnyBSON.int32)
        case ("$numberLong", .string(let text)): return Int64(text).map(AnyBSON.int64)
        case ("$numberDouble", .string(let text)): return Double(text).map(AnyBSON.double)
        case ("$numberDecimal", .string(let text)): return (try? Decimal128(string: text)).map(AnyBSON.decimal128)
        case ("$oid", .string(let text)): return (try? ObjectId(string: text)).map(AnyBSON.objectId)
        case ("$uuid", .string(let text)): return UUID(uuidString: text).map(AnyBSON.uuid)
        case ("$date", let date):
            guard case .int64(let milliseconds) = value(date) else { return nil }
            return .datetime(Date(timeIntervalSince1970: Double(milliseconds) / 1000))
        case ("$binary", .object(let members)):
            guard let bytes = members["base64"]?.stringValue.flatMap({ Data(base64Encoded: $0) }) else { return nil }
            guard members["subType"]?.stringValue == "04", bytes.count == 16 else { return .binary(bytes) }
            return bytes.withUnsafeBytes { .uuid(UUID(uuid: $0.loadUnaligned(as: uuid_t.self))) }
        case ("$minKey", _): return .minKey
        case ("$maxKey", _): return .maxKey
        default: return nil
        }
    }
}
