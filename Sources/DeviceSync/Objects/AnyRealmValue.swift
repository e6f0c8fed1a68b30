public import Foundation

/// A value of any type that a realm can hold in an `any` property.
///
///     note.content = .fromDictionary(["title": "plan", "steps": .fromArray(["buy", "cook"])])
///     note.content.dictionaryValue?["steps"]?.listValue?.append("eat")
///
/// Lists and dictionaries may hold others, up to 100 levels deep; sets are no such values. What is assigned, or added with an object, is copied into the realm: a list or dictionary
/// that was made before stays as it is. One that is read from a managed object is live: it reads and writes the realm, by the keys and positions on the way to it, and is
/// invalidated when something else is there. In a list, that is what then stands at its position.
@frozen public enum AnyRealmValue: Hashable {
    /// Null.
    case none
    /// A 64-bit integer.
    case int(Int)
    /// A Boolean value.
    case bool(Bool)
    /// A 32-bit floating-point number.
    case float(Float)
    /// A 64-bit floating-point number.
    case double(Double)
    /// A string.
    case string(String)
    /// Bytes.
    case data(Data)
    /// A point in time.
    case date(Date)
    /// A link to another object: of a class without a model an `Object` whose properties are read by name. One that no realm has is added with the value.
    case object(Object)
    /// An object identifier.
    case objectId(ObjectId)
    /// A decimal number.
    case decimal128(Decimal128)
    /// A UUID.
    case uuid(UUID)
    /// Values by string keys.
    case dictionary(Map<String, AnyRealmValue>)
    /// Values in order.
    case list(List<AnyRealmValue>)

    /// The integer, if this is an integer.
    public var intValue: Int? { if case .int(let value) = self { value } else { nil } }
    /// The Boolean value, if this is a Boolean.
    public var boolValue: Bool? { if case .bool(let value) = self { value } else { nil } }
    /// The number, if this is a float.
    public var floatValue: Float? { if case .float(let value) = self { value } else { nil } }
    /// The number, if this is a double.
    public var doubleValue: Double? { if case .double(let value) = self { value } else { nil } }
    /// The string, if this is a string.
    public var stringValue: String? { if case .string(let value) = self { value } else { nil } }
    /// The bytes, if this is data.
    public var dataValue: Data? { if case .data(let value) = self { value } else { nil } }
    /// The date, if this is a date.
    public var dateValue: Date? { if case .date(let value) = self { value } else { nil } }
    /// The object identifier, if this is an object identifier.
    public var objectIdValue: ObjectId? { if case .objectId(let value) = self { value } else { nil } }
    /// The decimal number, if this is a decimal number.
    public var decimal128Value: Decimal128? { if case .decimal128(let value) = self { value } else { nil } }
    /// The UUID, if this is a UUID.
    public var uuidValue: UUID? { if case .uuid(let value) = self { value } else { nil } }
    /// The linked object, if this is a link to one of a realm.
    public var dynamicObject: DynamicObject? {
        if case .object(let value) = self { value.handle?.dynamic } else { nil }
    }
    /// The dictionary, if this is one; of a managed object a live one.
    public var dictionaryValue: Map<String, AnyRealmValue>? {
        if case .dictionary(let value) = self { value } else { nil }
    }
    /// The list, if this is one; of a managed object a live one.
    public var listValue: List<AnyRealmValue>? { if case .list(let value) = self { value } else { nil } }
}

extension AnyRealmValue {
    /// The scalar or link without the enumeration around it; nil for null and collections.
    var scalar: (any Sendable)? {
        switch self {
        case .none, .dictionary, .list: nil
        case .int(let value): value
        case .bool(let value): value
        case .float(let value): value
        case .double(let value): value
        case .string(let value): value
        case .data(let value): value
        case .date(let value): value
        case .object(let value): value.handle?.dynamic
        case .objectId(let value): value
        case .decimal128(let value): value
        case .uuid(let value): value
        }
    }
}
