internal import Changesets
internal import RealmState

/// Adds objects to a realm, with what they link to.
public final class _ObjectWriter {
    let instance: RealmInstance
    private let policy: Realm.UpdatePolicy
    /// The copies of objects of other realms and versions, by their originals; nil if such objects must not come in.
    private var copies: [ObjectHandle: ObjectBase]?

    /// - Parameter copying: an object that is a copy of one, which may link to objects of other realms: they are copied, too.
    init(
        _ instance: RealmInstance, policy: Realm.UpdatePolicy = .error,
        copying: (copy: ObjectBase, original: ObjectBase)? = nil
    ) {
        self.instance = instance
        self.policy = policy
        if let copying { copies = copying.original.handle.map { [$0: copying.copy] } ?? [:] }
    }

    /// Adds an object, or changes the one with its primary key as the policy says; an object of this realm stays as it is.
    /// - Parameter isPartial: whether properties that nobody set keep what an existing object has in them.
    func add(_ object: ObjectBase, isPartial: Bool = false) -> ObjectHandle {
        let model = ModelSchema.of(type(of: object))
        if let handle = object.handle {
            if let copy = copy(of: object, handle) { return add(copy) }
            precondition(
                handle.instance.core === instance.core && !handle.instance.isFrozen,
                "the \(model.name) object belongs to another realm, or is frozen; copy it with create(_:value:update:)")
            precondition(handle.exists, "the \(model.name) object has been deleted or invalidated")
            return handle
        }
        instance.checkIsInTransaction("objects can be added")
        let table = instance.table(of: model) { $0 != .embedded }
        let address = ObjectAddress(table.name, key(of: object, model, table))
        let plain = plainValues(of: object, model, table)
        var exists = false
        instance.edit { exists = try !$0.createIfMissing(address, with: plain) }
        precondition(
            !exists || policy != .error,
            "there is a \(model.name) object with the primary key \(RealmValue(address.key)) already; use update: .modified"
        )
        if !exists { instance.checkSubscription(of: table) }
        let handle = ObjectHandle(instance, address)
        // From here on, objects that link back find the object in the realm.
        object.state = .managed(handle)
        for property in model.properties where !property.isPrimaryKey && (exists || !property.shape.isPlain) {
            write(property, of: object, handle, table, exists: exists, isPartial: isPartial)
        }
        for property in model.all where !property.shape.isPlain { property.adopt(object) }
        if model.bindsAtOnce {
            for property in model.all { property.bind(object) }
        } else {
            object.unbound = model
        }
        return handle
    }

    /// What a new object holds from the beginning.
    private func plainValues(of object: ObjectBase, _ model: ModelSchema, _ table: TableSchema) -> [PlainValue] {
        var values: [PlainValue] = []
        values.reserveCapacity(model.properties.count)
        for property in model.properties where !property.isPrimaryKey && property.shape.isPlain {
            guard let column = table.column(property.name) else {
                preconditionFailure("class \(model.name) has no property '\(property.name)' in the realm's schema")
            }
            let (value, isDefault) = property.encoded(object, self)
            if isDefault, column.defaultValue == value { continue }
            values.append(PlainValue(column, value, isDefault: isDefault))
        }
        return values
    }

    /// The copy of an object of another realm or version; nil for one of this realm, or if there are to be no copies.
    private func copy(of object: ObjectBase, _ handle: ObjectHandle) -> ObjectBase? {
        guard let copies, handle.instance.core !== instance.core || handle.instance.isFrozen else { return nil }
        if let copy = copies[handle] { return copy }
        let copy = type(of: object).init()
        // Before its links are looked at: one of them may lead back.
        self.copies?[handle] = copy
        ValueConversion.orTrap { try copy.assign(object) }
        return copy
    }

    private func key(of object: ObjectBase, _ model: ModelSchema, _ table: TableSchema) -> ObjectKey {
        guard let property = model.primaryKey else { return .unique() }
        return ValueConversion.orTrap {
            guard let key = ObjectKey(property.encoded(object, self).value), table.key?.name == property.name else {
                throw ValueMismatch(description: "class \(model.name) has another primary key in the realm")
            }
            return key
        }
    }

    private func write(
        _ property: ModelProperty, of object: ObjectBase, _ handle: ObjectHandle, _ table: TableSchema, exists: Bool,
        isPartial: Bool
    ) {
        let (value, isDefault) = property.encoded(object, self)
        if isDefault {
            if exists, isPartial { return }
            if !exists, table.column(property.name)?.defaultValue == value { return }
        }
        let place = handle.place(of: property.name)
        if exists, policy == .modified {
            let old = instance.value(at: place)
            if old == value { return }
            if property.shape.target is EmbeddedObject.Type, let element = table.column(property.name)?.element {
                return EmbeddedUpdate(instance).write(value, over: old, at: place, element)
            }
        }
        if exists { property.field(of: handle).noteEmbedded(.replaced(place)) }
        instance.set(place, to: value, isDefault: isDefault && !exists)
    }

    /// What a realm holds for a reference to an object: a link, or all of an embedded object.
    func reference(to object: ObjectBase) -> RealmValue {
        object is EmbeddedObject ? .embedded(embedded(object)) : .link(add(object).address)
    }

    private func embedded(_ object: ObjectBase) -> StoredObject {
        let model = ModelSchema.of(type(of: object))
        precondition(
            object.handle == nil,
            "the embedded \(model.name) object has an owner already; assign a copy, \(model.name)(value:)")
        let table = instance.table(of: model) { $0 == .embedded }
        var stored = StoredObject()
        for property in model.properties {
            guard let column = table.column(property.name) else { continue }
            let value = property.encoded(object, self).value
            if value != column.defaultValue { stored[column.id] = value }
        }
        return stored
    }
}

extension RealmInstance {
    /// Traps outside of a write transaction.
    func checkIsInTransaction(_ what: String) {
        precondition(!isFrozen, "\(what) to a live realm only; this one is frozen")
        precondition(isInTransaction, "\(what) in a write transaction only: call write(_:) or beginWrite() first")
    }
}
