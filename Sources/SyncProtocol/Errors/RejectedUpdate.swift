import Changesets
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
    /// Varint payload type (docs/changesets.md, "Payload types"), then the value.
    package var payload: [UInt8] {
        var writer = VarintWriter()
        switch self {
        case .null: writer.write(Payload.null)
        case .int(let value): writer.write(Payload.int(value))
        case .string(let value): writer.write(Payload.string(ByteString(value)))
        case .objectId(let bytes):
            writer.write(PayloadType.objectID.rawValue)
            writer.bytes += Self.fixed(bytes, count: 12)
        case .uuid(let bytes):
            writer.write(PayloadType.uuid.rawValue)
            writer.bytes += Self.fixed(bytes, count: 16)
        }
        return writer.bytes
    }

    package init?(payload: [UInt8]) {
        var reader = VarintReader(payload)
        guard let key = try? Self.read(&reader), reader.isAtEnd else { return nil }
        self = key
    }

    private static func read(_ reader: inout VarintReader) throws(ChangesetError) -> Self? {
        switch PayloadType(rawValue: Int64(try reader.readUInt8())) {
        case .null: return .null
        case .int: return .int(try reader.readInt64())
        case .string:
            let count = try reader.readLength(limit: reader.remaining, what: "key")
            return String(validating: try reader.readBytes(count), as: UTF8.self).map { .string($0) }
        case .objectID: return .objectId(try reader.readBytes(12))
        case .uuid: return .uuid(try reader.readBytes(16))
        default: return nil
        }
    }

    private static func fixed(_ bytes: [UInt8], count: Int) -> [UInt8] {
        Array((bytes + [UInt8](repeating: 0, count: count)).prefix(count))
    }
}
