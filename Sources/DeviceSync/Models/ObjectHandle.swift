internal import Changesets
internal import RealmState
internal import Synchronization

/// An object of a realm, as models see it: the seam between typed objects and what stores them.
///
/// Reads and writes one field at a time, and holds no values: what it shows is what the realm holds at the moment.
struct ObjectHandle: Hashable, Sendable {
    let instance: RealmInstance
    let className: ByteString
    /// The object, or the top-level object that an embedded one is part of.
    let address: ObjectAddress
    /// The place where an embedded object was found; nil for a top-level object.
    private let origin: FieldAddress?
    /// The number of the last move before that.
    private let moves: Int
    /// The instance's when the handle was made.
    private let generation: Int

    init(_ instance: RealmInstance, _ address: ObjectAddress) {
        self.init(instance, address, field: nil, className: address.className)
    }

    init(_ instance: RealmInstance, _ address: ObjectAddress, field: FieldAddress?, className: ByteString) {
        self.instance = instance
        self.address = address
        origin = field
        moves = field == nil ? 0 : instance.view?.moves.number ?? 0
        self.className = className
        generation = instance.generation
    }

    /// The place of an embedded object in its parent, one where nothing is once it is gone; nil for a top-level object.
    var field: FieldAddress? {
        guard let origin else { return nil }
        guard let known = instance.view?.moves, known.number != moves else { return origin }
        return known.place(of: origin, since: moves) ?? origin.gone
    }

    /// Whether the realm has the object, and was not invalidated since the handle was made.
    var exists: Bool {
        guard isValid else { return false }
        guard let field else { return instance.contains(address) }
        if case .embedded? = instance.value(at: field) { return true }
        return false
    }

    /// Whether the realm was not invalidated since the handle was made.
    var isValid: Bool { generation == instance.generation }

    /// The place of one of the object's fields.
    func place(of name: ByteString) -> FieldAddress {
        field?.appending(.key(name)) ?? FieldAddress(address, name)
    }

    /// The same object as another instance of the realm shows it.
    func moved(to instance: RealmInstance) -> ObjectHandle {
        ObjectHandle(instance, address, field: field, className: className)
    }

    /// Whether both are of one object, in whatever version.
    func isSameObject(as other: ObjectHandle) -> Bool {
        instance.core === other.instance.core && address == other.address && field == other.field
    }

    static func == (left: ObjectHandle, right: ObjectHandle) -> Bool {
        left.isSameObject(as: right) && left.instance.isFrozen == right.instance.isFrozen
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(address)
        hasher.combine(field)
    }

    var dynamic: DynamicObject { DynamicObject(self) }

    /// Changes something of the object in the transaction. If the realm was invalidated, this traps, as does a value that does not fit.
    func edit(_ body: (inout RecordingTransaction) throws -> Void) {
        precondition(isValid, "the \(className) object has been invalidated; read it from the realm again")
        instance.edit(body)
    }
}

// What models ask of a realm. Whatever stores the objects has to answer these, and nothing else.
extension RealmInstance {
    /// The value at an address; nil where nothing is.
    func value(at address: FieldAddress) -> Value? { read { $0.value(at: address) } }

    func contains(_ address: ObjectAddress) -> Bool { read { $0.contains(address) } }

    /// The objects of a class that link to an object by a property, once for each link, by ascending key.
    func origins(of address: ObjectAddress, in className: ByteString, over property: ByteString) -> [ObjectKey] {
        read { state in (copy state).origins(of: address, in: className, over: property) }
    }

    /// Writes a field, a slot of a list or an entry of a map.
    func set(_ address: FieldAddress, to value: Value, isDefault: Bool = false) {
        edit { try $0.set(address, to: value, isDefault: isDefault) }
    }

    /// Deletes an object with its embedded objects; of an embedded object, what its parent has in its place.
    func delete(_ handle: ObjectHandle) {
        let field = handle.field
        edit { transaction in
            guard let field else { return try transaction.deleteObject(handle.address) }
            switch field.path.last {
            case .index(let position):
                var list = field
                list.path.removeLast()
                view?.moves.note(.removed(list, at: position))
                try transaction.remove(at: field)
            default:
                view?.moves.note(.replaced(field))
                try transaction.set(field, to: .null)
            }
        }
    }
}
