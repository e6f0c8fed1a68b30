import Changesets

/// Section 9: Clear, and the members of sets.
///
/// Clear addresses the collection and not an element, so its path is shorter than those of the changes inside: what it
/// does to them is a nested rule.
enum SetAndClearRules {
    /// 9.1 Of two Clears the newer stays, and discards what the older side added after its own.
    ///
    /// `A@1: Clear, add 3, add 4`, `B@2: Clear, add 5, add 6`: the list is `[5 6]`.
    static func clear(_ left: inout Operation, clear right: inout Operation) {
        if left.isOlder(than: right) { left.discard() } else { right.discard() }
    }

    /// D12 A Clear of a collection that is an element of a list goes where the element goes. It differs from an assignment to
    /// the element (8.2) only in that it knows no size to check.
    ///
    /// `A: any insert 9 at 0`, `B: Clear any[0] -> any[1]`. `A: any erase 0`, `B: Clear any[0] -> gone`.
    static func clear(_ clear: inout Operation, listOperation: Operation) {
        guard clear.endsInIndex else { return }
        switch listOperation.code {
        case .arrayInsert:
            if clear.index >= listOperation.index { clear.index &+= 1 }
        case .arrayErase:
            if clear.index == listOperation.index { return clear.discard() }
            if clear.index > listOperation.index { clear.index &-= 1 }
        case .arrayMove:
            clear.index = ListShifts.shift(clear.index, from: listOperation.index, to: listOperation.destination)
        default:
            break
        }
    }

    /// 9.2 Clear of a collection in a mixed slot and an assignment to that slot: to make the same kind of collection and
    /// to empty it go together; otherwise the newer wins.
    ///
    /// `A@1: Clear any (List) -> gone`, `B@2: any=42`. `A@1: Clear any (List)`, `B@2: any=List`: both pass.
    static func clear(
        _ clear: inout Operation, update: inout Operation, rejectsSets: Bool
    ) throws(RuleViolation) {
        switch (clear.collection, update.type) {
        case (.list, .list), (.dictionary, .dictionary): return
        case (_, .set) where rejectsSets:
            throw .impossible("expected no Set as a mixed value, found one beside a Clear")
        default: break
        }
        if clear.isOlder(than: update) { clear.discard() } else { update.discard() }
    }

    /// 9.3 Who clears has found a collection there, or makes one, so there is no integer to add to.
    ///
    /// `A: Clear any`, `B: any+=3 -> gone`.
    static func clear(_ clear: inout Operation, addInteger add: inout Operation) {
        add.discard()
    }

    /// 9.4 Clear empties the set of everything, even of what is inserted later. A set operation addresses the set, as the
    /// Clear does, so unlike for lists this is no nested rule.
    ///
    /// `A@1: Clear s`, `B@2: s insert 9 -> gone`.
    static func setOperation(_ operation: inout Operation, clear: inout Operation) {
        operation.discard()
    }

    /// 9.5 The newer decides whether a value is a member. Different values do not interact.
    ///
    /// `A@1: s erase 9 -> gone`, `B@2: s insert 9`: 9 is in. `A@1: s insert 9`, `B@2: s insert 7`: both are in.
    ///
    /// - Parameter byContent: false to compare two erasures as the reference does (D2).
    static func setOperation(_ left: inout Operation, setOperation right: inout Operation, byContent: Bool) {
        let raw = !byContent && left.code == .setErase && right.code == .setErase
        guard raw ? left.rawElement == right.rawElement : left.element == right.element else { return }
        if left.isOlder(than: right) { left.discard() } else { right.discard() }
    }
}
