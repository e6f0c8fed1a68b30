import Changesets
import ExtendedJSON
import RealmState

extension Value {
    /// The value of one slot that a BSON value is by its own type, whatever property it is for; nil for an array, a document, and what no property
    /// holds.
    init?(scalar: BSONValue) {
        switch scalar {
        case .null: self = .null
        case .bool(let value): self = .bool(value)
        case .int32(let value): self = .int(Int64(value))
        case .int64(let value): self = .int(value)
        case .double(let value): self = .double(bits: value.bitPattern)
        case .decimal128(let value): self = .decimal(value)
        case .string(let text): self = .string(text)
        case .binary(let bytes, _): self = .binary(bytes)
        case .uuid(let id): self = .uuid(id)
        case .objectID(let id): self = .objectID(id)
        case .date(let milliseconds): self = .timestamp(TimestampValue(milliseconds: milliseconds))
        case .document, .array, .regularExpression, .timestamp, .minKey, .maxKey: return nil
        }
    }
}
