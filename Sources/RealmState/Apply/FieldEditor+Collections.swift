import Changesets

/// Slots of lists, and sets (docs/changesets.md, "Lists, sets and Clear").
extension FieldEditor {
    func edit(
        _ items: inout [Value], at index: Int, _ element: ElementType, depth: Int
    ) throws(RealmStateError) {
        switch operation {
        case .update(let new):
            guard index < items.count else { throw outOfRange(index, items) }
            try assign(new, to: &items[index], element, .slot, depth: depth)
        case .insert(let new, let priorSize):
            guard index <= items.count else { throw outOfRange(index, items) }
            try check(priorSize, items)
            var value = Value.null
            try assign(new, to: &value, element, .slot, depth: depth)
            items.insert(value, at: index)
        case .move(let to, let priorSize):
            let to = Int(to)
            guard index < items.count else { throw outOfRange(index, items) }
            guard to < items.count else { throw outOfRange(to, items) }
            guard index != to else { throw .bad("ArrayMove of an element to itself") }
            try check(priorSize, items)
            items.insert(items.remove(at: index), at: to)
        case .erase(let priorSize):
            guard index < items.count else { throw outOfRange(index, items) }
            try check(priorSize, items)
            items.remove(at: index)
        case .clear(let kind):
            guard element.isMixed else { throw invalidPath() }
            guard index < items.count else { throw outOfRange(index, items) }
            items[index] = try emptied(kind, depth: depth)
        case .addInteger, .setInsert, .setErase: throw invalidPath()
        }
    }

    func editSet(_ value: inout Value, _ element: ElementType) throws(RealmStateError) {
        switch operation {
        case .clear: try clearWhole(&value, .set)
        case .setInsert(.value(let member)):
            try check(member, element, .slot)
            try withMembers(of: &value) { members in
                let position = members.partitioningIndex(before: member)
                guard position < members.count, Value.compare(members[position], member) == 0 else {
                    return members.insert(member, at: position)
                }
                // Of 1 and 1.0 the newer one stays with every peer: the merge discards the older.
                if compatibility == .convergent { members[position] = member }
            }
        case .setErase(.value(let member)):
            try check(member, element, .slot)
            try withMembers(of: &value) { members in
                let position = members.partitioningIndex(before: member)
                guard position < members.count, Value.compare(members[position], member) == 0 else { return }
                members.remove(at: position)
            }
        case .setInsert, .setErase: throw .bad("what a set cannot hold")
        case .update, .addInteger, .insert, .move, .erase: throw invalidPath()
        }
    }

    private func withMembers(
        of value: inout Value, _ body: (inout [Value]) -> Void
    ) throws(RealmStateError) {
        guard case .set(var members) = value else { throw .bad("there is no set") }
        value = .null
        body(&members)
        value = .set(members)
    }

    /// The author's idea of the list's size is a checksum over everything that came before.
    private func check(_ priorSize: UInt32, _ items: [Value]) throws(RealmStateError) {
        guard Int(priorSize) == items.count else {
            throw .bad("Invalid prior_size: expected \(items.count), came \(priorSize)")
        }
    }

    private func outOfRange(_ index: Int, _ items: [Value]) -> RealmStateError {
        .bad("\(operation.name): index \(index) is beyond the list's \(items.count) slots")
    }
}

extension [Value] {
    /// The first position whose member does not come before `value` in a set's order.
    func partitioningIndex(before value: Value) -> Int {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if Value.compare(self[middle], value) < 0 { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
