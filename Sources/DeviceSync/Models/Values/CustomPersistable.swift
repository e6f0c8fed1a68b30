/// A type of an app's own that realms keep as another one, which they know.
///
///     struct Money: CustomPersistable {
///         var cents: Int
///         init(persistedValue: Int) { cents = persistedValue }
///         var persistableValue: Int { cents }
///     }
///
/// A custom type can be that of properties, their optionals, and elements of lists, sets and maps; of primary keys and indexed properties, if `PersistedType` can.
/// Queries and sorting go by the value that is kept. A property without a default begins with what that of `PersistedType` stands for.
public protocol CustomPersistable: _CustomPersistable {
    /// The value that a realm has kept.
    init(persistedValue: PersistedType)
}

/// A type of an app's own that realms keep as another one, of which not every value stands for one.
///
/// What stands for none reads as nil, and where the property is not optional as the default of `PersistedType` does; if that stands for none either, reading it traps.
public protocol FailableCustomPersistable: _CustomPersistable {}

/// The protocol of the types of an app's own that realms keep as other ones.
public protocol _CustomPersistable: _Scalar, _PrimaryKey, _Indexable {
    /// What a realm keeps: a number, a string, an identifier, an enumeration or another single value.
    associatedtype PersistedType: _Scalar
    /// The value that a realm has kept; nil for what is none.
    init?(persistedValue: PersistedType)
    /// What a realm is to keep.
    var persistableValue: PersistedType { get }
}

extension _CustomPersistable {
    /// The type of the value that is kept.
    public static var _type: PropertyContent { PersistedType._type }
    /// The value that the default of `PersistedType` stands for; if it stands for none, this traps.
    public static func _initial() -> Self {
        guard let value = Self(persistedValue: PersistedType._initial()) else {
            preconditionFailure(
                "\(Self.self) has no value for \(PersistedType._initial()); give the property a default or make it optional"
            )
        }
        return value
    }
    /// The value; nil for what stands for none.
    public static func _scalar(_ stored: _StoredValue) -> Self? {
        PersistedType._scalar(stored).flatMap(Self.init(persistedValue:))
    }
    /// The value that is kept.
    public var _stored: _StoredValue { persistableValue._stored }
    /// The value that one of the type that is kept stands for.
    public static func _scalar(from any: Any) -> Self? {
        (any as? PersistedType ?? PersistedType._scalar(from: any)).flatMap(Self.init(persistedValue:))
    }
}
