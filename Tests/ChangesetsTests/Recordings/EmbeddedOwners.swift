import Changesets

/// Follows paths through what columns a recording has added, to find the class that directly holds a field.
struct EmbeddedOwners {
    private struct Column {
        var collection: CollectionType
        var target: ByteString?
    }

    private var embedded: Set<ByteString> = []
    private var columns: [ByteString: [ByteString: Column]] = [:]

    mutating func learn(_ instruction: Instruction, _ strings: InternTable) {
        switch instruction {
        case .addTable(let addTable):
            if case .embedded = addTable.kind, let name = strings[addTable.table] { embedded.insert(name) }
        case .addColumn(let addColumn):
            guard let table = strings[addColumn.table], let field = strings[addColumn.field] else { return }
            columns[table, default: [:]][field] = Column(
                collection: addColumn.collection, target: addColumn.linkTarget.flatMap { strings[$0] })
        default: break
        }
    }

    func owner(of instruction: Instruction, _ strings: InternTable) -> ByteString? {
        guard let path = instruction.fieldPath, var owner = strings[path.table],
            var column = strings[path.field].flatMap({ columns[owner]?[$0] })
        else { return nil }
        var isInCollection = false
        for element in path.path {
            if column.collection != .single, !isInCollection {
                isInCollection = true
                continue
            }
            guard let target = column.target, embedded.contains(target), case .key(let key) = element,
                let inner = strings[key].flatMap({ columns[target]?[$0] })
            else { break }
            owner = target
            column = inner
            isInCollection = false
        }
        return owner
    }
}
