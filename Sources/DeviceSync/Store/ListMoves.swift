internal import Changesets
internal import RealmState

extension RecordingTransaction {
    /// Moves an element of a list so that it ends up at another position.
    mutating func moveElement(of list: FieldAddress, from: Int, to: Int) throws {
        if mustNotMoveElements(of: list), from != to {
            try replant(list, from: from, to: to)
        } else {
            try move(list.appending(.index(from)), to: to)
        }
    }

    /// Exchanges two elements of a list.
    mutating func swapElements(of list: FieldAddress, _ first: Int, _ second: Int) throws {
        let (low, high) = (min(first, second), max(first, second))
        guard mustNotMoveElements(of: list), low != high else { return try swap(list, first, second) }
        try replant(list, from: high, to: low)
        if high > low + 1 { try replant(list, from: low + 1, to: high) }
    }

    /// Whether elements of a list change their places by being removed and inserted anew.
    ///
    /// Stock clients merge a move wrongly with a change inside of an element (docs/merge.md, "Where we differ", D1). Nothing is inside of single values.
    private func mustNotMoveElements(of list: FieldAddress) -> Bool {
        guard state.compatibility == .stockClients, case .list(let items)? = state.value(at: list) else { return false }
        return items.contains { item in
            switch item {
            case .list, .dictionary, .embedded: true
            default: false
            }
        }
    }

    private mutating func replant(_ list: FieldAddress, from: Int, to: Int) throws {
        let slot = list.appending(.index(from))
        // If the list has no such position, `move` says what is wrong.
        guard let item = state.value(at: slot) else { return try move(slot, to: to) }
        try remove(at: slot)
        try insert(item, at: list.appending(.index(to)))
    }
}
