internal import Changesets
internal import RealmState

extension Realm {
    // MARK: Reading

    /// All objects of a class, by ascending primary key; without one in the order in which they were made. A class that the realm does not have traps.
    public func objects<T: Object>(_ type: T.Type, file: StaticString = #fileID, line: UInt = #line) -> Results<T> {
        Caller.at(file, line) { Results(instance: instance, className: instance.name(of: type)) }
    }

    /// The object with a primary key; nil if there is none. A class that the realm does not have, and a key of another type, trap.
    public func object<T: Object, Key>(ofType type: T.Type, forPrimaryKey key: Key) -> T? {
        let model = ModelSchema.of(type)
        let table = instance.table(of: model)
        precondition(table.key?.name.isEmpty == false, "class \(model.name) has no primary key")
        let address = ObjectAddress(
            table.name,
            ValueConversion.orTrap {
                // A key that is an `Int` is taken directly: what its type can do need not be looked up.
                if Key.self == Int.self, let number = key as? Int { return .int(Int64(number)) }
                let stored = (key as? any _Scalar)?._stored.value
                return try stored.flatMap { ObjectKey($0) }
                    ?? ValueConversion(schema: StoredSchema()).key(key as Any?, of: table)
            })
        return instance.contains(address) ? type.managed(ObjectHandle(instance, address), model) : nil
    }

    // MARK: Writing; in a write transaction

    /// Adds an unmanaged object, with the unmanaged objects that it links to; from then on it shows the realm.
    ///
    /// An object of this realm stays as it is. One of another realm, a frozen one, an object with the primary key of another under `.error`, and a class that the
    /// realm does not have, trap; in a flexible realm, so does a class without a subscription.
    public func add(
        _ object: Object, update: UpdatePolicy = .error, file: StaticString = #fileID, line: UInt = #line
    ) {
        Caller.at(file, line) { _ = _ObjectWriter(instance, policy: update).add(object) }
    }

    /// Adds several objects; see `add(_:update:file:line:)`.
    public func add<S: Sequence>(
        _ objects: S, update: UpdatePolicy = .error, file: StaticString = #fileID, line: UInt = #line
    ) where S.Element: Object {
        for object in objects { add(object, update: update, file: file, line: line) }
    }

    /// Makes an object in the realm, or changes the one with that primary key as `update` says.
    ///
    /// `value` is a dictionary by property names. What it does not name has its default, or keeps what an existing object has; names that the class does not have
    /// are left out. Objects in it that no realm has are copied, and stay as they are. See `add(_:update:file:line:)` for what traps.
    @discardableResult
    public func create<T: Object>(
        _ type: T.Type, value: [String: Any], update: UpdatePolicy = .error, file: StaticString = #fileID,
        line: UInt = #line
    ) -> T {
        create(type, value: value as Any, update: update, file: file, line: line)
    }

    /// Makes an object in the realm, or changes the one with that primary key as `update` says. `value` has the properties in the order of their declarations;
    /// those that come after them are as if a dictionary did not name them.
    @discardableResult
    public func create<T: Object>(
        _ type: T.Type, value: [Any], update: UpdatePolicy = .error, file: StaticString = #fileID, line: UInt = #line
    ) -> T {
        create(type, value: value as Any, update: update, file: file, line: line)
    }

    /// Makes an object in the realm, or changes the one with that primary key as `update` says.
    /// - Parameter value: a dictionary by property names, an array in the order of the declarations, or an object, also of another realm.
    @discardableResult @_disfavoredOverload
    public func create<T: Object>(
        _ type: T.Type, value: Any = [String: Any](), update: UpdatePolicy = .error, file: StaticString = #fileID,
        line: UInt = #line
    ) -> T {
        Caller.at(file, line) {
            let object = type.init()
            ValueConversion.orTrap { try object.assign(value, ObjectCopies(of: value, object)) }
            let copying = (value as? ObjectBase).map { (object as ObjectBase, $0) }
            _ = _ObjectWriter(instance, policy: update, copying: copying).add(object, isPartial: true)
            return object
        }
    }

    /// Makes an object that is uploaded and not kept. `value` is a dictionary by property names.
    public func create<T: AsymmetricObject>(_ type: T.Type, value: [String: Any]) { create(type, value: value as Any) }

    /// Makes an object that is uploaded and not kept.
    /// - Parameter value: a dictionary by property names, an array in the order of the declarations, or an unmanaged object.
    @_disfavoredOverload
    public func create<T: AsymmetricObject>(_ type: T.Type, value: Any = [String: Any]()) {
        precondition(
            instance.isFlexible, "asymmetric objects can be made only in a realm opened with flexibleSyncConfiguration")
        let object = type.init()
        ValueConversion.orTrap { try object.assign(value, ObjectCopies(of: value, object)) }
        _ = _ObjectWriter(instance).add(object)
    }

    /// Deletes an object with its embedded objects; links to it become null or go away. An object that is not of this realm traps.
    public func delete(_ object: ObjectBase, file: StaticString = #fileID, line: UInt = #line) {
        Caller.at(file, line) { deleteObject(object) }
    }

    /// Deletes an object, as a function to hand on: `dogs.forEach(realm.delete)`.
    @_disfavoredOverload @_documentation(visibility: internal)
    public func delete(_ object: ObjectBase) { deleteObject(object) }

    private func deleteObject(_ object: ObjectBase) {
        instance.checkIsInTransaction("objects can be deleted")
        guard let handle = object.handle, handle.instance.core === instance.core else {
            preconditionFailure("only an object of this realm can be deleted from it")
        }
        precondition(!object.isInvalidated, "the \(handle.className) object has been deleted already")
        instance.delete(handle)
    }

    /// Deletes objects; see `delete(_:file:line:)`. One that was deleted with another before it is left out.
    public func delete<S: Sequence>(
        _ objects: S, file: StaticString = #fileID, line: UInt = #line
    ) where S.Element: ObjectBase {
        Caller.at(file, line) {
            instance.checkIsInTransaction("objects can be deleted")
            for object in Array(objects) where !(object.isInvalidated && object.handle?.instance.core === instance.core)
            {
                deleteObject(object)
            }
        }
    }

    // MARK: Versions

    /// A frozen object, which shows the object as it is now even after later changes.
    public func freeze<T: Object>(_ object: T) -> T { object.freeze() }

    /// The live object behind a frozen one; nil if it was deleted since.
    public func thaw<T: Object>(_ object: T, _isolation: (any Actor)? = #isolation) -> T? {
        object.thaw(_isolation: _isolation)
    }
}

extension RealmInstance {
    /// The name of a model class that the realm has. One that it does not have traps.
    func name(of type: ObjectBase.Type) -> ByteString { table(of: ModelSchema.of(type)).name }

    /// What the realm has of a model class. One that it does not have, or not as one of such a kind, traps.
    func table(of model: ModelSchema, isKind: (TableType) -> Bool = { $0 == .topLevel }) -> TableSchema {
        guard let table = table(named: model.storedName), isKind(table.kind) else {
            preconditionFailure(
                "class \(model.name) is not in the realm's schema; name it in the configuration's objectTypes")
        }
        return table
    }

    /// A class of the realm's schema, without a copy of all of the schema.
    func table(named name: ByteString) -> TableSchema? { read { $0.schema.table(name) } }
}
