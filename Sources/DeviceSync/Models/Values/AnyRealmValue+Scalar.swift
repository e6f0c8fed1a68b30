internal import RealmState

extension AnyRealmValue: _Scalar, RealmPropertyType {
    /// A value of any type.
    public static var _type: PropertyContent { .any }
    /// Null.
    public static func _initial() -> AnyRealmValue { .none }
    /// The value; a list or dictionary is a live one.
    public static func _read(_ field: _Field, holding stored: _StoredValue?) -> AnyRealmValue {
        stored.map { field.instance.reading.mixed($0.value, at: field) } ?? .none
    }
    /// The value; a list or dictionary is a live one.
    public static func _scalar(_ stored: _StoredValue) -> AnyRealmValue? {
        stored.field.map { $0.instance.reading.mixed(stored.value, at: $0) } ?? ValueReading.plain(stored.value)
    }
    /// The value with all that it holds; what is no value of a realm traps.
    public var _stored: _StoredValue {
        _StoredValue(ValueConversion.orTrap { try ValueConversion(schema: StoredSchema()).value(self, as: .mixed) })
    }
    /// The value with all that it holds; objects that no realm has are added.
    public func _encoded(_ writer: _ObjectWriter) -> _StoredValue {
        addObjects(writer)
        return _stored
    }
    /// A value of any other type that realms know.
    public static func _scalar(from any: Any) -> AnyRealmValue? { AnyRealmValue(any) }
    /// The value; nil is null.
    public static func _convert(_ any: Any?) throws -> AnyRealmValue {
        try ValueConversion.unwrapped(any).map { try _convertContent($0) } ?? .none
    }
    /// The value. A list or dictionary of a realm stays that of its object; sets are no such values.
    public static func _convertContent(_ any: Any) throws -> AnyRealmValue {
        guard let value = AnyRealmValue(any) else {
            throw ValueMismatch(
                description:
                    "an AnyRealmValue cannot hold a \(type(of: any)): it holds numbers, strings, dates and other single values, objects of the "
                    + "realm, and lists and dictionaries of these")
        }
        return value.unmanaged
    }
    /// Whether the value is the live list or dictionary of the field.
    public func _shows(_ field: _Field) -> Bool {
        guard let collection = collectionField else { return false }
        return collection.isSame(as: field) && collection.exists
    }

    /// The place of a live list or dictionary; nil for any other value.
    var collectionField: _Field? {
        switch self {
        case .list(let list): list._field
        case .dictionary(let map): map._field
        default: nil
        }
    }

    /// The same value, without the connection to a realm that a live list or dictionary has.
    private var unmanaged: AnyRealmValue {
        guard collectionField != nil else { return self }
        return switch self {
        case .list(let list): .fromArray(list.map(\.unmanaged))
        case .dictionary(let map): .fromDictionary(map.contents.mapValues(\.unmanaged))
        default: self
        }
    }
}
