/// A value that a `RealmOptional` may hold: a number or Boolean value.
public protocol RealmOptionalType: _Scalar {}
extension Int: RealmOptionalType {}
extension Int8: RealmOptionalType {}
extension Int16: RealmOptionalType {}
extension Int32: RealmOptionalType {}
extension Int64: RealmOptionalType {}
extension Float: RealmOptionalType {}
extension Double: RealmOptionalType {}
extension Bool: RealmOptionalType {}

extension RealmOptionalType {
    /// Nothing: such values are of no class.
    public static func className() -> String { "" }
}

/// An optional number or Boolean value as a property of a model in the old style; see `RealmProperty`.
public final class RealmOptional<Value: RealmOptionalType> {
    private let property: RealmProperty<Value?>

    /// An unmanaged property.
    public init(_ value: Value? = nil) {
        property = value.map { RealmProperty($0) } ?? RealmProperty()
    }

    /// The value. Writing that of a managed object outside of a write transaction traps.
    public var value: Value? {
        get { property.value }
        set { property.value = newValue }
    }
}

extension RealmOptional: Equatable {
    /// Whether both have equal values.
    public static func == (left: RealmOptional, right: RealmOptional) -> Bool { left.value == right.value }
}

extension RealmOptional: Decodable where Value: Decodable {
    /// An unmanaged property; null is nil.
    public convenience init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode(Value?.self))
    }
}

extension RealmOptional: Encodable where Value: Encodable {
    /// The value.
    public func encode(to encoder: any Encoder) throws { try property.encode(to: encoder) }
}

extension RealmOptional: OldStyleStorage {
    static var shape: _PropertyShape { Value?._shape }

    /// Runs `body` with the place of the property within.
    private static func within<Result>(
        _ place: UnsafeMutableRawPointer, _ body: (UnsafeMutableRawPointer) throws -> Result
    ) rethrows -> Result {
        var property = held(place).property
        return try withUnsafeMutablePointer(to: &property) { try body(UnsafeMutableRawPointer($0)) }
    }

    static func bind(_ place: UnsafeMutableRawPointer, to property: ModelProperty, of object: ObjectBase) {
        within(place) { RealmProperty<Value?>.bind($0, to: property, of: object) }
    }

    static func trace(_ place: UnsafeMutableRawPointer, as property: ModelProperty, of object: ObjectBase) {
        within(place) { RealmProperty<Value?>.trace($0, as: property, of: object) }
    }

    static func adopt(_ place: UnsafeMutableRawPointer, _ field: _Field) {
        within(place) { RealmProperty<Value?>.adopt($0, field) }
    }

    static func encoded(
        _ place: UnsafeMutableRawPointer, _ writer: _ObjectWriter
    ) -> (value: RealmValue, isDefault: Bool) {
        within(place) { RealmProperty<Value?>.encoded($0, writer) }
    }

    static func value(at place: UnsafeMutableRawPointer, _ owner: ObjectBase) -> Any? {
        within(place) { RealmProperty<Value?>.value(at: $0, owner) }
    }

    static func assign(_ any: Any?, to place: UnsafeMutableRawPointer, _ owner: ObjectBase) throws {
        try within(place) { try RealmProperty<Value?>.assign(any, to: $0, owner) }
    }
}
