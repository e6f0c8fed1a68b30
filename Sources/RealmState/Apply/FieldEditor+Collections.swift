import Changesets

/// Slots of lists, and sets (docs/changesets.md, "Lists, sets and Clear").
extension FieldEditor {
    func edit(
        _ items: inout [Value], at index: Int, _ element: ElementType, depth: Int
    ) throws(RealmStateError) {
        switch instruction {
        case .update:
            guard index < items.count else { throw outOfRange(index, items) }
            try assign(to: &items[index], element, inList: true, depth: depth)
        case .arrayInsert(_, _, let priorSize):
            guard index <= items.count else { throw outOfRange(index, items) }
            try check(priorSize, items)
            var slot = Value.null
            try assign(to: &slot, element, inList: true, depth: depth)
            items.insert(slot, at: index)
        case .arrayMove(_, let to, let priorSize):
            let to = Int(to)
            guard index < items.count else { throw outOfRange(index, items) }
            guard to < items.count else { throw outOfRange(to, items) }
            guard index != to else { throw .bad("ArrayMove of an element to itself") }
            try check(priorSize, items)
            items.insert(items.remove(at: index), at: to)
        case .arrayErase(_, let priorSize):
            guard index < items.count else { throw outOfRange(index, items) }
            try check(priorSize, items)
            items.remove(at: index)
        case .clear(_, let kind):
            guard element.isMixed else { throw invalidPath() }
            guard index < items.count else { throw outOfRange(index, items) }
            items[index] = try emptied(kind, depth: depth)
        default: throw invalidPath()
        }
    }

    func editSet(_ slot: inout Value, _ element: ElementType) throws(RealmStateError) {
        let inserts: Bool
        switch instruction {
        case .clear: return try clearWhole(&slot, .set)
        case .setInsert: inserts = true
        case .setErase: inserts = false
        default: throw invalidPath()
        }
        guard let member = value, member.isPlain else { throw .bad("what a set cannot hold") }
        try element.check(member, inList: true)
        guard case .set(var members) = slot else { throw .bad("there is no set") }
        slot = .null
        let position = members.position(of: member)
        switch (inserts, position.isMember) {
        case (true, false): members.insert(member, at: position.index)
        // Equal numbers such as 1 and 1.0 are one member: every peer keeps the newer one, because the merge discards
        // the older.
        case (true, true): if compatibility == .convergent { members[position.index] = member }
        case (false, true): members.remove(at: position.index)
        case (false, false): break
        }
        slot = .set(members)
    }

    /// The author's idea of the list's size is a checksum over everything that came before.
    private func check(_ priorSize: UInt32, _ items: [Value]) throws(RealmStateError) {
        guard Int(priorSize) == items.count else {
            throw .bad("Invalid prior_size: expected \(items.count), came \(priorSize)")
        }
    }

    private func outOfRange(_ index: Int, _ items: [Value]) -> RealmStateError {
        .bad("\(instruction.name): index \(index) is beyond the list's \(items.count) slots")
    }
}

extension [Value] {
    /// The place of a member in a set's order, whether or not the set has it.
    func position(of member: Value) -> (index: Int, isMember: Bool) {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if Value.compare(self[middle], member) < 0 { low = middle + 1 } else { high = middle }
        }
        return (low, low < count && Value.compare(self[low], member) == 0)
    }
}
