internal import Foundation
import SyncModel

/// One write that the server undid.
package struct RejectedUpdate: Hashable, Sendable {
    package var table: String
    package var primaryKey: PrimaryKey
    package var reason: String

    package init(table: String, primaryKey: PrimaryKey, reason: String) {
        self.table = table
        self.primaryKey = primaryKey
        self.reason = reason
    }

    /// The primary key of the object, as a changeset payload. A client that cannot read it terminates, so nothing but
    /// these cases can be built.
    package enum PrimaryKey: Hashable, Sendable {
        case null
        case int(Int64)
        case string(String)
        /// Always 12 bytes; shorter or longer ones are padded or cut.
        case objectId([UInt8])
        /// Always 16 bytes; shorter or longer ones are padded or cut.
        case uuid([UInt8])
    }
}

extension RejectedUpdate {
    init(json: JSONValue) throws(SyncProtocolError) {
        let fields = try JSONFields(json, of: "JSON_ERROR rejectedUpdates")
        guard let bytes = Data(base64Encoded: try fields.string("pk")),
            let primaryKey = PrimaryKey(payload: [UInt8](bytes))
        else { throw SyncProtocolError(.badSyntax, "JSON_ERROR rejectedUpdates: pk is no primary key") }
        self.init(table: try fields.string("table"), primaryKey: primaryKey, reason: try fields.string("reason"))
    }

    var json: JSONValue {
        .object([
            "table": .string(table), "pk": .string(Data(primaryKey.payload).base64EncodedString()),
            "reason": .string(reason),
        ])
    }
}

extension RejectedUpdate.PrimaryKey {
    // Payload types (docs/changesets.md, "Payload types").
    private enum Kind: UInt8 { case null = 0, int = 1, string = 3, objectId = 10, uuid = 11 }

    /// Varint payload type, then the value.
    package var payload: [UInt8] {
        switch self {
        case .null: [Kind.null.rawValue]
        case .int(let value): [Kind.int.rawValue] + ChangesetVarint.encode(value)
        case .string(let value):
            [Kind.string.rawValue] + ChangesetVarint.encode(Int64(value.utf8.count)) + Array(value.utf8)
        case .objectId(let bytes): [Kind.objectId.rawValue] + Self.fixed(bytes, count: 12)
        case .uuid(let bytes): [Kind.uuid.rawValue] + Self.fixed(bytes, count: 16)
        }
    }

    package init?(payload: [UInt8]) {
        guard let kind = payload.first.flatMap(Kind.init(rawValue:)) else { return nil }
        let rest = payload.dropFirst()
        switch kind {
        case .null:
            guard rest.isEmpty else { return nil }
            self = .null
        case .int:
            guard let (value, end) = ChangesetVarint.decode(rest), end == rest.endIndex else { return nil }
            self = .int(value)
        case .string:
            guard let (count, start) = ChangesetVarint.decode(rest), count == Int64(rest.endIndex - start),
                let text = String(validating: rest[start...], as: UTF8.self)
            else { return nil }
            self = .string(text)
        case .objectId:
            guard rest.count == 12 else { return nil }
            self = .objectId(Array(rest))
        case .uuid:
            guard rest.count == 16 else { return nil }
            self = .uuid(Array(rest))
        }
    }

    private static func fixed(_ bytes: [UInt8], count: Int) -> [UInt8] {
        Array((bytes + [UInt8](repeating: 0, count: count)).prefix(count))
    }
}

/// The variable-length integers of changesets (docs/changesets.md, "Integers"), of which the protocol itself needs only
/// those in the primary keys of rejected updates. Not LEB128: the last byte holds six bits and a sign.
enum ChangesetVarint {
    static func encode(_ value: Int64) -> [UInt8] {
        var rest = UInt64(bitPattern: value < 0 ? ~value : value)
        var bytes: [UInt8] = []
        while rest >> 6 != 0 {
            bytes.append(0x80 | UInt8(rest & 0x7F))
            rest >>= 7
        }
        bytes.append((value < 0 ? 0x40 : 0) | UInt8(rest))
        return bytes
    }

    /// The value and the index after it; nil if it is cut off or does not fit.
    static func decode(_ bytes: ArraySlice<UInt8>) -> (Int64, Int)? {
        var magnitude: UInt64 = 0
        for (position, byte) in bytes.prefix(10).enumerated() {
            let isLast = byte & 0x80 == 0
            let bits = UInt64(byte & (isLast ? 0x3F : 0x7F))
            let shift = UInt64(position * 7)
            guard (bits << shift) >> shift == bits else { return nil }
            magnitude |= bits << shift
            guard isLast else { continue }
            guard magnitude <= UInt64(Int64.max) else { return nil }
            let value = Int64(magnitude)
            return (byte & 0x40 == 0 ? value : ~value, bytes.startIndex + position + 1)
        }
        return nil
    }
}
