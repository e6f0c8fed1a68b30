package import Changesets

extension RealmState {
    /// Applies every instruction in order (docs/changesets.md, "Applying").
    ///
    /// On an error what came before it in the changeset has been applied: open a savepoint first and roll back to it.
    /// - Throws: `badInstruction` with the place of the instruction, or `notLoaded`.
    package mutating func apply(_ changeset: Changeset) throws(RealmStateError) {
        var focus: ApplyFocus?
        for (position, instruction) in changeset.instructions.enumerated() {
            do throws(RealmStateError) {
                try apply(instruction, changeset.strings, &focus)
            } catch {
                throw error.located(at: position, instruction, changeset.strings)
            }
        }
    }

    /// - Parameter focus: what the instruction before it has left, by the same strings, if nothing else has changed the state since.
    mutating func apply(
        _ instruction: Instruction, _ strings: InternTable, _ focus: inout ApplyFocus?
    ) throws(RealmStateError) {
        switch instruction {
        case .addTable(let addTable):
            focus = nil
            try apply(addTable, strings)
        case .eraseTable(let table):
            focus = nil
            try eraseTable(strings.name(table))
        case .addColumn(let addColumn):
            focus = nil
            try apply(addColumn, strings)
        case .eraseColumn(let table, let field):
            focus = nil
            try eraseColumn(strings.name(table), strings.name(field))
        case .createObject(let table, let object):
            let target = try resolve(table, object, strings)
            guard try create(target.reference) else { return }
            focus = ApplyFocus(name: table, object: object, table: target.table, reference: target.reference)
        case .eraseObject(let table, let object):
            focus = nil
            let target = try resolve(table, object, strings)
            guard try objects.isPresent(target.reference) else { return }
            objects.store(nil, target.reference, existed: true)
        case .update, .addInteger, .arrayInsert, .arrayMove, .arrayErase, .clear, .setInsert, .setErase:
            guard let path = instruction.fieldPath else { return }
            try edit(path, instruction, strings, &focus)
        }
    }

    private mutating func edit(
        _ path: FieldPath, _ instruction: Instruction, _ strings: InternTable, _ focus: inout ApplyFocus?
    ) throws(RealmStateError) {
        let target = try prepare(path, strings, &focus)
        let field = try strings.name(path.field)
        var value: Value?
        if let payload = instruction.payload { value = try self.value(payload, strings) }
        if case .link(let link) = value {
            incoming?.add(from: ObjectAddress(target.table.name, target.reference.key), to: link)
        }
        let editor = FieldEditor(
            schema: schema, strings: strings, compatibility: compatibility, instruction: instruction, value: value)
        try objects.edit(target.reference, with: editor, target.table, field, path.path[...])
    }

    /// The object that the path leads to, saved for the open savepoint and marked as changed.
    private mutating func prepare(
        _ path: FieldPath, _ strings: InternTable, _ focus: inout ApplyFocus?
    ) throws(RealmStateError) -> ApplyFocus {
        if let focus, focus.name == path.table, focus.object == path.object { return focus }
        let (table, reference) = try resolve(path.table, path.object, strings)
        guard try objects.isPresent(reference) else { throw .bad("no such object") }
        objects.prepareToEdit(reference)
        let found = ApplyFocus(name: path.table, object: path.object, table: table, reference: reference)
        focus = found
        return found
    }

    /// Makes an object, if there is none.
    ///
    /// - Returns: whether there was none.
    mutating func create(_ reference: ObjectReference, as new: StoredObject = .init()) throws(RealmStateError) -> Bool {
        try objects.create(reference, as: new)
    }

    private func resolve(
        _ table: InternedString, _ object: PrimaryKey, _ strings: InternTable
    ) throws(RealmStateError) -> (table: TableSchema, reference: ObjectReference) {
        guard let schema = schema.table(try strings.name(table)) else { throw .bad("no such class") }
        let key = try strings.key(object)
        try schema.check(key)
        return (schema, ObjectReference(table: schema.id, key: key))
    }

    // MARK: Payloads

    /// The value that a payload stands for; nil for an erasure.
    private func value(_ payload: Payload, _ strings: InternTable) throws(RealmStateError) -> Value? {
        guard case .link(let table, let key) = payload else { return Value(payload) }
        return .link(try linkTarget(table, key, strings))
    }

    private func linkTarget(
        _ table: InternedString, _ key: PrimaryKey, _ strings: InternTable
    ) throws(RealmStateError) -> ObjectAddress {
        guard let target = schema.table(try strings.name(table)) else { throw .bad("link to a class that is unknown") }
        guard target.kind != .embedded else { throw .bad("link to an embedded class") }
        guard target.kind != .asymmetric else { throw .bad("link to an asymmetric class") }
        let key = try strings.key(key)
        try target.check(key)
        return ObjectAddress(target.name, key)
    }
}

/// The object that the last instruction of a changeset changed: most instructions follow another one for the same object,
/// and need not look for it again.
struct ApplyFocus {
    var name: InternedString
    var object: PrimaryKey
    var table: TableSchema
    var reference: ObjectReference
}

extension TableSchema {
    /// Whether objects of this class may have such a key.
    func check(_ objectKey: ObjectKey) throws(RealmStateError) {
        guard let key else { throw .bad("objects of an embedded class have no key") }
        let kind: PayloadType
        switch objectKey {
        case .null:
            guard key.nullable, key.type != .globalKey else { throw .bad("null key, which this class does not allow") }
            return
        case .int: kind = .int
        case .string: kind = .string
        case .globalKey: kind = .globalKey
        case .objectID: kind = .objectID
        case .uuid: kind = .uuid
        }
        guard kind == key.type else { throw .bad("key of type \(kind), this class has \(key.type)") }
    }
}

extension InternTable {
    func name(_ interned: InternedString) throws(RealmStateError) -> ByteString {
        guard let string = self[interned] else { throw .bad("Invalid interned string") }
        return string
    }

    func key(_ key: PrimaryKey) throws(RealmStateError) -> ObjectKey {
        guard let resolved = resolve(key) else { throw .bad("Invalid interned string") }
        return resolved
    }
}
