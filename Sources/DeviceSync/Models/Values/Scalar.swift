internal import Changesets
public import Foundation
internal import Query
internal import RealmState

/// A single value: a number, a string, an identifier, an enumeration.
public protocol _Scalar: _Persistable, RealmCollectionValue, _OptionalContent {
    /// The type in a realm.
    static var _type: PropertyContent { get }
    /// The value that a realm holds; nil for what is of another type.
    static func _scalar(_ stored: _StoredValue) -> Self?
    /// What a realm is to hold.
    var _stored: _StoredValue { get }
    /// The value that something of another type stands for; nil if it is none.
    static func _scalar(from any: Any) -> Self?
}

extension _Scalar {
    /// The type, not null.
    public static var _shape: _PropertyShape { _PropertyShape(type: _type) }
    /// The value, or the type's own default for what is of another type.
    public static func _read(_ field: _Field, holding stored: _StoredValue?) -> Self {
        stored.flatMap { _scalar($0) } ?? _initial()
    }
    /// The value, or the type's own default for what is of another type.
    public static func _decode(_ stored: _StoredValue) -> Self { _scalar(stored) ?? _initial() }
    /// The value; nil for what is of another type.
    public static func _content(_ stored: _StoredValue) -> Self? { _scalar(stored) }
    /// The value.
    public func _encoded(_ writer: _ObjectWriter) -> _StoredValue { _stored }
    /// The value, if it fits.
    public static func _convert(_ any: Any?) throws -> Self {
        guard let any = ValueConversion.unwrapped(any) else {
            throw ValueMismatch(description: "expected a value of type \(Self.self), came nil")
        }
        return try _convertContent(any)
    }
    /// The value, if it fits.
    public static func _convertContent(_ any: Any) throws -> Self {
        guard let value = any as? Self ?? _scalar(from: any) else {
            throw ValueMismatch(
                description: "expected a value of type \(Self.self), came \(any) of type \(type(of: any))")
        }
        return value
    }
    /// Nothing but an exact value, unless the type says otherwise.
    public static func _scalar(from any: Any) -> Self? { nil }
}

/// A type of primary keys: integers, strings, identifiers, and optionals of these.
public protocol _PrimaryKey: _Persistable {}
/// A type that `@Persisted(indexed: true)` takes.
public protocol _Indexable: _Persistable {}
/// A type whose values have an order: numbers and dates.
public protocol MinMaxType {}
/// A type whose values can be added up.
public protocol AddableType {}

extension Optional: _PrimaryKey where Wrapped: _PrimaryKey & _OptionalContent {}
extension Optional: _Indexable where Wrapped: _Indexable & _OptionalContent {}
extension AnyRealmValue: MinMaxType, AddableType {}
extension Optional: MinMaxType where Wrapped: MinMaxType {}
extension Optional: AddableType where Wrapped: AddableType {}

// MARK: - Integers

/// An integer that realms keep in 64 bits.
public protocol _IntegerScalar: _Scalar, _PrimaryKey, _Indexable, MinMaxType, AddableType, _QueryOrdered,
    FixedWidthInteger
{}

extension _IntegerScalar {
    /// A 64-bit integer.
    public static var _type: PropertyContent { .int }
    /// Zero.
    public static func _initial() -> Self { 0 }
    /// The number; one that does not fit, which another device has written, is brought to the nearest that does.
    public static func _scalar(_ stored: _StoredValue) -> Self? {
        if case .int(let value) = stored.value { Self(clamping: value) } else { nil }
    }
    /// The number in 64 bits.
    public var _stored: _StoredValue { _StoredValue(.int(Int64(clamping: self))) }
    /// Any integer that fits; of Boolean values 0 and 1.
    public static func _scalar(from any: Any) -> Self? {
        if let value = any as? Bool { return value ? 1 : 0 }
        if let integer = any as? any BinaryInteger { return Self(exactly: integer) }
        return nil
    }
}

extension Int: _IntegerScalar {}
extension Int8: _IntegerScalar {}
extension Int16: _IntegerScalar {}
extension Int32: _IntegerScalar {}
extension Int64: _IntegerScalar {}

// MARK: - Other scalars

extension Bool: _Scalar, _Indexable {
    /// A Boolean value.
    public static var _type: PropertyContent { .bool }
    /// False.
    public static func _initial() -> Bool { false }
    /// The Boolean value.
    public static func _scalar(_ stored: _StoredValue) -> Bool? {
        if case .bool(let value) = stored.value { value } else { nil }
    }
    /// The Boolean value.
    public var _stored: _StoredValue { _StoredValue(.bool(self)) }
    /// 0 and 1.
    public static func _scalar(from any: Any) -> Bool? {
        guard let integer = any as? any BinaryInteger, let value = Int(exactly: integer), value == 0 || value == 1
        else {
            return nil
        }
        return value == 1
    }
}

extension Float: _Scalar, MinMaxType, AddableType {
    /// A 32-bit number.
    public static var _type: PropertyContent { .float }
    /// Zero.
    public static func _initial() -> Float { 0 }
    /// The number.
    public static func _scalar(_ stored: _StoredValue) -> Float? {
        if case .float(let bits) = stored.value { Float(bitPattern: bits) } else { nil }
    }
    /// The number.
    public var _stored: _StoredValue { _StoredValue(.float(bits: bitPattern)) }
    /// Integers, and doubles that are no greater than the greatest float.
    public static func _scalar(from any: Any) -> Float? {
        switch any {
        case let value as Double:
            value.isNaN || value.magnitude <= Double(Float.greatestFiniteMagnitude) ? Float(value) : nil
        case is Bool: nil
        case let value as any BinaryInteger: Float(value)
        default: nil
        }
    }
}

extension Double: _Scalar, MinMaxType, AddableType {
    /// A 64-bit number.
    public static var _type: PropertyContent { .double }
    /// Zero.
    public static func _initial() -> Double { 0 }
    /// The number.
    public static func _scalar(_ stored: _StoredValue) -> Double? {
        if case .double(let bits) = stored.value { Double(bitPattern: bits) } else { nil }
    }
    /// The number.
    public var _stored: _StoredValue { _StoredValue(.double(bits: bitPattern)) }
    /// Integers and floats.
    public static func _scalar(from any: Any) -> Double? {
        switch any {
        case let value as Float: Double(value)
        case is Bool: nil
        case let value as any BinaryInteger: Double(value)
        default: nil
        }
    }
}

extension String: _Scalar, _PrimaryKey, _Indexable {
    /// A string.
    public static var _type: PropertyContent { .string }
    /// The empty string.
    public static func _initial() -> String { "" }
    /// The string.
    public static func _scalar(_ stored: _StoredValue) -> String? {
        if case .string(let value) = stored.value { value.string } else { nil }
    }
    /// The string.
    public var _stored: _StoredValue { _StoredValue(.string(ByteString(self))) }
    /// Substrings.
    public static func _scalar(from any: Any) -> String? { (any as? Substring).map { String($0) } }
}

extension Data: _Scalar {
    /// Bytes.
    public static var _type: PropertyContent { .data }
    /// No bytes.
    public static func _initial() -> Data { Data() }
    /// The bytes.
    public static func _scalar(_ stored: _StoredValue) -> Data? {
        if case .binary(let value) = stored.value { Data(value) } else { nil }
    }
    /// The bytes.
    public var _stored: _StoredValue { _StoredValue(.binary([UInt8](self))) }
}

extension Date: _Scalar, _Indexable, MinMaxType {
    /// A point in time.
    public static var _type: PropertyContent { .date }
    /// Now.
    public static func _initial() -> Date { Date() }
    /// The point in time.
    public static func _scalar(_ stored: _StoredValue) -> Date? {
        if case .timestamp(let value) = stored.value { value.date } else { nil }
    }
    /// The point in time, to the nanosecond.
    public var _stored: _StoredValue { _StoredValue(.timestamp(TimestampValue(self))) }
}

extension UUID: _Scalar, _PrimaryKey, _Indexable {
    /// A UUID.
    public static var _type: PropertyContent { .uuid }
    /// A new random one.
    public static func _initial() -> UUID { UUID() }
    /// The UUID.
    public static func _scalar(_ stored: _StoredValue) -> UUID? {
        if case .uuid(let value) = stored.value { value.uuid } else { nil }
    }
    /// The UUID.
    public var _stored: _StoredValue { _StoredValue(.uuid(UUIDValue(self))) }
    /// The text of one.
    public static func _scalar(from any: Any) -> UUID? { (any as? String).flatMap { UUID(uuidString: $0) } }
}

extension ObjectId: _Scalar, _PrimaryKey, _Indexable {
    /// An object identifier.
    public static var _type: PropertyContent { .objectId }
    /// A new one.
    public static func _initial() -> Self { made(ObjectId().value) }
    /// The identifier.
    public static func _scalar(_ stored: _StoredValue) -> Self? {
        if case .objectID(let value) = stored.value { made(value) } else { nil }
    }
    /// The identifier.
    public var _stored: _StoredValue { _StoredValue(.objectID(value)) }
    /// The 24 hexadecimal digits of one.
    public static func _scalar(from any: Any) -> Self? {
        (any as? String).flatMap { try? ObjectId(string: $0) }.map { made($0.value) }
    }

    private static func made(_ value: ObjectIDValue) -> Self { Self(value) }
}

extension Decimal128: _Scalar, MinMaxType, AddableType {
    /// A decimal number.
    public static var _type: PropertyContent { .decimal128 }
    /// Zero.
    public static func _initial() -> Self { Self() }
    /// The number.
    public static func _scalar(_ stored: _StoredValue) -> Self? {
        if case .decimal(let value) = stored.value { Self(value) } else { nil }
    }
    /// The number.
    public var _stored: _StoredValue { _StoredValue(.decimal(value)) }
    /// Numbers of any type, and the text of one.
    public static func _scalar(from any: Any) -> Self? {
        if let text = any as? String { return (try? Decimal128(string: text)).map { Self($0.value) } }
        return any is Bool ? nil : DecimalNumber(any).map { Self($0) }
    }
}

// MARK: - Enumerations

/// An enumeration that realms keep by its raw value, an integer or a string.
///
///     enum Status: String, PersistableEnum { case open, done }
///
/// A property without a default begins with the first case. A raw value that is no case, which another device has written, reads as nil, or as the first
/// case where the property is not optional.
public protocol PersistableEnum: _Scalar, RawRepresentable, CaseIterable, _PrimaryKey, _Indexable, RealmOptionalType
where RawValue: _Scalar {}

/// An enumeration that realms keep, by its earlier name.
public typealias RealmEnum = PersistableEnum

extension PersistableEnum {
    /// The type of the raw values.
    public static var _type: PropertyContent { RawValue._type }
    /// The first case.
    public static func _initial() -> Self {
        guard let first = allCases.first else { preconditionFailure("the enumeration \(Self.self) has no cases") }
        return first
    }
    /// The case of the raw value; nil if it is none.
    public static func _scalar(_ stored: _StoredValue) -> Self? {
        RawValue._scalar(stored).flatMap { Self(rawValue: $0) }
    }
    /// The raw value.
    public var _stored: _StoredValue { rawValue._stored }
    /// The case of a raw value.
    public static func _scalar(from any: Any) -> Self? {
        (any as? RawValue ?? RawValue._scalar(from: any)).flatMap { Self(rawValue: $0) }
    }
}
