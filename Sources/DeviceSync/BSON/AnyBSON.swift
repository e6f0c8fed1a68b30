public import Foundation

/// A BSON document.
public typealias Document = [String: AnyBSON?]

/// A BSON value of any type.
@frozen public enum AnyBSON: Hashable, Sendable {
    /// A 64-bit floating-point number.
    case double(Double)
    /// A string.
    case string(String)
    /// A document.
    case document(Document)
    /// An array.
    case array([AnyBSON?])
    /// Bytes.
    case binary(Data)
    /// An object identifier.
    case objectId(ObjectId)
    /// A Boolean value.
    case bool(Bool)
    /// A point in time.
    case datetime(Date)
    /// A regular expression.
    case regex(NSRegularExpression)
    /// A 32-bit integer.
    case int32(Int32)
    /// A replication time stamp, as a date.
    case timestamp(Date)
    /// A 64-bit integer.
    case int64(Int64)
    /// A decimal number.
    case decimal128(Decimal128)
    /// A UUID.
    case uuid(UUID)
    /// Less than every other value.
    case minKey
    /// Greater than every other value.
    case maxKey
    /// Null.
    case null

    /// Wraps a value of a conforming type; nil becomes null.
    public init<T: BSON>(_ value: T) { self = value.asBSON }

    /// The integer, if this is an integer of 32 or 64 bits.
    public func asInt() -> Int? {
        switch self {
        case .int32(let value): Int(value)
        case .int64(let value): Int(value)
        default: nil
        }
    }
    /// The string, if this is a string.
    public var stringValue: String? { if case .string(let value) = self { value } else { nil } }
    /// The document, if this is a document.
    public var documentValue: Document? { if case .document(let value) = self { value } else { nil } }
    /// The array, if this is an array.
    public var arrayValue: [AnyBSON?]? { if case .array(let value) = self { value } else { nil } }
    /// The Boolean value, if this is a Boolean.
    public var boolValue: Bool? { if case .bool(let value) = self { value } else { nil } }
    /// The number, if this is a double.
    public var doubleValue: Double? { if case .double(let value) = self { value } else { nil } }
    /// The object identifier, if this is an object identifier.
    public var objectIdValue: ObjectId? { if case .objectId(let value) = self { value } else { nil } }
    /// The UUID, if this is a UUID.
    public var uuidValue: UUID? { if case .uuid(let value) = self { value } else { nil } }
    /// The integer, if this is a 64-bit integer.
    public var int64Value: Int64? { if case .int64(let value) = self { value } else { nil } }
    /// The integer, if this is a 32-bit integer.
    public var int32Value: Int32? { if case .int32(let value) = self { value } else { nil } }
    /// The bytes, if this is binary data.
    public var binaryValue: Data? { if case .binary(let value) = self { value } else { nil } }
    /// The point in time, if this is a date.
    public var dateValue: Date? { if case .datetime(let value) = self { value } else { nil } }
    /// The point in time, if this is a timestamp.
    public var timestampValue: Date? { if case .timestamp(let value) = self { value } else { nil } }
    /// The decimal number, if this is one.
    public var decimal128Value: Decimal128? { if case .decimal128(let value) = self { value } else { nil } }
    /// The regular expression, if this is one.
    public var regexValue: NSRegularExpression? { if case .regex(let value) = self { value } else { nil } }

    /// The number as a 32-bit integer, if this is a number that is one.
    public func asInt32() -> Int32? { asInt64().flatMap { Int32(exactly: $0) } }
    /// The number as a 64-bit integer, if this is a number that is one.
    public func asInt64() -> Int64? {
        switch self {
        case .int32(let value): Int64(value)
        case .int64(let value): value
        case .double(let value): Int64(exactly: value)
        default: nil
        }
    }
    /// The number as a double, if this is a number.
    public func asDouble() -> Double? {
        switch self {
        case .double(let value): value
        case .decimal128(let value): value.doubleValue
        default: asInt64().map { Double($0) }
        }
    }
    /// The number as a decimal number, if this is a number or the text of one.
    public func asDecimal128() -> Decimal128? {
        switch self {
        case .decimal128(let value): value
        case .double(let value): Decimal128(floatLiteral: value)
        case .string(let text): try? Decimal128(string: text)
        default: asInt64().map { Decimal128(integerLiteral: Int($0)) }
        }
    }
    /// Whether this is null.
    public var isNull: Bool { self == .null }

    /// The value as a type, if it is of that type; integers are also `Int`s.
    public func value<T: BSON>() -> T? {
        switch self {
        case .double(let value): value as? T
        case .string(let value): value as? T
        case .document(let value): value as? T
        case .array(let value): value as? T
        case .binary(let value): value as? T
        case .objectId(let value): value as? T
        case .bool(let value): value as? T
        case .datetime(let value), .timestamp(let value): value as? T
        case .regex(let value): value as? T
        case .int32(let value): value as? T ?? Int(value) as? T
        case .int64(let value): value as? T ?? Int(value) as? T
        case .decimal128(let value): value as? T
        case .uuid(let value): value as? T
        case .minKey, .maxKey: self as? T
        case .null: NSNull() as? T
        }
    }
}

extension AnyBSON: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByFloatLiteral, ExpressibleByNilLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// A string.
    public init(stringLiteral value: String) { self = .string(value) }
    /// A 64-bit integer.
    public init(integerLiteral value: Int) { self = .int64(Int64(value)) }
    /// A Boolean value.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// A double.
    public init(floatLiteral value: Double) { self = .double(value) }
    /// Null.
    public init(nilLiteral: ()) { self = .null }
    /// An array.
    public init(arrayLiteral elements: AnyBSON?...) { self = .array(elements) }
    /// A document; of repeated keys the last counts.
    public init(dictionaryLiteral elements: (String, AnyBSON?)...) {
        self = .document(Dictionary(elements, uniquingKeysWith: { $1 }))
    }
}
