package import Changesets
import Foundation
import SyncModel

/// A partition value as a realm's name has it, and as a property of an object holds it.
package enum PartitionKey: Hashable, Sendable {
    case null
    case string(String)
    case int(Int64)
    case objectID(ObjectIDValue)
    case uuid(UUIDValue)

    /// - Parameter partition: extended JSON, as realms are named.
    package init?(partition text: String) {
        guard let json = try? JSONParser.parse(text) else { return nil }
        switch json {
        case .null: self = .null
        case .string(let value): self = .string(value)
        case .object(let members):
            guard members.count == 1, let (key, value) = members.first else { return nil }
            switch (key, value) {
            case ("$numberLong", .string(let number)), ("$numberInt", .string(let number)):
                guard let value = Int64(number) else { return nil }
                self = .int(value)
            case ("$oid", .string(let hex)):
                guard let bytes = HexBytes(hex: hex)?.bytes, bytes.count == 12 else { return nil }
                self = .objectID(
                    ObjectIDValue(high: Self.number(bytes[0..<8]), low: UInt32(Self.number(bytes[8..<12]))))
            case ("$binary", .object(let binary)):
                guard case .string(let text)? = binary["base64"], let data = Data(base64Encoded: text), data.count == 16
                else { return nil }
                let bytes = Array(data)
                self = .uuid(UUIDValue(high: Self.number(bytes[0..<8]), low: Self.number(bytes[8..<16])))
            default: return nil
            }
        default: return nil
        }
    }

    /// The key as a realm's name has it.
    package var partition: String {
        let json: JSONValue =
            switch self {
            case .null: .null
            case .string(let value): .string(value)
            case .int(let value): .object(["$numberLong": .string(String(value))])
            case .objectID(let id): .object(["$oid": .string(HexBytes(Self.bytes(id)).hex)])
            case .uuid(let id):
                .object([
                    "$binary": .object([
                        "base64": .string(Data(Self.bytes(id)).base64EncodedString()), "subType": .string("04"),
                    ])
                ])
            }
        return JSONWriter.text(of: json, asciiOnly: true)
    }

    /// The type of a property that can hold it; nil for null, which any can.
    package var type: PayloadType? {
        switch self {
        case .null: nil
        case .string: .string
        case .int: .int
        case .objectID: .objectID
        case .uuid: .uuid
        }
    }

    package var payload: Payload {
        switch self {
        case .null: .null
        case .string(let value): .string(ByteString(value))
        case .int(let value): .int(value)
        case .objectID(let id): .objectID(id)
        case .uuid(let id): .uuid(id)
        }
    }

    /// The query that selects a partition's objects of any class.
    ///
    /// - Parameter field: the property that holds it.
    package func query(on field: String) -> String {
        let value: String =
            switch self {
            case .null: "NULL"
            case .string(let text): Self.quoted(text)
            case .int(let value): "\(value)"
            case .objectID(let id): "oid(\(HexBytes(Self.bytes(id)).hex))"
            case .uuid(let id): "uuid(\(Self.text(id)))"
            }
        return "\(field) == \(value)"
    }

    /// A text that needs no escapes as it is, any other in base 64.
    private static func quoted(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { (0x20..<0x7f).contains($0) && $0 != UInt8(ascii: "\"") && $0 != 0x5c }
        return isPlain ? "\"\(text)\"" : "B64\"\(Data(text.utf8).base64EncodedString())\""
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }

    private static func bytes(_ number: UInt64, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * UInt64(count - 1 - $0))) }
    }

    private static func bytes(_ id: ObjectIDValue) -> [UInt8] { bytes(id.high, 8) + bytes(UInt64(id.low), 4) }
    private static func bytes(_ id: UUIDValue) -> [UInt8] { bytes(id.high, 8) + bytes(id.low, 8) }

    private static func text(_ id: UUIDValue) -> String {
        let hex = Array(HexBytes(bytes(id)).hex)
        return [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(hex[$0]) }.joined(separator: "-")
    }
}
