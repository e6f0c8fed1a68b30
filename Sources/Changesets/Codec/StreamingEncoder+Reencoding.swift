extension StreamingEncoder {
    /// Appends an instruction of another changeset, interning its strings in the recorder's order.
    ///
    /// `owner` is the class that directly holds the field of a path instruction; nil means the top-level class.
    package mutating func append(
        _ instruction: Instruction, from strings: InternTable, owner: ByteString? = nil
    ) throws(ChangesetError) {
        switch instruction {
        case .addTable(var addTable):
            addTable.table = try move(addTable.table, from: strings)
            if case .topLevel(let keyField, let type, let nullable, let asymmetric) = addTable.kind {
                addTable.kind = .topLevel(
                    keyField: try move(keyField, from: strings), keyType: type, keyNullable: nullable,
                    asymmetric: asymmetric)
            }
            append(.addTable(addTable))
        case .eraseTable(let table): append(.eraseTable(table: try move(table, from: strings)))
        case .createObject(let table, let object):
            append(.createObject(table: try move(table, from: strings), object: try move(object, from: strings)))
        case .eraseObject(let table, let object):
            append(.eraseObject(table: try move(table, from: strings), object: try move(object, from: strings)))
        case .addColumn(var addColumn):
            addColumn.table = try move(addColumn.table, from: strings)
            addColumn.field = try move(addColumn.field, from: strings)
            // The recorder writes "" for every column that is not a link, though nothing refers to it.
            if let target = addColumn.linkTarget {
                addColumn.linkTarget = try move(target, from: strings)
            } else {
                _ = self.strings.intern("")
            }
            append(.addColumn(addColumn))
        case .eraseColumn(let table, let field):
            append(.eraseColumn(table: try move(table, from: strings), field: try move(field, from: strings)))
        case .update(var update):
            update.target = try move(update.target, from: strings, owner: owner)
            update.value = try move(update.value, from: strings)
            append(.update(update))
        case .addInteger(let path, let delta):
            append(.addInteger(try move(path, from: strings, owner: owner), delta: delta))
        case .arrayInsert(let path, let value, let priorSize):
            let moved = try move(path, from: strings, owner: owner)
            append(.arrayInsert(moved, value: try move(value, from: strings), priorSize: priorSize))
        case .arrayMove(let path, let to, let priorSize):
            append(.arrayMove(try move(path, from: strings, owner: owner), to: to, priorSize: priorSize))
        case .arrayErase(let path, let priorSize):
            append(.arrayErase(try move(path, from: strings, owner: owner), priorSize: priorSize))
        case .clear(let path, let collection):
            append(.clear(try move(path, from: strings, owner: owner), collection: collection))
        case .setInsert(let path, let value):
            let moved = try move(path, from: strings, owner: owner)
            append(.setInsert(moved, value: try move(value, from: strings)))
        case .setErase(let path, let value):
            let moved = try move(path, from: strings, owner: owner)
            append(.setErase(moved, value: try move(value, from: strings)))
        }
    }

    private mutating func move(
        _ interned: InternedString, from strings: InternTable
    ) throws(ChangesetError) -> InternedString {
        guard let string = strings[interned] else {
            throw ChangesetError(.malformed, "Invalid interned string: number \(interned.index)", offset: 0)
        }
        return self.strings.intern(string)
    }

    private mutating func move(_ key: PrimaryKey, from strings: InternTable) throws(ChangesetError) -> PrimaryKey {
        guard case .string(let interned) = key else { return key }
        return .string(try move(interned, from: strings))
    }

    private mutating func move(_ payload: Payload, from strings: InternTable) throws(ChangesetError) -> Payload {
        guard case .link(let table, let key) = payload else { return payload }
        return .link(table: try move(table, from: strings), key: try move(key, from: strings))
    }

    private mutating func move(
        _ path: FieldPath, from strings: InternTable, owner: ByteString?
    ) throws(ChangesetError) -> FieldPath {
        if let owner { _ = self.strings.intern(owner) }
        var moved = path
        moved.table = try move(path.table, from: strings)
        moved.object = try move(path.object, from: strings)
        moved.field = try move(path.field, from: strings)
        for (position, element) in path.path.enumerated() {
            if case .key(let key) = element { moved.path[position] = .key(try move(key, from: strings)) }
        }
        return moved
    }
}
