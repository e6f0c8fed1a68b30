package import Changesets

extension RealmState {
    /// Applies every instruction in order (docs/changesets.md, "Applying").
    ///
    /// On an error what came before it in the changeset has been applied: open a savepoint first and roll back to it.
    /// - Throws: `badInstruction` with the place of the instruction, or `notLoaded`.
    package mutating func apply(_ changeset: Changeset) throws(RealmStateError) {
        var focus: ApplyFocus?
        var position = 0
        do throws(RealmStateError) {
            try changeset.instructions.withUnsafeBufferPointer { instructions throws(RealmStateError) in
                while position < instructions.count {
                    try apply(instructions, &position, changeset.strings, &focus)
                }
            }
        } catch {
            throw error.located(at: position, changeset.instructions[position], changeset.strings)
        }
    }

    /// Applies an instruction, and with one that changes an object those behind it that change the same one.
    ///
    /// - Parameter position: of the instruction; afterwards, that of the next one, or that of the one that fails.
    private mutating func apply(
        _ instructions: UnsafeBufferPointer<Instruction>, _ position: inout Int, _ strings: InternTable,
        _ focus: inout ApplyFocus?
    ) throws(RealmStateError) {
        if let path = instructions[position].fieldPath {
            try edit(path, instructions, &position, strings, &focus)
        } else if case .createObject(let table, let object) = instructions[position] {
            try create(table, object, instructions, &position, strings, &focus)
        } else {
            try apply(instructions[position], strings, &focus)
            position += 1
        }
    }

    /// Makes an object, unless there is one, with all that the instructions in a row behind it make of it.
    private mutating func create(
        _ name: InternedString, _ key: PrimaryKey, _ instructions: UnsafeBufferPointer<Instruction>,
        _ position: inout Int, _ strings: InternTable, _ focus: inout ApplyFocus?
    ) throws(RealmStateError) {
        let (table, reference) = try resolve(name, key, strings)
        let isPresent = try objects.isPresent(reference)
        position += 1
        guard !isPresent else { return }
        let made = ApplyFocus(name: name, object: key, table: table, reference: reference)
        var run = EditRun(made, schema, strings, compatibility, notesLinks: incoming != nil)
        var object = StoredObject(roomFor: table.columns.count)
        var failure: RealmStateError?
        do throws(RealmStateError) {
            try run.edit(&object, by: instructions, &position)
        } catch {
            failure = error
        }
        _ = try create(reference, as: object)
        note(run)
        focus = made
        if let failure { throw failure }
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
            guard try create(target.reference, as: StoredObject(roomFor: target.table.columns.count)) else { return }
            focus = ApplyFocus(name: table, object: object, table: target.table, reference: target.reference)
        case .eraseObject(let table, let object):
            focus = nil
            let target = try resolve(table, object, strings)
            guard try objects.isPresent(target.reference) else { return }
            objects.store(nil, target.reference, existed: true)
        case .update, .addInteger, .arrayInsert, .arrayMove, .arrayErase, .clear, .setInsert, .setErase:
            guard let path = instruction.fieldPath else { return }
            try withUnsafePointer(to: instruction) { instruction throws(RealmStateError) in
                var position = 0
                try edit(path, UnsafeBufferPointer(start: instruction, count: 1), &position, strings, &focus)
            }
        }
    }

    /// Changes an object, which is looked for once, by all instructions in a row that do.
    private mutating func edit(
        _ path: FieldPath, _ instructions: UnsafeBufferPointer<Instruction>, _ position: inout Int,
        _ strings: InternTable, _ focus: inout ApplyFocus?
    ) throws(RealmStateError) {
        let target = try prepare(path, strings, &focus)
        var run = EditRun(target, schema, strings, compatibility, notesLinks: incoming != nil)
        defer { note(run) }
        try objects.edit(target.reference) { object throws(RealmStateError) in
            try run.edit(&object, by: instructions, &position)
        }
    }

    private mutating func note(_ run: EditRun) {
        guard !run.links.isEmpty else { return }
        let address = ObjectAddress(run.target.table.name, run.target.reference.key)
        for link in run.links { incoming?.add(from: address, to: link) }
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
}

extension Schema {
    /// The value that a payload stands for; nil for an erasure.
    func value(_ payload: Payload, _ strings: InternTable) throws(RealmStateError) -> Value? {
        guard case .link(let table, let key) = payload else { return Value(payload) }
        return .link(try linkTarget(table, key, strings))
    }

    private func linkTarget(
        _ table: InternedString, _ key: PrimaryKey, _ strings: InternTable
    ) throws(RealmStateError) -> ObjectAddress {
        guard let target = self.table(try strings.name(table)) else { throw .bad("link to a class that is unknown") }
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
