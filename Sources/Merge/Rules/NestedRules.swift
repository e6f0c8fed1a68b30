import Changesets

/// Section 3.1: what an instruction with a shorter path, the *outer*, does to one with a longer path, the *inner*.
///
/// These take no notice of rank: what is inside of something that has gone has gone with it. Ancestors at every depth
/// are dealt with, because each of them meets the same inner instruction in turn.
struct NestedRules {
    let compatibility: PeerCompatibility

    init(_ compatibility: PeerCompatibility) { self.compatibility = compatibility }

    /// 5.3 Nothing in a class survives it.
    ///
    /// `A: EraseTable Dog`, `B: Dog[1].age=3 -> gone`; likewise B's objects and columns of Dog.
    static func eraseTable(_ erase: Operation, inner: inout Operation) {
        if erase.table == inner.table { inner.discard() }
    }

    /// 6 Nothing in an object survives it, even if it is newer.
    ///
    /// `A@1: Erase Dog[1]`, `B@2: Dog[1].age=3 -> gone`. Links *to* the object are not in it: `B: Person[7].dog=Dog[1]`
    /// passes and stays unresolved on every peer.
    static func eraseObject(_ erase: Operation, inner: inout Operation) {
        if erase.object == inner.object { inner.discard() }
    }

    /// Two changes inside one field of one object.
    func apply(
        outer: inout Operation, inner: inout Operation, _ steps: inout PathSteps
    ) throws(RuleViolation) {
        switch outer.code {
        case .update:
            guard let next = steps.stepBelow(outer, in: inner) else { return }
            if !Self.keepsInner(outer, next: next) { inner.discard() }
        case .addInteger, .clear:
            // 7.4: who adds has found an integer there, which has no inside.
            // 9: `A@1: Clear l`, `B@2: l insert "x" at 0 -> gone`.
            if steps.stepBelow(outer, in: inner) != nil { inner.discard() }
        case .arrayInsert, .arrayMove, .arrayErase:
            try applyList(&outer, inner: &inner, &steps)
        case .addTable, .eraseTable, .createObject, .eraseObject, .addColumn, .eraseColumn, .setInsert, .setErase:
            break
        }
    }

    /// 7.1 An assignment discards what the other side changes inside the old value, unless both mean the same thing:
    ///
    /// - `any=List @2`, `any[0] insert 9 @1`: both pass; so for a dictionary and its keys.
    /// - `any=List @1`, `any["k"]=1 @2`: the key is gone, a list has none.
    /// - `addr=ObjectValue @2`, `addr.street="S" @1`: both pass; an ObjectValue leaves an object that is there alone.
    /// - `addr=null @1`, `addr.street="S" @2`: the street is gone.
    private static func keepsInner(_ outer: Operation, next: PathStep) -> Bool {
        switch outer.type {
        case .objectValue: true
        case .list: next.isIndex
        case .dictionary: !next.isIndex
        default: false
        }
    }

    /// 8.3 The inner path goes through an element of the list that the outer one changes, so its index has to follow the
    /// element.
    ///
    /// - `A: comments insert at 0`, `B: comments[1].text="x"`: B's path becomes `comments[2].text`.
    /// - `A: comments erase 1`, `B: comments[1].text="x"`: B is gone with its comment; `comments[2]` becomes `[1]`.
    /// - `A: comments move 1 to 0`, `B: comments[1].text="x"`: B's path becomes `comments[0].text`.
    private func applyList(
        _ outer: inout Operation, inner: inout Operation, _ steps: inout PathSteps
    ) throws(RuleViolation) {
        guard let beside = steps.stepBeside(outer, in: inner) else { return }
        guard beside.isIndex else { throw .inconsistentPaths }
        let old = beside.value
        var new = old
        switch outer.code {
        case .arrayInsert:
            if old >= outer.index { new &+= 1 }
        case .arrayErase:
            if old == outer.index { return inner.discard() }
            if old > outer.index { new &-= 1 }
        case .arrayMove where compatibility.movesCarryNestedPaths:
            new = ListShifts.shift(old, from: outer.index, to: outer.destination)
        case .arrayMove:
            // D1: the reference shifts the move's source by a "move" of the inner index, and leaves the path alone.
            outer.index = ListShifts.shift(outer.index, from: old, to: outer.destination)
        default:
            return
        }
        if new != old {
            steps.setIndex(new, atContainerStep: outer.depth &- 1, of: inner)
            inner.flags.insert(.changed)
        }
    }
}
