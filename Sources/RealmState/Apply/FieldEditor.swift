import Changesets

/// Follows the path of an instruction inwards from a field and does there what the instruction says
/// (docs/changesets.md, "Following a path").
///
/// Values are taken out of their slot while they are changed, so that collections change in place.
struct FieldEditor {
    let schema: Schema
    let strings: InternTable
    let compatibility: PeerCompatibility
    let instruction: Instruction
    /// The value that the instruction carries: an empty collection or object for a marker, nil for an erasure.
    let value: Value?

    /// `depth` counts collections around the value.
    func edit(_ value: inout Value, of column: ColumnSchema, _ path: Slice<PathElements>) throws(RealmStateError) {
        let element = column.element
        guard let next = path.first else {
            switch column.collection {
            case .single: try editProperty(&value, element)
            case .list, .dictionary: try clearWhole(&value, column.collection)
            case .set: try editSet(&value, element)
            }
            return
        }
        switch (column.collection, next) {
        case (.single, _): try descend(into: &value, element, path, depth: 0)
        case (.list, .index): try editListSlot(&value, element, path, depth: 1)
        case (.dictionary, .key): try editEntry(&value, element, path, depth: 1)
        case (.list, .key): throw .bad("a list needs an index")
        case (.dictionary, .index): throw .bad("a dictionary needs a string")
        case (.set, _): throw .bad("a set's members have no path")
        }
    }

    private func descend(
        into value: inout Value, _ element: ElementType, _ path: Slice<PathElements>, depth: Int
    ) throws(RealmStateError) {
        guard let next = path.first else { return }
        if element.isMixed {
            switch (value, next) {
            case (.list, .index): try editListSlot(&value, .mixed, path, depth: depth + 1)
            case (.dictionary, .key): try editEntry(&value, .mixed, path, depth: depth + 1)
            default: throw .bad("the path goes on, but there is no collection of that kind")
            }
            return
        }
        guard let table = schema.embeddedTarget(of: element) else {
            throw .bad("the path goes on below a scalar or link")
        }
        guard case .key(let field) = next else { throw .bad("an embedded object needs a field") }
        let name = try strings.name(field)
        guard case .embedded(var object) = value else { throw .bad("there is no embedded object") }
        value = .null
        defer { value = .embedded(object) }
        try object.edit(with: self, table, name, path.dropFirst())
    }

    private func editListSlot(
        _ value: inout Value, _ element: ElementType, _ path: Slice<PathElements>, depth: Int
    ) throws(RealmStateError) {
        guard case .index(let number) = path.first else { throw .bad("a list needs an index") }
        guard case .list(var items) = value else { throw .bad("there is no list") }
        value = .null
        defer { value = .list(items) }
        let index = Int(number)
        let rest = path.dropFirst()
        if rest.isEmpty {
            try edit(&items, at: index, element, depth: depth)
        } else {
            guard index < items.count else { throw .bad("index \(index) is beyond the list's \(items.count) slots") }
            try descend(into: &items[index], element, rest, depth: depth)
        }
    }

    private func editEntry(
        _ value: inout Value, _ element: ElementType, _ path: Slice<PathElements>, depth: Int
    ) throws(RealmStateError) {
        guard case .key(let interned) = path.first else { throw .bad("a dictionary needs a string") }
        let key = try strings.name(interned)
        guard case .dictionary(var entries) = value else { throw .bad("there is no dictionary") }
        value = .null
        defer { value = .dictionary(entries) }
        let rest = path.dropFirst()
        if rest.isEmpty {
            try edit(&entries, at: key, element, depth: depth)
        } else {
            guard var entry = entries.removeValue(forKey: key) else { throw .bad("there is no entry of that key") }
            defer { entries[key] = entry }
            try descend(into: &entry, element, rest, depth: depth)
        }
    }

    func invalidPath() -> RealmStateError { .bad("Invalid path for \(instruction.name)") }
}

extension StoredObject {
    mutating func edit(
        with editor: FieldEditor, _ table: TableSchema, _ field: ByteString, _ path: Slice<PathElements>
    ) throws(RealmStateError) {
        guard let column = table.column(field) else {
            throw .bad(table.key?.name == field ? "a primary key cannot be changed" : "no such field")
        }
        try editor.edit(&self[column], of: column, path)
    }
}
