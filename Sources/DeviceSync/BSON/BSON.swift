public import Foundation

/// A type whose values are BSON values. Partition values are `String`, `Int`, `ObjectId`, `UUID` or null.
public protocol BSON: Equatable {
    /// The value as an `AnyBSON`.
    var asBSON: AnyBSON { get }
}

extension String: BSON {
    /// A string.
    public var asBSON: AnyBSON { .string(self) }
}
extension Int: BSON {
    /// A 64-bit integer.
    public var asBSON: AnyBSON { .int64(Int64(self)) }
}
extension Int32: BSON {
    /// A 32-bit integer.
    public var asBSON: AnyBSON { .int32(self) }
}
extension Int64: BSON {
    /// A 64-bit integer.
    public var asBSON: AnyBSON { .int64(self) }
}
extension Bool: BSON {
    /// A Boolean value.
    public var asBSON: AnyBSON { .bool(self) }
}
extension Double: BSON {
    /// A double.
    public var asBSON: AnyBSON { .double(self) }
}
extension Data: BSON {
    /// Bytes.
    public var asBSON: AnyBSON { .binary(self) }
}
extension Date: BSON {
    /// A point in time.
    public var asBSON: AnyBSON { .datetime(self) }
}
extension UUID: BSON {
    /// A UUID.
    public var asBSON: AnyBSON { .uuid(self) }
}
extension ObjectId: BSON {
    /// An object identifier.
    public var asBSON: AnyBSON { .objectId(self) }
}
extension Decimal128: BSON {
    /// A decimal number.
    public var asBSON: AnyBSON { .decimal128(self) }
}
extension NSNull: BSON {
    /// Null.
    public var asBSON: AnyBSON { .null }
}
extension AnyBSON: BSON {
    /// Itself.
    public var asBSON: AnyBSON { self }
}
extension Dictionary: BSON where Key == String, Value == AnyBSON? {
    /// A document.
    public var asBSON: AnyBSON { .document(self) }
}
extension Array: BSON where Element == AnyBSON? {
    /// An array.
    public var asBSON: AnyBSON { .array(self) }
}
extension Optional: BSON where Wrapped: BSON {
    /// The value, or null.
    public var asBSON: AnyBSON { map(\.asBSON) ?? .null }
}
