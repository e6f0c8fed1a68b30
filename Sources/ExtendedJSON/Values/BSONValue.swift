package import Changesets

/// A BSON value, as Extended JSON v2 writes it.
package indirect enum BSONValue: Sendable {
    case null
    case bool(Bool)
    case int32(Int32)
    case int64(Int64)
    case double(Double)
    case decimal128(Decimal128Value)
    /// UTF-8, unless it comes from a realm that holds something else.
    case string(ByteString)
    case binary([UInt8], subtype: UInt8)
    /// Binary of subtype 4.
    case uuid(UUIDValue)
    /// Milliseconds of Unix time, which is all that BSON has of a time.
    case date(Int64)
    case objectID(ObjectIDValue)
    case regularExpression(pattern: String, options: String)
    /// A time stamp of MongoDB's replication.
    case timestamp(seconds: UInt32, increment: UInt32)
    /// Less than every other value.
    case minKey
    /// Greater than every other value.
    case maxKey
    case array([BSONValue])
    case document(BSONDocument)
}

extension BSONValue {
    /// An integer, of 32 bits if it fits.
    package init(_ value: Int64) { self = Int32(exactly: value).map { .int32($0) } ?? .int64(value) }

    package init(_ text: String) { self = .string(ByteString(text)) }

    package var isNull: Bool { if case .null = self { true } else { false } }

    /// The value of an integer, of 32 or 64 bits.
    package var integer: Int64? {
        switch self {
        case .int32(let value): Int64(value)
        case .int64(let value): value
        default: nil
        }
    }

    package var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
    package var string: ByteString? { if case .string(let value) = self { value } else { nil } }
    package var array: [BSONValue]? { if case .array(let value) = self { value } else { nil } }
    package var document: BSONDocument? { if case .document(let value) = self { value } else { nil } }

    /// The type as MongoDB's `$type` names it, for people.
    package var typeName: String {
        switch self {
        case .null: "null"
        case .bool: "bool"
        case .int32: "int"
        case .int64: "long"
        case .double: "double"
        case .decimal128: "decimal"
        case .string: "string"
        case .binary: "binData"
        case .uuid: "uuid"
        case .date: "date"
        case .objectID: "objectId"
        case .regularExpression: "regex"
        case .timestamp: "timestamp"
        case .minKey: "minKey"
        case .maxKey: "maxKey"
        case .array: "array"
        case .document: "object"
        }
    }
}

extension BSONValue: Hashable {
    /// Values of two types are never equal. Doubles are equal if their bits are, and all that are not numbers are alike.
    package static func == (left: BSONValue, right: BSONValue) -> Bool {
        switch (left, right) {
        case (.null, .null), (.minKey, .minKey), (.maxKey, .maxKey): true
        case (.bool(let left), .bool(let right)): left == right
        case (.int32(let left), .int32(let right)): left == right
        case (.int64(let left), .int64(let right)): left == right
        case (.double(let left), .double(let right)):
            left.bitPattern == right.bitPattern || (left.isNaN && right.isNaN)
        case (.decimal128(let left), .decimal128(let right)): left == right
        case (.string(let left), .string(let right)): left == right
        case (.binary(let left, let leftSubtype), .binary(let right, let rightSubtype)):
            leftSubtype == rightSubtype && left == right
        case (.uuid(let left), .uuid(let right)): left == right
        case (.date(let left), .date(let right)): left == right
        case (.objectID(let left), .objectID(let right)): left == right
        case (.regularExpression(let left, let leftOptions), .regularExpression(let right, let rightOptions)):
            left == right && leftOptions == rightOptions
        case (.timestamp(let left, let leftIncrement), .timestamp(let right, let rightIncrement)):
            left == right && leftIncrement == rightIncrement
        case (.array(let left), .array(let right)): left == right
        case (.document(let left), .document(let right)): left == right
        default: false
        }
    }

    package func hash(into hasher: inout Hasher) {
        switch self {
        case .null, .minKey, .maxKey: hasher.combine(typeName)
        case .bool(let value): hasher.combine(value)
        case .int32(let value): hasher.combine(value)
        case .int64(let value): hasher.combine(value)
        case .double(let value): hasher.combine(value.isNaN ? Double.nan.bitPattern : value.bitPattern)
        case .decimal128(let value): hasher.combine(value)
        case .string(let value): hasher.combine(value)
        case .binary(let bytes, _): hasher.combine(bytes)
        case .uuid(let value): hasher.combine(value)
        case .date(let value): hasher.combine(value)
        case .objectID(let value): hasher.combine(value)
        case .regularExpression(let pattern, _): hasher.combine(pattern)
        case .timestamp(let seconds, _): hasher.combine(seconds)
        case .array(let elements): hasher.combine(elements)
        case .document(let document): hasher.combine(document)
        }
    }
}

// No nil literal: where an optional is meant, it would be a null that is there.
extension BSONValue: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    package init(integerLiteral value: Int64) { self.init(value) }
    package init(floatLiteral value: Double) { self = .double(value) }
    package init(stringLiteral value: String) { self.init(value) }
    package init(arrayLiteral elements: BSONValue...) { self = .array(elements) }
    package init(dictionaryLiteral members: (ByteString, BSONValue)...) { self = .document(BSONDocument(members)) }
}
