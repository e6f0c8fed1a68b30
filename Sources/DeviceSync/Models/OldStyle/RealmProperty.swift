/// A value that a `RealmProperty` may hold: `AnyRealmValue`, or an optional number or Boolean value.
public protocol RealmPropertyType: _Persistable {}
extension Optional: RealmPropertyType where Wrapped: RealmOptionalType {}

/// A property of a model in the old style, without `@Persisted`: a class that has such properties has no others that realms keep.
///
///     class Person: Object {
///         let age = RealmProperty<Int?>()
///         let tags = List<String>()
///         let friendsOf = LinkingObjects(fromType: Person.self, property: "friends")
///     }
///     person.age.value = 7
public final class RealmProperty<Value: RealmPropertyType>: CustomStringConvertible {
    private enum Content {
        case plain(Value, isDefault: Bool)
        case managed(ModelProperty, ObjectHandle)
        case traced(ModelProperty, KeyPathTracer)
    }
    private var content: Content

    /// An unmanaged property that holds nil, or no value.
    public init() { content = .plain(Value._initial(), isDefault: true) }

    init(_ value: Value) { content = .plain(value, isDefault: false) }

    /// The value. Writing that of a managed object outside of a write transaction traps.
    public var value: Value {
        get {
            switch content {
            case .plain(let value, _): value
            case .managed(let property, let handle): property.read(handle, Value.self)
            case .traced(let property, let tracer): property.trace(tracer, Value.self)
            }
        }
        set {
            switch content {
            case .plain: content = .plain(newValue, isDefault: false)
            case .managed(let property, let handle): property.write(newValue, to: handle)
            case .traced: break
            }
        }
    }

    /// The value.
    public var description: String { "\(value)" }
}

extension RealmProperty: Equatable where Value: Equatable {
    /// Whether both have equal values.
    public static func == (left: RealmProperty, right: RealmProperty) -> Bool { left.value == right.value }
}

extension RealmProperty: Decodable where Value: Decodable {
    /// An unmanaged property; null is nil.
    public convenience init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode(Value.self))
    }
}

extension RealmProperty: Encodable where Value: Encodable {
    /// The value.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }
}

extension RealmProperty: OldStyleStorage {
    static var shape: _PropertyShape { Value._shape }

    static func bind(_ place: UnsafeMutableRawPointer, to property: ModelProperty, of object: ObjectBase) {
        held(place).content = .managed(property, object.managedHandle())
    }

    static func trace(_ place: UnsafeMutableRawPointer, as property: ModelProperty, of object: ObjectBase) {
        if case .traced(let tracer) = object.state { held(place).content = .traced(property, tracer) }
    }

    static func adopt(_ place: UnsafeMutableRawPointer, _ field: _Field) {
        guard let property = field.property else { return }
        let value = held(place).value
        held(place).content = .managed(property, field.owner)
        value._adopt(field)
    }

    static func encoded(
        _ place: UnsafeMutableRawPointer, _ writer: _ObjectWriter
    ) -> (value: RealmValue, isDefault: Bool) {
        var isUnset = false
        if case .plain(_, true) = held(place).content { isUnset = true }
        return (held(place).value._encoded(writer).value, isUnset)
    }

    static func value(at place: UnsafeMutableRawPointer, _ owner: ObjectBase) -> Any? {
        let value = held(place).value
        if case AnyRealmValue.none? = value as? AnyRealmValue { return nil }
        return ValueConversion.unwrapped(value)
    }

    static func assign(_ any: Any?, to place: UnsafeMutableRawPointer, _ owner: ObjectBase) throws {
        held(place).value = try Value._convert(any)
    }
}
