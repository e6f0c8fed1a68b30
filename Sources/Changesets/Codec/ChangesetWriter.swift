/// Writes instructions and string definitions; what is interned when is the caller's affair.
struct ChangesetWriter: Sendable {
    var output = VarintWriter()

    mutating func writeDefinition(_ index: UInt32, _ string: ByteString) {
        output.bytes.append(ChangesetReader.internCode)
        output.write(index)
        output.write(lengthAnd: string)
    }

    mutating func write(_ instruction: Instruction) {
        output.bytes.append(instruction.code)
        switch instruction {
        case .addTable(let addTable): write(addTable)
        case .eraseTable(let table): write(table)
        case .createObject(let table, let object), .eraseObject(let table, let object):
            write(table)
            write(object)
        case .update(let update):
            write(update.target)
            write(update.value)
            switch update.qualifier {
            case .isDefault(let isDefault): output.write(isDefault)
            case .priorSize(let size): output.write(size)
            }
        case .addInteger(let path, let delta):
            write(path)
            output.write(delta)
        case .addColumn(let addColumn): write(addColumn)
        case .eraseColumn(let table, let field):
            write(table)
            write(field)
        case .arrayInsert(let path, let value, let priorSize):
            write(path)
            write(value)
            output.write(priorSize)
        case .arrayMove(let path, let to, let priorSize):
            write(path)
            output.write(to)
            output.write(priorSize)
        case .arrayErase(let path, let priorSize):
            write(path)
            output.write(priorSize)
        case .clear(let path, let collection):
            write(path)
            output.bytes.append(collection.rawValue)
        case .setInsert(let path, let value), .setErase(let path, let value):
            write(path)
            write(value)
        }
    }

    private mutating func write(_ interned: InternedString) { output.write(interned.index) }

    private mutating func write(_ type: PayloadType) { output.write(type.rawValue) }

    private mutating func write(_ addTable: Instruction.AddTable) {
        write(addTable.table)
        switch addTable.kind {
        case .embedded: output.bytes.append(TableType.embedded.rawValue)
        case .topLevel(let keyField, let keyType, let keyNullable, let asymmetric):
            output.bytes.append((asymmetric ? TableType.asymmetric : .topLevel).rawValue)
            write(keyField)
            write(keyType)
            output.write(keyNullable)
        }
    }

    private mutating func write(_ addColumn: Instruction.AddColumn) {
        write(addColumn.table)
        write(addColumn.field)
        write(addColumn.type)
        output.write(addColumn.nullable)
        output.bytes.append(addColumn.collection.rawValue)
        if let target = addColumn.linkTarget { write(target) }
        if let keyType = addColumn.keyType { write(keyType) }
    }

    private mutating func write(_ path: FieldPath) {
        write(path.table)
        write(path.object)
        write(path.field)
        output.write(UInt64(path.path.count))
        for element in path.path {
            switch element {
            case .index(let index): output.write(index)
            case .key(let key):
                output.write(-1 as Int64)
                write(key)
            }
        }
    }

    private mutating func write(_ key: PrimaryKey) {
        switch key {
        case .null: write(PayloadType.null)
        case .int(let value):
            write(PayloadType.int)
            output.write(value)
        case .string(let value):
            write(PayloadType.string)
            write(value)
        case .globalKey(let high, let low):
            write(PayloadType.globalKey)
            output.write(high)
            output.write(low)
        case .objectID(let value):
            write(PayloadType.objectID)
            output.write(value)
        case .uuid(let value):
            write(PayloadType.uuid)
            output.write(value)
        }
    }

    private mutating func write(_ payload: Payload) {
        output.write(payload)
        guard case .link(let table, let key) = payload else { return }
        write(table)
        write(key)
    }
}
