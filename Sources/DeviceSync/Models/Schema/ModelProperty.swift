internal import Changesets
internal import Foundation
internal import RealmState

/// What a stored property holds in a realm, under a name that no generic parameter hides.
typealias RealmValue = Value

/// A persisted property of a model class: its name, its type, and where objects keep it.
public final class ModelProperty: Sendable {
    /// The name in a realm.
    let name: ByteString
    /// The name in Swift.
    let swiftName: String
    let shape: _PropertyShape
    let role: PersistedRole
    /// The distance from an object's beginning in memory.
    let offset: Int
    private let storage: any PersistedStorage.Type

    init(
        name: String, swiftName: String, shape: _PropertyShape, role: PersistedRole, offset: Int,
        storage: any PersistedStorage.Type
    ) {
        self.name = ByteString(name)
        self.swiftName = swiftName
        self.shape = shape
        self.role = role
        self.offset = offset
        self.storage = storage
    }

    var isPrimaryKey: Bool { role == .primaryKey }

    private func place(in object: ObjectBase) -> UnsafeMutableRawPointer {
        Unmanaged.passUnretained(object).toOpaque() + offset
    }

    func bind(_ object: ObjectBase) { storage.bind(place(in: object), to: self, of: object) }

    /// What a key path finds that goes over the property.
    @usableFromInline
    func trace<T: _Persistable>(_ object: ObjectBase, _ type: T.Type) -> T {
        guard case .traced(let tracer) = object.state else { return T._initial() }
        return trace(tracer, type)
    }

    func trace<T: _Persistable>(_ tracer: KeyPathTracer, _: T.Type) -> T {
        tracer.properties.append(self)
        return T._traced(tracer)
    }

    func trace(_ object: ObjectBase) { storage.trace(place(in: object), as: self, of: object) }

    /// Whether the property of an object that is not managed holds just this.
    func holds(_ value: AnyObject, in object: ObjectBase) -> Bool {
        storage is any OldStyleStorage.Type && storage.value(at: place(in: object), object) as? AnyObject === value
    }

    func adopt(_ object: ObjectBase) { storage.adopt(place(in: object), field(of: object.managedHandle())) }

    func encoded(_ object: ObjectBase, _ writer: _ObjectWriter) -> (value: RealmValue, isDefault: Bool) {
        storage.encoded(place(in: object), writer)
    }

    func value(of object: ObjectBase) -> Any? {
        if object.unbound != nil { bind(object) }
        return storage.value(at: place(in: object), object)
    }

    /// - Throws: `ValueMismatch`.
    func assign(_ any: Any?, to object: ObjectBase) throws {
        if object.unbound != nil { bind(object) }
        do {
            try storage.assign(any, to: place(in: object), object)
        } catch let error as ValueMismatch {
            throw ValueMismatch(
                description: "property '\(swiftName)' of class \(ModelName.of(type(of: object))): \(error)")
        }
    }

    func field(of handle: ObjectHandle) -> _Field {
        _Field(instance: handle.instance, address: handle.place(of: name), property: self, owner: handle)
    }

    // MARK: Managed

    /// What a managed object's property holds.
    ///
    /// What another device deletes is gone from one moment to the next, so that reading it must not stop the program: it reads as a new object would.
    @usableFromInline
    func read<T: _Persistable>(_ object: ObjectBase, _ type: T.Type) -> T { read(object.managedHandle(), type) }

    func read<T: _Persistable>(_ handle: ObjectHandle, _: T.Type) -> T {
        let field = field(of: handle)
        // Also of an object that is gone: the handle has it.
        if isPrimaryKey { return T._read(field, holding: _StoredValue(RealmValue(handle.address.key))) }
        if let value = field.value { return T._read(field, holding: _StoredValue(value, in: field)) }
        guard handle.exists else {
            // A collection can say itself that it is invalidated.
            if shape.collection != .none { return T._read(field, holding: nil) }
            precondition(
                !handle.instance.isInTransaction && !handle.instance.isFrozen,
                "the \(handle.className) object has been deleted or invalidated")
            return T._initial()
        }
        return T._read(field, holding: nil)
    }

    @usableFromInline
    func write<T: _Persistable>(_ value: T, to object: ObjectBase) { write(value, to: object.managedHandle()) }

    func write<T: _Persistable>(_ value: T, to handle: ObjectHandle) {
        precondition(
            shape.isBacklink == false, "'\(swiftName)' follows the links to the object; change those instead")
        precondition(!handle.instance.isFrozen, "a frozen object cannot be changed; thaw it first")
        precondition(
            handle.instance.isInTransaction,
            "an object of a realm can be changed only in a write transaction: call write(_:) or beginWrite() first")
        precondition(handle.exists, "the \(handle.className) object has been deleted or invalidated")
        if isPrimaryKey {
            let new = value._encoded(_ObjectWriter(handle.instance)).value
            precondition(
                new == RealmValue(handle.address.key),
                "the primary key '\(swiftName)' cannot be changed after an object was added to a realm")
            return
        }
        let field = field(of: handle)
        if value._shows(field) { return }
        field.noteEmbedded(.replaced(field.address))
        handle.instance.set(field.address, to: value._encoded(_ObjectWriter(handle.instance)).value)
        value._adopt(field)
    }
}
