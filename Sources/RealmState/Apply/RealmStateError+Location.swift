import Changesets

extension RealmStateError {
    /// The same error with the place of the instruction that caused it.
    func located(at position: Int, _ instruction: Instruction, _ strings: InternTable) -> RealmStateError {
        var result = self
        result.instruction = position
        let target = instruction.target
        result.className = strings[target.table]
        result.key = target.object.flatMap { strings.resolve($0) }
        result.path = target.field.map { Self.text($0, instruction.fieldPath?.path ?? [], strings) }
        return result
    }

    private static func text(_ field: InternedString, _ path: PathElements, _ strings: InternTable) -> String {
        var text = strings[field]?.string ?? "?"
        for element in path {
            switch element {
            case .index(let index): text += "[\(index)]"
            case .key(let key): text += "[\"\(strings[key]?.string ?? "?")\"]"
            }
        }
        return text
    }
}
