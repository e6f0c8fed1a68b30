internal import Changesets

/// What all models are: a class whose `@Persisted` properties a realm can keep.
///
/// An object is *unmanaged* until it is added to a realm: a plain Swift object, for the code that made it. A managed one shows what its realm
/// holds. Subclass `Object`, `EmbeddedObject` or `AsymmetricObject`, not this class.
open class ObjectBase: Hashable, CustomStringConvertible {
    enum State {
        case unmanaged
        case managed(ObjectHandle)
        /// The object only finds out which properties a key path goes over.
        case traced(KeyPathTracer)
    }

    var state = State.unmanaged
    /// The schema of an object that was made to show one of a realm: its properties show the realm only from when they are first used.
    @usableFromInline
    var unbound: ModelSchema?

    /// An unmanaged object whose properties have their defaults.
    public required init() {}

    /// An unmanaged object with the given values; what they do not name has its default, and names that the class does not have are left out. See `init(value:)`.
    public convenience init(value: [String: Any]) { self.init(value: value as Any) }

    /// An unmanaged object with the given values in the order of the declarations; the properties that come after them have their defaults. See `init(value:)`.
    public convenience init(value: [Any]) { self.init(value: value as Any) }

    /// An unmanaged object made of a dictionary, an array in the order of the declarations, or another object. What does not fit traps.
    @_disfavoredOverload
    public convenience init(value: Any) {
        self.init()
        ValueConversion.orTrap { try assign(value) }
    }

    /// The object by its place alone, if its class has no model.
    var untyped: DynamicObject? { type(of: self) == Object.self ? handle?.dynamic : nil }

    /// The object's place in a realm; nil for an unmanaged one.
    var handle: ObjectHandle? { if case .managed(let handle) = state { handle } else { nil } }

    // MARK: Overridable

    /// The name of the class in a realm; nil for the name of the Swift class without its module.
    open class func _realmObjectName() -> String? { nil }

    /// The names of properties in a realm, by their names in Swift, where they differ.
    open class func propertiesMapping() -> [String: String] { [:] }

    /// The name of the class in a realm, as in `migration.enumerateObjects(ofType: Person.className())`.
    public class func className() -> String { ModelName.of(self) }

    /// The class, as realms describe it.
    public class func sharedSchema() -> ObjectSchema? { ObjectSchema(ModelSchema.of(self)) }

    /// The property that is the primary key; nil for the one that is declared with `@Persisted(primaryKey: true)`, if there is one.
    open class func primaryKey() -> String? { nil }

    /// Properties that have an index, beside those that are declared with `@Persisted(indexed: true)`.
    open class func indexedProperties() -> [String] { [] }

    /// Properties that realms do not keep although they are declared with `@Persisted`.
    open class func ignoredProperties() -> [String] { [] }

    /// Whether realms have the class whose configuration names no `objectTypes`. A base class of models that says no speaks for all of them.
    open class func shouldIncludeInDefaultSchema() -> Bool { true }

    // MARK: State

    /// The realm; nil for an unmanaged object.
    public var realm: Realm? { handle.map { Realm(instance: $0.instance) } }

    /// The class, as realms describe it.
    public var objectSchema: ObjectSchema { untyped?.objectSchema ?? ObjectSchema(ModelSchema.of(type(of: self))) }

    /// Whether the object was deleted from its realm. An unmanaged object never was.
    public var isInvalidated: Bool { handle.map { !$0.exists } ?? false }

    /// Whether the object belongs to a frozen realm.
    public var isFrozen: Bool { handle?.instance.isFrozen ?? false }

    /// Whether both are the same object of one realm, or the same unmanaged object.
    public func isSameObject(as other: ObjectBase?) -> Bool {
        guard let other else { return false }
        guard let mine = handle, let others = other.handle else { return self === other }
        return mine.isSameObject(as: others)
    }

    /// Whether the object of a realm is the one that a handle without a model is of.
    public func isSameObject(as other: DynamicObject) -> Bool { handle?.isSameObject(as: other.handle) ?? false }

    /// Whether both are the same object of one realm, either both live or both frozen, or the same unmanaged object.
    public static func == (left: ObjectBase, right: ObjectBase) -> Bool {
        guard let mine = left.handle, let others = right.handle else { return left === right }
        return mine == others
    }

    /// Hashes what tells objects apart. An unmanaged object's hash changes when the object is added to a realm.
    public func hash(into hasher: inout Hasher) {
        guard let handle else { return hasher.combine(ObjectIdentifier(self)) }
        hasher.combine(handle)
    }

    // MARK: By name

    /// A property by its name; nil for null.
    ///
    /// Numbers, enumerations' raw values, and arrays and dictionaries for collections are accepted. An unknown property and a value of a wrong type trap.
    public subscript(_ name: String) -> Any? {
        get { untyped.map { $0[name] } ?? property(name).value(of: self) }
        set {
            if let untyped { return untyped[name] = newValue }
            let property = property(name)
            ValueConversion.orTrap { try property.assign(newValue, to: self) }
        }
    }

    /// A property by its name; see `subscript`.
    public func value(forKey key: String) -> Any? { self[key] }

    /// Changes a property by its name; see `subscript`.
    public func setValue(_ value: Any?, forKey key: String) { self[key] = value }

    private func property(_ name: String) -> ModelProperty {
        let model = ModelSchema.of(type(of: self))
        guard let property = model[name] else { preconditionFailure("class \(model.name) has no property '\(name)'") }
        return property
    }

    /// Takes over what a dictionary, an array in the order of the declarations, or another object holds.
    /// - Parameter copies: what copies the objects among the values that no realm has; nil if the object is to hold them themselves.
    /// - Throws: `ValueMismatch`.
    func assign(_ any: Any, _ copies: ObjectCopies? = nil) throws {
        let model = ModelSchema.of(type(of: self))
        func assign(_ value: Any?, to property: ModelProperty) throws {
            let mayHoldObjects = property.shape.target != nil || property.shape.type == .any
            try property.assign(mayHoldObjects ? copies.map { try $0.copied(value) } ?? value : value, to: self)
        }
        switch any {
        case let object as ObjectBase where object.untyped == nil:
            let source = ModelSchema.of(type(of: object))
            for property in model.properties {
                guard let other = source[property.swiftName] else {
                    throw ValueMismatch(
                        description:
                            "an object of class \(source.name) has no property '\(property.swiftName)', as those of class "
                            + "\(model.name) have")
                }
                try assign(other.value(of: object), to: property)
            }
        case let values as [String: Any?]:
            // A name that the class does not know is left out, as in an answer of a server that says more than is kept.
            for (name, value) in values {
                if let property = model[name], !property.shape.isBacklink { try assign(value, to: property) }
            }
        case let values as [Any?]:
            guard values.count <= model.properties.count else {
                throw ValueMismatch(
                    description:
                        "an array for class \(model.name) can have \(model.properties.count) values, one for each "
                        + "property; it has \(values.count)")
            }
            for (property, value) in zip(model.properties, values) { try assign(value, to: property) }
        case let object as DynamicObject:
            for property in model.properties { try property.assign(object[property.name.string], to: self) }
        case let object as ObjectBase: try object.untyped.map { try self.assign($0) }
        default:
            throw ValueMismatch(
                description:
                    "an object of class \(model.name) can be made of a dictionary, an array or another object, not of "
                    + "a \(type(of: any))")
        }
    }

    // MARK: Managing

    /// An object that shows one of a realm.
    static func managed(_ handle: ObjectHandle) -> Self { managed(handle, ModelSchema.of(self)) }

    /// An object that shows one of a realm.
    ///
    /// Its properties are bound when they are used, since most of those who read many objects look at few properties. Those of a frozen object, which several
    /// threads may read at once, are bound here; and so are those of a class whose properties are to be bound at once.
    static func managed(_ handle: ObjectHandle, _ model: ModelSchema) -> Self {
        let object = self.init()
        object.state = .managed(handle)
        if handle.instance.isFrozen || model.bindsAtOnce {
            for property in model.all { property.bind(object) }
        } else {
            object.unbound = model
        }
        return object
    }

    /// The handle of an object whose properties are managed.
    func managedHandle() -> ObjectHandle {
        guard let handle else { preconditionFailure("a managed object without a realm") }
        return handle
    }
}

/// A class of objects that a realm keeps on their own.
///
///     class Person: Object {
///         @Persisted(primaryKey: true) var _id: ObjectId
///         @Persisted var name = ""
///         @Persisted var dogs: List<Dog>
///     }
open class Object: ObjectBase, RealmCollectionValue, _OptionalContent, RealmFetchable {
    /// A frozen object, which shows this one as it is now even after later changes. An unmanaged object traps.
    public func freeze() -> Self { Self.managed(frozenHandle()) }

    /// The live object behind a frozen one; nil if it was deleted since. An unmanaged object traps.
    public func thaw(_isolation: (any Actor)? = #isolation) -> Self? {
        thawedHandle(_isolation).map { Self.managed($0) }
    }
}

/// A class of objects that are part of another object, and go with it.
///
/// An embedded object has one owner. It is added by assigning it to a property, or appending it to a list, of a managed object.
open class EmbeddedObject: ObjectBase, RealmCollectionValue, _OptionalContent {
    /// True: the objects are part of others.
    public static func isEmbedded() -> Bool { true }

    /// A frozen object, which shows this one as it is now even after later changes. An unmanaged object traps.
    public func freeze() -> Self { Self.managed(frozenHandle()) }

    /// The live object behind a frozen one; nil if it was deleted since. An unmanaged object traps.
    public func thaw(_isolation: (any Actor)? = #isolation) -> Self? {
        thawedHandle(_isolation).map { Self.managed($0) }
    }
}

/// A class of objects that are uploaded and not kept: made by `Realm.create(_:value:)` in a flexible realm, and never read.
///
/// Its properties may hold embedded objects and links to objects of other classes; nothing links to it.
open class AsymmetricObject: ObjectBase {}

/// A class of which a realm can be asked for all objects.
public protocol RealmFetchable {
    /// The name of the class in a realm.
    static func className() -> String
}

extension ObjectBase {
    fileprivate func frozenHandle() -> ObjectHandle {
        let handle = versioned()
        return handle.moved(to: handle.instance.frozen())
    }

    func thawedHandle(_ isolation: (any Actor)?) -> ObjectHandle? {
        let handle = versioned()
        let live = handle.moved(to: handle.instance.thawed(isolation))
        return live.exists ? live : nil
    }

    private func versioned() -> ObjectHandle {
        guard let handle else {
            preconditionFailure("only an object of a realm can be frozen or thawed; this one is unmanaged")
        }
        return handle
    }
}
