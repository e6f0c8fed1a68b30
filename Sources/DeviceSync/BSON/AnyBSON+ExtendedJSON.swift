internal import Changesets
internal import ExtendedJSON
internal import Foundation
internal import SyncModel

/// Values of the SDK in MongoDB's extended JSON.
extension AnyBSON {
    /// Reads extended JSON. An object that stands for no value becomes a document.
    init(extendedJSON json: JSONValue) { self.init(bson: BSONValue(json)) }

    /// The value in the canonical form.
    var extendedJSON: JSONValue { bson.json(.canonical) }

    fileprivate init(bson value: BSONValue) {
        switch value {
        case .null: self = .null
        case .bool(let value): self = .bool(value)
        case .int32(let value): self = .int32(value)
        case .int64(let value): self = .int64(value)
        case .double(let value): self = .double(value)
        case .decimal128(let value): self = .decimal128(Decimal128(value))
        case .string(let text): self = .string(text.string)
        case .binary(let bytes, _): self = .binary(Data(bytes))
        case .uuid(let value):
            self = .uuid(value.bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) })
        case .date(let milliseconds): self = .datetime(Date(timeIntervalSince1970: Double(milliseconds) / 1000))
        case .objectID(let value): self = .objectId(ObjectId(value))
        case .minKey: self = .minKey
        case .maxKey: self = .maxKey
        case .array(let elements): self = .array(elements.map { AnyBSON(bson: $0) })
        case .document(let document): self = .document(Document(document))
        // A pattern from outside is not compiled, and the SDK's time stamps have no increment.
        case .regularExpression(let pattern, let options):
            self = .document([
                "$regularExpression": .document(["pattern": .string(pattern), "options": .string(options)])
            ])
        case .timestamp(let seconds, let increment):
            self = .document([
                "$timestamp": .document(["t": .int64(Int64(seconds)), "i": .int64(Int64(increment))])
            ])
        }
    }

    private var bson: BSONValue {
        switch self {
        case .null: .null
        case .bool(let value): .bool(value)
        case .int32(let value): .int32(value)
        case .int64(let value): .int64(value)
        case .double(let value): .double(value)
        case .decimal128(let value): .decimal128(value.value)
        case .string(let text): .string(ByteString(text))
        case .binary(let bytes): .binary([UInt8](bytes), subtype: 0)
        case .uuid(let value):
            withUnsafeBytes(of: value.uuid) { UUIDValue(bytes: Array($0)) }.map { .uuid($0) } ?? .null
        case .datetime(let date):
            .date(
                Int64(exactly: (date.timeIntervalSince1970 * 1000).rounded())
                    ?? (date.timeIntervalSince1970 < 0 ? .min : .max))
        case .objectId(let value): .objectID(value.value)
        case .regex(let value):
            .regularExpression(
                pattern: value.pattern, options: value.options.contains(.caseInsensitive) ? "i" : "")
        case .timestamp(let date):
            .timestamp(seconds: UInt32(exactly: date.timeIntervalSince1970.rounded(.down)) ?? 0, increment: 0)
        case .minKey: .minKey
        case .maxKey: .maxKey
        case .array(let elements): .array(elements.map { $0?.bson ?? .null })
        case .document(let document):
            .document(BSONDocument(document.map { (ByteString($0.key), $0.value?.bson ?? .null) }))
        }
    }
}

extension Document {
    /// Reads a document's members.
    init(extendedJSON members: [String: JSONValue]) { self = members.mapValues { AnyBSON(extendedJSON: $0) } }

    /// The members in the canonical form.
    var extendedJSON: [String: JSONValue] { mapValues { $0?.extendedJSON ?? .null } }

    fileprivate init(_ document: BSONDocument) {
        self.init(
            document.members.map { ($0.key.string, AnyBSON(bson: $0.value)) }, uniquingKeysWith: { $1 })
    }
}
