internal import Changesets
internal import RealmState

extension DynamicObject: RealmCollectionValue, _OptionalContent {
    /// A link to an object of some class.
    public static var _shape: _PropertyShape { _PropertyShape(type: .object("")) }
    /// A link to the object, or all of an embedded one.
    public func _encoded(_ writer: _ObjectWriter) -> _StoredValue {
        guard isEmbedded else { return _StoredValue(.link(address)) }
        return _StoredValue(stored.map { .embedded($0) } ?? .null)
    }
    /// The linked or embedded object; nil for anything else.
    public static func _content(_ stored: _StoredValue) -> Self? {
        guard let field = stored.field else { return nil }
        switch stored.value {
        case .link(let target): return Self(ObjectHandle(field.instance, target))
        case .embedded:
            guard case .object(let name) = field.shape(of: _shape).type else { return nil }
            return Self(
                ObjectHandle(field.instance, field.address.object, field: field.address, className: ByteString(name)))
        default: return nil
        }
    }
    /// The linked or embedded object.
    public static func _decode(_ stored: _StoredValue) -> Self {
        guard let object = _content(stored) else { preconditionFailure("an element that is no object") }
        return object
    }
    /// An object of a realm.
    public static func _convertContent(_ any: Any) throws -> Self {
        switch any {
        case let object as Self: return object
        case let object as ObjectBase:
            if let handle = object.handle { return Self(handle) }
            fallthrough
        default: throw ValueMismatch(description: "expected an object of a realm, came \(type(of: any))")
        }
    }
    /// An object of a realm.
    public static func _convert(_ any: Any?) throws -> Self {
        guard let any = ValueConversion.unwrapped(any) else {
            throw ValueMismatch(description: "a collection of objects cannot hold nil")
        }
        return try _convertContent(any)
    }
}

extension _Field {
    /// The shape of what is here, for which a collection of objects without a model does not know the class.
    func shape(of known: _PropertyShape) -> _PropertyShape {
        guard known.target == nil, case .object = known.type else { return known }
        if let property { return property.shape }
        var shape = known
        let names = address.path.compactMap { step in if case .key(let name) = step { name } else { nil } }
        let table = instance.table(named: owner.className)
        // The property of an embedded object, or that of a top-level one with what is in it.
        let column = (names.last.map { [$0] } ?? []) + [address.field]
        let target = column.lazy.compactMap { table?.column($0) }.first?.element.target
        shape.type = .object(target?.string ?? "")
        return shape
    }
}

extension ObjectBase {
    private func dynamicField(_ propertyName: String, _ what: String) -> _Field {
        guard let handle else {
            preconditionFailure("only an object of a realm has dynamic \(what)s; this one is unmanaged")
        }
        guard let property = ModelSchema.of(type(of: self))[propertyName] else {
            return handle.dynamic.dynamicField(propertyName, what)
        }
        return property.field(of: handle)
    }

    /// The objects of a list property, by its name. An unmanaged object traps, and so does a name of no list of objects.
    public func dynamicList(_ propertyName: String) -> List<DynamicObject> {
        List(.managed(dynamicField(propertyName, "list")))
    }
    /// The objects of a set property, by its name. An unmanaged object traps, and so does a name of no set of objects.
    public func dynamicMutableSet(_ propertyName: String) -> MutableSet<DynamicObject> {
        MutableSet(.managed(dynamicField(propertyName, "set")))
    }
    /// The objects of a map property, by its name. An unmanaged object traps, and so does a name of no map of objects.
    public func dynamicMap<Key: _MapKey>(_ propertyName: String) -> Map<Key, DynamicObject?> {
        Map(.managed(dynamicField(propertyName, "map")))
    }
}

extension DynamicObject {
    fileprivate func dynamicField(_ propertyName: String, _ what: String) -> _Field {
        guard let column = instance.table(named: handle.className)?.column(ByteString(propertyName)),
            column.collection != .single
        else { preconditionFailure("\(className) has no \(what) '\(propertyName)'") }
        return _Field(instance: instance, address: address(of: propertyName), property: nil, owner: handle)
    }

    /// The objects of a list property, by its name. A name of no list traps.
    public func dynamicList(_ propertyName: String) -> List<DynamicObject> {
        List(.managed(dynamicField(propertyName, "list")))
    }
    /// The objects of a set property, by its name. A name of no set traps.
    public func dynamicMutableSet(_ propertyName: String) -> MutableSet<DynamicObject> {
        MutableSet(.managed(dynamicField(propertyName, "set")))
    }
    /// The objects of a map property, by its name. A name of no map traps.
    public func dynamicMap<Key: _MapKey>(_ propertyName: String) -> Map<Key, DynamicObject?> {
        Map(.managed(dynamicField(propertyName, "map")))
    }
}
