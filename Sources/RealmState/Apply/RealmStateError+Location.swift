import Changesets

extension RealmStateError {
    /// The error with the place of the instruction that caused it.
    func located(at position: Int, _ instruction: Instruction, _ strings: InternTable) -> RealmStateError {
        var result = self
        result.instruction = position
        switch instruction {
        case .addTable(let addTable): result.className = strings[addTable.table]
        case .eraseTable(let table): result.className = strings[table]
        case .createObject(let table, let object), .eraseObject(let table, let object):
            result.className = strings[table]
            result.key = strings.resolve(object)
        case .addColumn(let addColumn):
            result.className = strings[addColumn.table]
            result.path = strings[addColumn.field]?.string
        case .eraseColumn(let table, let field):
            result.className = strings[table]
            result.path = strings[field]?.string
        default:
            guard let path = instruction.fieldPath else { break }
            result.className = strings[path.table]
            result.key = strings.resolve(path.object)
            result.path = Self.text(path, strings)
        }
        return result
    }

    private static func text(_ path: FieldPath, _ strings: InternTable) -> String {
        var text = strings[path.field]?.string ?? "?"
        for element in path.path {
            switch element {
            case .index(let index): text += "[\(index)]"
            case .key(let key): text += "[\"\(strings[key]?.string ?? "?")\"]"
            }
        }
        return text
    }
}
