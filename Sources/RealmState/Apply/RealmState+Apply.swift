package import Changesets
import HashTreeCollections

extension RealmState {
    /// Applies every instruction in order (spec: changesets.md, section 10).
    ///
    /// On an error what came before it in the changeset has been applied: open a savepoint first and roll back to it.
    /// - Throws: `badInstruction` with the place of the instruction, or `notLoaded`.
    package mutating func apply(_ changeset: Changeset) throws(RealmStateError) {
        for (position, instruction) in changeset.instructions.enumerated() {
            do throws(RealmStateError) {
                try apply(instruction, strings: changeset.strings)
            } catch {
                throw error.located(at: position, instruction, changeset.strings)
            }
        }
    }

    mutating func apply(_ instruction: Instruction, strings: InternTable) throws(RealmStateError) {
        switch instruction {
        case .addTable(let addTable): try apply(addTable, strings)
        case .eraseTable(let table): try eraseTable(strings.name(table))
        case .addColumn(let addColumn): try apply(addColumn, strings)
        case .eraseColumn(let table, let field): try eraseColumn(strings.name(table), strings.name(field))
        case .createObject(let table, let object):
            try createObject(resolve(table, object, strings))
        case .eraseObject(let table, let object):
            try eraseObject(resolve(table, object, strings))
        case .update(let update):
            try edit(update.target, .update(newValue(update.value, strings)), strings)
        case .addInteger(let path, let delta): try edit(path, .addInteger(delta), strings)
        case .arrayInsert(let path, let value, let priorSize):
            try edit(path, .insert(newValue(value, strings), priorSize: priorSize), strings)
        case .arrayMove(let path, let to, let priorSize): try edit(path, .move(to: to, priorSize: priorSize), strings)
        case .arrayErase(let path, let priorSize): try edit(path, .erase(priorSize: priorSize), strings)
        case .clear(let path, let collection): try edit(path, .clear(collection), strings)
        case .setInsert(let path, let value): try edit(path, .setInsert(newValue(value, strings)), strings)
        case .setErase(let path, let value): try edit(path, .setErase(newValue(value, strings)), strings)
        }
    }

    private mutating func edit(
        _ path: FieldPath, _ operation: FieldOperation, _ strings: InternTable
    ) throws(RealmStateError) {
        let (table, reference) = try resolve(path.table, path.object, strings)
        guard try isPresent(reference, table) else { throw .bad("no such object") }
        let field = try strings.name(path.field)
        if let target = operation.linkTarget {
            incoming?.add(from: ObjectAddress(table.name, reference.key), to: target)
        }
        prepareToChange(reference)
        clock &+= 1
        let editor = FieldEditor(schema: schema, strings: strings, operation: operation, compatibility: compatibility)
        try rows[reference.table]?[reference.key]?.edit(with: editor, table, field, path.path[...], use: clock)
    }

    // MARK: Objects

    private mutating func createObject(
        _ target: (table: TableSchema, reference: ObjectReference)
    ) throws(RealmStateError) {
        guard try !isPresent(target.reference, target.table) else { return }
        store(StoredObject(), target.reference)
    }

    private mutating func eraseObject(
        _ target: (table: TableSchema, reference: ObjectReference)
    ) throws(RealmStateError) {
        guard try isPresent(target.reference, target.table) else { return }
        store(nil, target.reference)
    }

    private func isPresent(_ reference: ObjectReference, _ table: TableSchema) throws(RealmStateError) -> Bool {
        if let row = rows[reference.table]?[reference.key] { return row.object != nil }
        guard residency == .complete || completeTables.contains(reference.table) else {
            throw RealmStateError(.notLoaded, "the object was not loaded before it was touched")
        }
        return false
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

    private func newValue(_ payload: Payload, _ strings: InternTable) throws(RealmStateError) -> NewValue {
        switch payload {
        case .set: .set
        case .list: .list
        case .dictionary: .dictionary
        case .erased: .erased
        case .objectValue: .objectValue
        case .null: .value(.null)
        case .int(let value): .value(.int(value))
        case .bool(let value): .value(.bool(value))
        case .string(let value): .value(.string(value))
        case .binary(let value): .value(.binary(value))
        case .timestamp(let value): .value(.timestamp(value))
        case .float(let bits): .value(.float(bits: bits))
        case .double(let bits): .value(.double(bits: bits))
        case .decimal(let value): .value(.decimal(value))
        case .objectID(let value): .value(.objectID(value))
        case .uuid(let value): .value(.uuid(value))
        case .link(let table, let key): .value(.link(try linkTarget(table, key, strings)))
        }
    }

    private func linkTarget(
        _ table: InternedString, _ key: PrimaryKey, _ strings: InternTable
    ) throws(RealmStateError) -> ObjectAddress {
        guard let target = schema.table(try strings.name(table)) else { throw .bad("link to a class that is unknown") }
        guard target.kind != .embedded else { throw .bad("link to an embedded class") }
        let key = try strings.key(key)
        try target.check(key)
        return ObjectAddress(target.name, key)
    }
}

extension CachedObject {
    fileprivate mutating func edit(
        with editor: FieldEditor, _ table: TableSchema, _ field: ByteString, _ path: ArraySlice<PathElement>,
        use: UInt64
    ) throws(RealmStateError) {
        lastUse = use
        try object?.edit(with: editor, table, field, path)
    }
}

extension FieldOperation {
    fileprivate var linkTarget: ObjectAddress? {
        switch self {
        case .update(.value(.link(let target))), .insert(.value(.link(let target)), _),
            .setInsert(.value(.link(let target))):
            target
        default: nil
        }
    }
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
