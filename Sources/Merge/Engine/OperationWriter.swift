import Changesets

/// Turns operations back into a changeset.
struct OperationWriter {
    let symbols: SymbolTable
    let steps: PathSteps

    /// The changeset as merging has left it. Its strings stay, used or not, and those of instructions put in are
    /// appended, as the reference does it.
    func changeset(_ index: Int, of list: OperationList) -> Changeset {
        var changeset = list.changesets[index]
        guard list.isDirty(changeset: index) else { return changeset }

        let original = changeset.instructions
        let range = list.ranges[index]
        adoptStrings(for: range, of: list, into: &changeset.strings)
        changeset.instructions = []
        changeset.instructions.reserveCapacity(list.operations[range].reduce(0) { $1.isLive ? $0 + 1 : $0 })
        for position in range {
            for added in list.inFront.isEmpty ? [] : list.inFront[position] ?? [] {
                let operation = list.operations[added]
                guard operation.isLive else { continue }
                changeset.instructions.append(
                    .eraseColumn(
                        table: changeset.strings.intern(symbols[operation.table]),
                        field: changeset.strings.intern(symbols[operation.field])))
            }
            let operation = list.operations[position]
            guard operation.isLive else { continue }
            let instruction = original[Int(operation.source)]
            changeset.instructions.append(operation.isDirty ? adjusted(instruction, by: operation) : instruction)
        }
        return changeset
    }

    /// Whether the changeset is another one than before. What was shifted there and back is as it was.
    func isModified(_ index: Int, of list: OperationList) -> Bool {
        guard list.isDirty(changeset: index) else { return false }
        let range = list.ranges[index]
        if !list.inFront.isEmpty, range.contains(where: { list.inFront[$0] != nil }) { return true }
        let instructions = list.changesets[index].instructions
        return range.contains { position in
            let operation = list.operations[position]
            guard operation.isDirty else { return false }
            if !operation.isLive { return true }
            let original = instructions[Int(operation.source)]
            return adjusted(original, by: operation) != original
        }
    }

    /// Interns the names in instructions that were put in, in the order in which that was done, and even in those
    /// discarded since.
    private func adoptStrings(for range: Range<Int>, of list: OperationList, into strings: inout InternTable) {
        guard !list.inFront.isEmpty else { return }
        for position in range.flatMap({ list.inFront[$0] ?? [] }).sorted() {
            let operation = list.operations[position]
            _ = strings.intern(symbols[operation.table])
            _ = strings.intern(symbols[operation.field])
        }
    }

    /// The instruction with the operands that rules may have changed.
    private func adjusted(_ instruction: Instruction, by operation: Operation) -> Instruction {
        switch instruction {
        case .update(var update):
            update.target = adjusted(update.target, by: operation)
            if case .int = update.value { update.value = .int(operation.integer) }
            if case .priorSize = update.qualifier { update.qualifier = .priorSize(operation.priorSize) }
            return .update(update)
        case .addInteger(let path, let delta):
            return .addInteger(adjusted(path, by: operation), delta: delta)
        case .arrayInsert(let path, let value, _):
            return .arrayInsert(adjusted(path, by: operation), value: value, priorSize: operation.priorSize)
        case .arrayMove(let path, _, _):
            return .arrayMove(
                adjusted(path, by: operation), to: operation.destination, priorSize: operation.priorSize)
        case .arrayErase(let path, _):
            return .arrayErase(adjusted(path, by: operation), priorSize: operation.priorSize)
        case .clear(let path, let collection):
            return .clear(adjusted(path, by: operation), collection: collection)
        case .setInsert(let path, let value):
            return .setInsert(adjusted(path, by: operation), value: value)
        case .setErase(let path, let value):
            return .setErase(adjusted(path, by: operation), value: value)
        case .addTable, .eraseTable, .createObject, .eraseObject, .addColumn, .eraseColumn:
            return instruction
        }
    }

    private func adjusted(_ path: FieldPath, by operation: Operation) -> FieldPath {
        var path = path
        for level in path.path.indices {
            guard case .index(let old) = path.path[level] else { continue }
            let new = steps.step(UInt32(truncatingIfNeeded: level), of: operation).value
            if new != old { path.path[level] = .index(new) }
        }
        return path
    }
}
