import Changesets

extension OperationWriter {
    /// An operation in words: kind, class, key, path and sizes, and no values.
    func site(_ position: Int, of list: OperationList, version: UInt64) -> MergeError.Site {
        let operation = list.operations[position]
        return MergeError.Site(
            version: version, instruction: Int(operation.source), text: text(operation, of: list))
    }

    private func text(_ operation: Operation, of list: OperationList) -> String {
        let changeset = list.changesets[Int(operation.changeset)]
        var text = "\(operation.code) \(symbols[operation.table])"
        if let key = key(of: changeset.instructions[Int(operation.source)], in: changeset.strings) {
            text += "[\(key)]"
        }
        switch operation.code {
        case .addTable, .eraseTable, .createObject, .eraseObject: return text
        default: text += ".\(symbols[operation.field])"
        }
        for level in 0..<operation.depth {
            let step = steps.step(level, of: operation)
            text += step.isIndex ? "[\(step.value)]" : "[\"\(symbols[Symbol(step.value)])\"]"
        }
        switch operation.code {
        case .arrayInsert, .arrayErase: text += " of \(operation.priorSize)"
        case .arrayMove: text += " to \(operation.destination) of \(operation.priorSize)"
        case .update where operation.endsInIndex: text += " of \(operation.priorSize)"
        default: break
        }
        return text
    }

    private func key(of instruction: Instruction, in strings: InternTable) -> String? {
        guard let key = instruction.target.object else { return nil }
        switch key {
        case .null: return "null"
        case .int(let value): return String(value)
        case .string(let string): return strings[string].map { "\"\($0)\"" }
        case .globalKey(let high, let low): return "{\(hexText(high, 1))-\(hexText(low, 1))}"
        case .objectID(let value): return hexText(value.high, 16) + hexText(UInt64(value.low), 8)
        case .uuid(let value): return hexText(value.high, 16) + hexText(value.low, 16)
        }
    }
}
