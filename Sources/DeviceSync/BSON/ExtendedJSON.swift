internal import Foundation
internal import SyncModel

/// Reads extended JSON of the server. An object that stands for no BSON value becomes a document.
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
        case ("$minKey", _): return .minKey
        case ("$maxKey", _): return .maxKey
        default: return nil
        }
    }
}
