internal import Changesets
internal import RealmState

// The protocols of what models can hold. Apps conform to none of them but `PersistableEnum`; what begins with an underscore is
// for the SDK's own types.

/// A type whose values realms can hold: in properties, as elements of collections, or as what optionals have in them.
public protocol _Storable: SendableMetatype {
    /// What a realm needs to know of such a property or element.
    static var _shape: _PropertyShape { get }
    /// What a realm is to hold.
    func _encoded(_ writer: _ObjectWriter) -> _StoredValue
    /// Called when the value has been written to a place: collections and embedded objects become that place's.
    func _adopt(_ field: _Field)
    /// The value that a dictionary or array spells.
    static func _convert(_ any: Any?) throws -> Self
}

extension _Storable {
    /// Nothing but collections and embedded objects has to do anything.
    public func _adopt(_ field: _Field) {}
}

/// A type that properties can have: see `Persisted`.
public protocol _Persistable: _Storable {
    /// What an unmanaged object holds whose class says nothing else.
    static func _initial() -> Self
    /// The value of a realm's field, by what that holds (nil if the object is gone); for a collection a live handle.
    static func _read(_ field: _Field, holding stored: _StoredValue?) -> Self
    /// What a key path finds that goes over such a property.
    static func _traced(_ tracer: KeyPathTracer) -> Self
    /// Whether the value is the live handle of a field, which assigning it to the field would not change.
    func _shows(_ field: _Field) -> Bool
}

extension _Persistable {
    /// Only collections are handles.
    public func _shows(_ field: _Field) -> Bool { false }
    /// Key paths end at a scalar.
    public static func _traced(_ tracer: KeyPathTracer) -> Self { _initial() }
}

/// A type that lists, sets and maps can hold.
public protocol RealmCollectionValue: Hashable, _Storable {
    /// The element that a realm holds.
    static func _decode(_ stored: _StoredValue) -> Self
}

/// A type that a property or element can be an optional of.
public protocol _OptionalContent: Hashable, _Storable {
    /// The value that a realm holds; nil for null and for what is of another type.
    static func _content(_ stored: _StoredValue) -> Self?
    /// The value that a dictionary or array spells.
    static func _convertContent(_ any: Any) throws -> Self
    /// What a key path goes on with.
    static func _tracedContent(_ tracer: KeyPathTracer) -> Self?
}

extension _OptionalContent {
    /// Key paths go on at objects only.
    public static func _tracedContent(_ tracer: KeyPathTracer) -> Self? { nil }
}

/// The shape of a property or of the elements of a collection, as a realm needs to know it.
public struct _PropertyShape: Sendable {
    var type: PropertyContent
    var isOptional = false
    var collection = PropertyCollection.none
    /// The class that links and embedded objects are of.
    var target: ObjectBase.Type?
    /// Whether the property is none of the object's own: what links to it is found by the links.
    var isBacklink = false

    /// Whether the property holds values that know of no object, and that are no collections.
    var isPlain: Bool { collection == .none && target == nil && type != .any && !isBacklink }

    /// Returns the shape of a collection of such elements.
    func collected(in collection: PropertyCollection) -> _PropertyShape {
        var shape = self
        shape.collection = collection
        return shape
    }
}

/// A value as a realm stores it, with what it takes to make objects of it.
public struct _StoredValue: Sendable {
    let value: Value
    /// Nil for a value that is on its way into a realm.
    var field: _Field?

    init(_ value: Value, in field: _Field? = nil) {
        self.value = value
        self.field = field
    }
}

/// A place in a realm: a field of an object, a slot of a list, an entry of a map.
public struct _Field: Sendable {
    let instance: RealmInstance
    let address: FieldAddress
    /// The property that the place is of or in.
    let property: ModelProperty?
    /// The object that has the field.
    let owner: ObjectHandle
    /// The kind of the collection that was found in a place for values of any type, where another value may be at any time; `none` for any other place.
    var held = PropertyCollection.none

    /// The same place, for a collection that was found in it.
    func holding(_ kind: PropertyCollection) -> _Field {
        var field = self
        field.held = kind
        return field
    }

    func appending(_ step: PathStep) -> _Field {
        _Field(instance: instance, address: address.appending(step), property: property, owner: owner)
    }

    /// What the place holds; nil if the object is gone.
    var value: Value? { owner.isValid ? instance.value(at: address) : nil }
}

// MARK: - Optionals

extension Optional: _Storable where Wrapped: _OptionalContent {
    /// The shape of the wrapped type, except that the value may be null.
    public static var _shape: _PropertyShape {
        var shape = Wrapped._shape
        shape.isOptional = true
        return shape
    }
    /// The value, or null.
    public func _encoded(_ writer: _ObjectWriter) -> _StoredValue { self?._encoded(writer) ?? _StoredValue(.null) }
    /// The wrapped value's.
    public func _adopt(_ field: _Field) { self?._adopt(field) }
    /// The value, or nil for nil and `NSNull`.
    public static func _convert(_ any: Any?) throws -> Wrapped? {
        try ValueConversion.unwrapped(any).map { try Wrapped._convertContent($0) }
    }
}

extension Optional: _Persistable where Wrapped: _OptionalContent {
    /// Nil.
    public static func _initial() -> Wrapped? { nil }
    /// The value, or nil.
    public static func _read(_ field: _Field, holding stored: _StoredValue?) -> Wrapped? {
        stored.flatMap { Wrapped._content($0) }
    }
    /// What the wrapped type goes on with.
    public static func _traced(_ tracer: KeyPathTracer) -> Wrapped? { Wrapped._tracedContent(tracer) }
}

extension Optional: RealmCollectionValue where Wrapped: _OptionalContent {
    /// The value, or nil.
    public static func _decode(_ stored: _StoredValue) -> Wrapped? { Wrapped._content(stored) }
}

// MARK: - Objects

// Both kinds of objects that properties can hold conform by these.
extension ObjectBase {
    /// A link to an object of the class, or the embedded object; elements of lists and sets are never null.
    public static var _shape: _PropertyShape { _PropertyShape(type: .object(ModelName.of(self)), target: self) }
    /// What links to the object, or the embedded object.
    public func _encoded(_ writer: _ObjectWriter) -> _StoredValue { _StoredValue(writer.reference(to: self)) }
    /// Makes an embedded object the one of the place.
    public func _adopt(_ field: _Field) {
        guard self is EmbeddedObject, handle == nil else { return }
        state = .managed(field.embedded(type(of: self)))
        for property in ModelSchema.of(type(of: self)).all { property.adopt(self) }
    }
    /// The linked object; nil if it does not exist.
    public static func _content(_ stored: _StoredValue) -> Self? { object(stored) }
    /// The linked object; one that does not exist is invalidated.
    public static func _decode(_ stored: _StoredValue) -> Self {
        guard let object = object(stored, existing: false) else {
            preconditionFailure("an element that is no \(ModelName.of(self))")
        }
        return object
    }
    /// The object itself, or one made of a dictionary, an array, or an object of another realm.
    public static func _convertContent(_ any: Any) throws -> Self {
        // An embedded object of a realm stays that of its owner.
        if let object = any as? Self, !(object is EmbeddedObject) || object.handle == nil { return object }
        if let object = any as? DynamicObject, object.className == ModelName.of(self) { return managed(object.handle) }
        let object = self.init()
        try object.assign(any)
        return object
    }
    /// The object itself, or one made of a dictionary or an array.
    public static func _convert(_ any: Any?) throws -> Self {
        guard let any = ValueConversion.unwrapped(any) else {
            throw ValueMismatch(description: "a collection of \(ModelName.of(self)) objects cannot hold nil")
        }
        return try _convertContent(any)
    }
    /// An object that goes on with the key path.
    public static func _tracedContent(_ tracer: KeyPathTracer) -> Self? { tracing(tracer) }

    private static func object(_ stored: _StoredValue, existing: Bool = true) -> Self? {
        guard let field = stored.field else { return nil }
        switch stored.value {
        case .link(let target):
            guard !existing || field.instance.contains(target) else { return nil }
            return managed(ObjectHandle(field.instance, target))
        case .embedded: return managed(field.embedded(self))
        default: return nil
        }
    }
}

extension _Field {
    /// The embedded object that is in the place.
    fileprivate func embedded(_ type: ObjectBase.Type) -> ObjectHandle {
        ObjectHandle(instance, address.object, field: address, className: ByteString(ModelName.of(type)))
    }
}
