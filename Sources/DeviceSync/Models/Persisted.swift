internal import Foundation
internal import RealmState

/// Makes a property of a model one that realms keep.
///
///     class Person: Object {
///         @Persisted(primaryKey: true) var _id: ObjectId
///         @Persisted(indexed: true) var name = ""
///         @Persisted var age: Int?
///         @Persisted var dogs: List<Dog>
///         @Persisted(originProperty: "friends") var befriendedBy: LinkingObjects<Person>
///     }
///
/// A property without a default begins with zero, an empty string, `Date()`, or a new `ObjectId` or `UUID`. In an unmanaged object the property is a plain
/// one; in a managed one it reads and writes the realm. Writing a managed one outside of a write transaction traps.
@propertyWrapper
public struct Persisted<Value: _Persistable> {
    @usableFromInline
    enum Content {
        /// Neither given a default, nor read or written.
        case unset
        /// Given a default or read, but never written.
        case defaulted(Value)
        case set(Value)
        case managed(ModelProperty)
        case traced(ModelProperty)
    }

    @usableFromInline
    var content: Content
    @usableFromInline
    let role: PersistedRole

    // Objects are made with their properties by the app's own code, where types are known: each of these would otherwise look for its own type first.
    @inlinable
    init(_ content: Content = .unset, role: PersistedRole) {
        self.content = content
        self.role = role
    }

    /// A property.
    @inlinable
    public init() { self.init(role: .plain) }

    // No autoclosures: with one, Swift would not let an initializer of the class assign the property before it calls that of the superclass.

    /// A property with a default, which is evaluated for each object.
    @inlinable
    public init(wrappedValue value: Value) { self.init(.defaulted(value), role: .plain) }

    /// A property that may be indexed.
    @inlinable
    public init(indexed: Bool) where Value: _Indexable { self.init(role: indexed ? .indexed : .plain) }

    /// A property with a default that may be indexed.
    @inlinable
    public init(wrappedValue value: Value, indexed: Bool) where Value: _Indexable {
        self.init(.defaulted(value), role: indexed ? .indexed : .plain)
    }

    /// A property that may be the class's primary key.
    @inlinable
    public init(primaryKey: Bool) where Value: _PrimaryKey { self.init(role: primaryKey ? .primaryKey : .plain) }

    /// A property with a default that may be the class's primary key.
    @inlinable
    public init(wrappedValue value: Value, primaryKey: Bool) where Value: _PrimaryKey {
        self.init(.defaulted(value), role: primaryKey ? .primaryKey : .plain)
    }

    /// The objects that link to this one by a property, which is named as in Swift.
    @inlinable
    public init(originProperty: String) where Value: _Backlinks { self.init(role: .backlink(originProperty)) }

    /// Only properties of classes can be persisted.
    @available(
        *, unavailable, message: "@Persisted can only be used on properties of a class that inherits from ObjectBase"
    )
    public var wrappedValue: Value {
        get { preconditionFailure("@Persisted outside of a model") }
        // swift-format-ignore: UseSingleLinePropertyGetter
        set { preconditionFailure("@Persisted outside of a model") }
    }

    /// Reads and writes the property of an object.
    @inlinable
    public static subscript<Owner: ObjectBase>(
        _enclosingInstance owner: Owner, wrapped _: ReferenceWritableKeyPath<Owner, Value>,
        storage path: ReferenceWritableKeyPath<Owner, Self>
    ) -> Value {
        // In the app's own code the compiler knows the property that a key path leads to, and nothing has to follow the path.
        @inline(__always) get {
            switch owner[keyPath: path].content {
            case .managed(let property): return property.read(owner, Value.self)
            case .set(let value), .defaulted(let value):
                return bind(owner, path)?.read(owner, Value.self) ?? value
            case .unset:
                if let property = bind(owner, path) { return property.read(owner, Value.self) }
                let value = Value._initial()
                owner[keyPath: path].content = .defaulted(value)
                return value
            case .traced(let property): return property.trace(owner, Value.self)
            }
        }
        @inline(__always) set {
            switch owner[keyPath: path].content {
            case .managed(let property): property.write(newValue, to: owner)
            case .traced: break
            case .unset, .defaulted, .set:
                if let property = bind(owner, path) { return property.write(newValue, to: owner) }
                owner[keyPath: path].content = .set(newValue)
            }
        }
    }

    /// Binds the property of an object that shows one of a realm and whose properties are bound when they are used; nil for any other object.
    @inlinable
    static func bind<Owner: ObjectBase>(
        _ owner: Owner, _ path: ReferenceWritableKeyPath<Owner, Self>
    ) -> ModelProperty? {
        guard let model = owner.unbound else { return nil }
        let object = Unmanaged.passUnretained(owner).toOpaque()
        let offset = withUnsafeMutablePointer(to: &owner[keyPath: path]) { UnsafeMutableRawPointer($0) - object }
        if let property = model.bind(owner, at: offset) { return property }
        // Swift has handed out a copy, and all properties are bound now.
        guard case .managed(let property) = owner[keyPath: path].content else { return nil }
        return property
    }
}

/// What a persisted property is beside its value.
@usableFromInline
enum PersistedRole: Hashable, Sendable {
    case plain, indexed, primaryKey
    /// The objects that link by a property of another class.
    case backlink(String)
}

/// The type of a property that holds what links to the object: `LinkingObjects`.
public protocol _Backlinks: _Persistable {}

/// A persisted property in the memory of an object, whatever its type.
protocol PersistedStorage: SendableMetatype {
    /// Whether properties are declared with a wrapper, and not in the old style.
    static var isWrapper: Bool { get }
    /// What a realm needs to know of the property.
    static var shape: _PropertyShape { get }
    static func role(at place: UnsafeMutableRawPointer) -> PersistedRole
    /// Makes the property show a realm; what it held is dropped.
    static func bind(_ place: UnsafeMutableRawPointer, to property: ModelProperty, of object: ObjectBase)
    /// Makes the property record that it was read.
    static func trace(_ place: UnsafeMutableRawPointer, as property: ModelProperty, of object: ObjectBase)
    /// Makes the property show the realm that its value was written to.
    static func adopt(_ place: UnsafeMutableRawPointer, _ field: _Field)
    /// What an unmanaged property would be in a realm, and whether that is its default.
    static func encoded(_ place: UnsafeMutableRawPointer, _ writer: _ObjectWriter) -> (value: Value, isDefault: Bool)
    static func value(at place: UnsafeMutableRawPointer, _ owner: ObjectBase) -> Any?
    static func assign(_ any: Any?, to place: UnsafeMutableRawPointer, _ owner: ObjectBase) throws
}

extension PersistedStorage {
    static var isWrapper: Bool { false }
}

extension Persisted: PersistedStorage {
    static var isWrapper: Bool { true }
    static var shape: _PropertyShape { Value._shape }

    private static func at(_ place: UnsafeMutableRawPointer) -> UnsafeMutablePointer<Self> {
        place.assumingMemoryBound(to: Self.self)
    }

    /// The value of an unmanaged property.
    private static func plain(_ place: UnsafeMutableRawPointer) -> Value {
        switch at(place).pointee.content {
        case .set(let value), .defaulted(let value): return value
        case .unset:
            let value = Value._initial()
            at(place).pointee.content = .defaulted(value)
            return value
        case .managed, .traced: return Value._initial()
        }
    }

    static func role(at place: UnsafeMutableRawPointer) -> PersistedRole { at(place).pointee.role }

    static func bind(_ place: UnsafeMutableRawPointer, to property: ModelProperty, of object: ObjectBase) {
        at(place).pointee.content = .managed(property)
    }

    static func trace(_ place: UnsafeMutableRawPointer, as property: ModelProperty, of object: ObjectBase) {
        at(place).pointee.content = .traced(property)
    }

    static func adopt(_ place: UnsafeMutableRawPointer, _ field: _Field) {
        guard let property = field.property else { return }
        let value = plain(place)
        at(place).pointee.content = .managed(property)
        value._adopt(field)
    }

    // Where the type is not known before the program runs, what Swift has to look up for each value costs more than the value.
    @_specialize(where Value == Bool)
    @_specialize(where Value == Int)
    @_specialize(where Value == Double)
    @_specialize(where Value == String)
    @_specialize(where Value == String?)
    @_specialize(where Value == Date)
    @_specialize(where Value == Date?)
    @_specialize(where Value == ObjectId)
    static func encoded(
        _ place: UnsafeMutableRawPointer, _ writer: _ObjectWriter
    ) -> (value: RealmValue, isDefault: Bool) {
        let value = plain(place)
        var isDefault = false
        if case .defaulted = at(place).pointee.content { isDefault = true }
        return (value._encoded(writer).value, isDefault)
    }

    static func value(at place: UnsafeMutableRawPointer, _ owner: ObjectBase) -> Any? {
        let value: Value
        if case .managed(let property) = at(place).pointee.content {
            value = property.read(owner, Value.self)
        } else {
            value = plain(place)
        }
        if case AnyRealmValue.none? = value as? AnyRealmValue { return nil }
        return ValueConversion.unwrapped(value)
    }

    static func assign(_ any: Any?, to place: UnsafeMutableRawPointer, _ owner: ObjectBase) throws {
        let value = try Value._convert(any)
        if case .managed(let property) = at(place).pointee.content {
            property.write(value, to: owner)
        } else {
            at(place).pointee.content = .set(value)
        }
    }
}
