package import Changesets

/// Turns a schema and a stream of objects into changesets that build the same state from nothing.
///
/// Send `schemaChangeset()` first, then whatever `append` returns, then `finish()`. Every value is explicit but null
/// where an embedded object could be: a write of null there would undo a creation at the receiver. Links may come before
/// their targets; they are unresolved until then.
package struct StateChangesets: Sendable {
    let schema: Schema
    private let byteBudget: Int
    private let clearingCollections: Bool
    private var strings = InternTable()
    private var creations: [Instruction] = []
    private var contents: [Instruction] = []
    private var byteCount = 0
    var ready: [Changeset] = []

    /// - Parameters:
    ///   - byteBudget: A changeset ends with the instruction that reaches about this many bytes.
    ///   - clearingCollections: Whether collections are emptied before they are filled, for receivers that may hold
    ///     an earlier version of an object.
    package init(schema: Schema, byteBudget: Int = 128 << 10, clearingCollections: Bool = false) {
        self.schema = schema
        self.byteBudget = byteBudget
        self.clearingCollections = clearingCollections
    }

    /// All classes, then all columns, since columns name other classes. Empty for an empty schema.
    package func schemaChangeset() -> Changeset {
        var changeset = Changeset()
        for table in schema.tables {
            let name = changeset.strings.intern(table.name)
            let kind: Instruction.AddTable.Kind
            if let key = table.key {
                kind = .topLevel(
                    keyField: changeset.strings.intern(key.name), keyType: key.type, keyNullable: key.nullable,
                    asymmetric: table.kind == .asymmetric)
            } else {
                kind = .embedded
            }
            changeset.instructions.append(.addTable(.init(table: name, kind: kind)))
        }
        for table in schema.tables {
            for column in table.columns {
                changeset.instructions.append(column.addition(to: table.name, &changeset.strings))
            }
        }
        return changeset
    }

    /// Adds an object; returns the changesets that are full now, mostly none.
    ///
    /// - Parameter hidden: columns that are left out.
    package mutating func append(
        _ address: ObjectAddress, _ object: StoredObject, without hidden: Set<ColumnID> = []
    ) -> [Changeset] {
        guard let table = schema.table(address.className), table.kind != .embedded else { return [] }
        creations.append(.createObject(table: strings.intern(table.name), object: strings.intern(address.key)))
        add(cost: 8)
        for column in table.columns where !hidden.contains(column.id) {
            write(object[column], column, at: FieldAddress(address, column.name))
        }
        defer { ready = [] }
        return ready
    }

    /// The last changeset; nil if nothing is left.
    package mutating func finish() -> Changeset? {
        cut()
        defer { ready = [] }
        return ready.first
    }

    // MARK: Values

    private mutating func write(_ value: Value, _ column: ColumnSchema, at field: FieldAddress) {
        if column.collection != .single, clearingCollections {
            emit(.clear(path(field), collection: column.collection))
        }
        switch value {
        case .list(let items) where column.collection == .list: write(items, column.element, to: field)
        case .dictionary(let entries) where column.collection == .dictionary: write(entries, column.element, to: field)
        case .set(let members):
            for member in members {
                let path = path(field)
                emit(.setInsert(path, value: payload(member)), cost: member.cost)
            }
        default:
            if value == .null, schema.embeddedTarget(of: column.element) != nil { return }
            update(field, to: value, column.element)
        }
    }

    /// Writes a property or dictionary entry with everything in it.
    private mutating func update(_ slot: FieldAddress, to value: Value, _ element: ElementType) {
        let path = path(slot)
        let payload = payload(value)
        emit(.update(.init(target: path, value: payload, qualifier: .isDefault(false))), cost: value.cost)
        switch value {
        case .list, .dictionary: emit(.clear(self.path(slot), collection: value.collection))
        default: break
        }
        fill(slot, with: value, element)
    }

    private mutating func write(_ items: [Value], _ element: ElementType, to list: FieldAddress) {
        for (index, item) in items.enumerated() {
            let slot = list.appending(.index(index))
            let path = path(slot)
            let payload = payload(item)
            emit(
                .arrayInsert(path, value: payload, priorSize: UInt32(truncatingIfNeeded: index)), cost: item.cost)
            fill(slot, with: item, element)
        }
    }

    mutating func write(_ entries: [ByteString: Value], _ element: ElementType, to dictionary: FieldAddress) {
        for (key, entry) in entries.sorted(by: { $0.key < $1.key }) {
            update(dictionary.appending(.key(key)), to: entry, element)
        }
    }

    /// What a new collection or embedded object holds.
    private mutating func fill(_ slot: FieldAddress, with value: Value, _ element: ElementType) {
        switch value {
        case .list(let items): write(items, .mixed, to: slot)
        case .dictionary(let entries): write(entries, .mixed, to: slot)
        case .embedded(let object):
            guard let table = schema.embeddedTarget(of: element) else { return }
            for column in table.columns {
                write(object[column], column, at: slot.appending(.key(column.name)))
            }
        default: break
        }
    }

    private mutating func payload(_ value: Value) -> Payload {
        // A link to a class that has been erased can never resolve.
        if case .link(let target) = value, schema.table(target.className) == nil { return .null }
        return Payload(value, &strings)
    }

    // MARK: Changesets

    mutating func path(_ field: FieldAddress) -> FieldPath {
        add(cost: 2 * field.path.count)
        return FieldPath(field, &strings)
    }

    mutating func emit(_ instruction: Instruction, cost: Int = 0) {
        contents.append(instruction)
        add(cost: 12 + cost)
        if byteCount + strings.byteCount >= byteBudget { cut() }
    }

    private mutating func add(cost: Int) { byteCount += cost }

    private mutating func cut() {
        guard !creations.isEmpty || !contents.isEmpty else { return }
        ready.append(Changeset(strings: strings, instructions: creations + contents))
        strings = InternTable()
        creations = []
        contents = []
        byteCount = 0
    }
}

extension Value {
    /// The approximate number of bytes that the value takes in an instruction, without what is inside a collection.
    fileprivate var cost: Int {
        switch self {
        case .string(let string): string.count
        case .binary(let bytes): bytes.count
        case .decimal, .uuid, .objectID, .link: 16
        default: 4
        }
    }
}
