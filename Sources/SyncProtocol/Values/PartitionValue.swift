internal import Foundation
import SyncModel

/// The value that names a partition: what a BIND's path says, in MongoDB extended JSON.
///
/// Equal values have equal `canonicalText`, whatever spelling they came in: 7 as `$numberInt` or `$numberLong` is one
/// partition, and so are a UUID as `$binary` or `$uuid`.
package enum PartitionValue: Sendable {
    case null
    case string(String)
    case int(Int64)
    /// Always 12 bytes; others cannot come from `parse`.
    case objectId([UInt8])
    /// Always 16 bytes; others cannot come from `parse`.
    case uuid([UInt8])

    /// The path of a BIND, as stock clients write it.
    package var path: String { JSONWriter.text(of: json) }

    /// The same in ASCII alone, other characters as `\uXXXX`: for realm keys, where two strings that differ in their
    /// bytes must not compare equal after Unicode normalisation, nor the reverse.
    package var canonicalText: String { JSONWriter.text(of: json, asciiOnly: true) }

    private var json: JSONValue {
        switch self {
        case .null: .null
        case .string(let value): .string(value)
        case .int(let value): .object(["$numberLong": .string(String(value))])
        case .objectId(let bytes): .object(["$oid": .string(HexBytes(bytes).hex)])
        case .uuid(let bytes):
            .object([
                "$binary": .object(["base64": .string(Data(bytes).base64EncodedString()), "subType": .string("04")])
            ])
        }
    }

    /// Reads a path.
    /// - Throws: code 204, without a session.
    package static func parse(path: String) throws(SyncProtocolError) -> PartitionValue {
        let value: JSONValue
        do {
            value = try JSONParser.parse(path)
        } catch {
            throw refusal("no valid JSON, \(error.message)")
        }
        switch value {
        case .null: return .null
        case .string(let text): return .string(text)
        case .object(let members): return try parse(members)
        default: throw refusal("expected a string, null or an extended JSON object")
        }
    }

    private static func parse(_ members: [String: JSONValue]) throws(SyncProtocolError) -> PartitionValue {
        guard members.count == 1, let (key, value) = members.first else { throw refusal("expected one key") }
        switch (key, value) {
        case ("$oid", .string(let text)):
            guard let bytes = HexBytes(hex: text)?.bytes, bytes.count == 12 else {
                throw refusal("$oid needs 24 hex digits")
            }
            return .objectId(bytes)
        case ("$numberLong", .string(let text)):
            guard let number = Int64(text), !text.hasPrefix("+") else { throw refusal("$numberLong needs 64 bits") }
            return .int(number)
        case ("$numberInt", .string(let text)):
            guard let number = Int32(text), !text.hasPrefix("+") else { throw refusal("$numberInt needs 32 bits") }
            return .int(Int64(number))
        case ("$uuid", .string(let text)):
            guard let uuid = UUID(uuidString: text) else { throw refusal("$uuid needs a UUID") }
            return .uuid(withUnsafeBytes(of: uuid.uuid) { Array($0) })
        case ("$binary", .object(let binary)):
            guard binary.count == 2, binary["subType"]?.stringValue == "04" || binary["subType"]?.stringValue == "4",
                let text = binary["base64"]?.stringValue, let data = Data(base64Encoded: text), data.count == 16
            else { throw refusal("$binary needs 16 bytes of subtype 04") }
            return .uuid([UInt8](data))
        default:
            throw refusal("expected $oid, $numberLong, $numberInt, $binary or $uuid with its value")
        }
    }

    private static func refusal(_ message: String) -> SyncProtocolError {
        SyncProtocolError(.illegalRealmPath, "partition: \(message)")
    }
}

extension PartitionValue: Hashable, CustomStringConvertible {
    // By bytes: String's own comparison equates different normalisations.
    package static func == (left: Self, right: Self) -> Bool { left.canonicalText == right.canonicalText }
    package func hash(into hasher: inout Hasher) { hasher.combine(canonicalText) }
    package var description: String { canonicalText }
}
