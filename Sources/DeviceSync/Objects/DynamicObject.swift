internal import Changesets
internal import RealmState

/// An object of a realm whose class has no Swift type: a live handle, read and written by property name.
@dynamicMemberLookup
public final class DynamicObject: Hashable, Sendable, CustomStringConvertible {
    let handle: ObjectHandle

    init(_ handle: ObjectHandle) { self.handle = handle }

    var instance: RealmInstance { handle.instance }
    var address: ObjectAddress { handle.address }
    var field: FieldAddress? { handle.field }
    private var tableName: ByteString { handle.className }

    var isEmbedded: Bool { field != nil }

    /// The stored object; nil once it is deleted, or the realm was invalidated.
    var stored: StoredObject? {
        handle.isValid ? instance.read { handle.stored(in: $0) } : nil
    }

    func address(of name: String) -> FieldAddress { handle.place(of: ByteString(name)) }

    /// The realm that the object belongs to.
    public var realm: Realm { Realm(instance: instance) }
    /// The class.
    public var objectSchema: ObjectSchema {
        let table = instance.table(named: tableName)
        return ObjectSchema(
            table.map { ObjectSchemaDescription($0) }
                ?? ObjectSchemaDescription(embedded: tableName.string, properties: []))
    }
    /// The name of the class.
    public var className: String { tableName.string }
    /// Whether the object is deleted, or its realm was invalidated.
    public var isInvalidated: Bool { stored == nil }
    /// Whether the object belongs to a frozen realm.
    public var isFrozen: Bool { instance.isFrozen }
    /// The primary key; nil for an embedded object.
    public var primaryKey: Any? {
        guard !isEmbedded else { return nil }
        return instance.reading.single(Value(address.key)).scalar
    }

    /// A property: a scalar, `DynamicObject` for links and embedded objects, `DynamicList`, `DynamicSet`,
    /// `DynamicMap`, or `AnyRealmValue` for properties of any type. Nil stands for null.
    ///
    /// Writing needs a write transaction; arrays and dictionaries are accepted for collections, dictionaries for
    /// embedded objects. An unknown property, a wrong type and a deleted object trap.
    public subscript(_ name: String) -> Any? {
        get { read(name) }
        set { write(name, newValue) }
    }

    /// A property, as in `object.name`; see `subscript`.
    public subscript(dynamicMember member: String) -> Any? {
        get { read(member) }
        set { write(member, newValue) }
    }

    /// A property's name in the realm, for one in Swift.
    private func stored(_ name: String) -> String {
        if instance.table(named: tableName)?.column(ByteString(name)) != nil { return name }
        return instance.model(named: tableName).flatMap { ModelSchema.of($0)[name]?.name.string } ?? name
    }

    private func read(_ name: String) -> Any? {
        let name = stored(name)
        let (column, schema, key) = instance.read { state in
            let table = state.schema.table(tableName)
            return (table?.column(ByteString(name)), state.schema, table?.key?.name)
        }
        guard let column else {
            precondition(key == ByteString(name) && !isEmbedded, "\(tableName) has no property \(name)")
            return primaryKey
        }
        guard let stored else { preconditionFailure("the \(tableName) object has been deleted or invalidated") }
        let place = address(of: name)
        var field: _Field { _Field(instance: instance, address: place, property: nil, owner: handle) }
        switch column.collection {
        case .single:
            return ValueReading(instance: instance, schema: schema).any(stored[column], column.element, at: place)
        case .list: return DynamicList(field: field, element: column.element)
        case .set: return DynamicSet(field: field, element: column.element)
        case .dictionary: return DynamicMap(field: field, element: column.element)
        }
    }

    private func write(_ name: String, _ newValue: Any?) {
        let name = stored(name)
        let schema = instance.schema
        guard let column = schema.table(tableName)?.column(ByteString(name)) else {
            preconditionFailure("\(tableName) has no property \(name), or it is the primary key")
        }
        let value = ValueConversion.orTrap { try ValueConversion(schema: schema).value(newValue, for: column) }
        handle.edit { try $0.set(address(of: name), to: value) }
    }

    /// Adds to an integer property so that increments on several devices add up.
    public func increment(_ name: String, by delta: Int) {
        handle.edit { try $0.increment(address(of: name), by: Int64(delta)) }
    }

    /// The same object as its model class, or as a plain `Object` if it has none.
    var object: Object {
        let model = instance.model(named: handle.className) as? Object.Type
        return (model ?? Object.self).managed(handle)
    }

    /// A frozen handle of the object, which shows it as it is now even after later changes.
    public func freeze() -> DynamicObject { handle.moved(to: instance.frozen()).dynamic }

    /// A live handle of a frozen object; nil if the object has been deleted since.
    public func thaw(_isolation: (any Actor)? = #isolation) -> DynamicObject? {
        let live = handle.moved(to: instance.thawed(_isolation)).dynamic
        return live.isInvalidated ? nil : live
    }

    /// Whether both handles are of the same object.
    public func isSameObject(as other: DynamicObject?) -> Bool {
        other.map { handle.isSameObject(as: $0.handle) } ?? false
    }

    /// Whether the object is the one that an object with a model shows.
    public func isSameObject(as other: ObjectBase) -> Bool { other.isSameObject(as: self) }

    /// Whether both are handles of the same object, either both live or both frozen.
    public static func == (left: DynamicObject, right: DynamicObject) -> Bool { left.handle == right.handle }
    /// Hashes the address of the object.
    public func hash(into hasher: inout Hasher) { hasher.combine(handle) }

    /// The class and the primary key; property values are left out.
    public var description: String { "\(tableName) <\(primaryKey.map { "\($0)" } ?? "embedded")>" }
}
