/// Section 8.2: two changes of one list. Each becomes what it has to be after the other has been applied.
///
/// Below `n` is the size that the author saw (priorSize), `k` and `e` are indexes, a move goes from `f` to the final
/// index `t`. Sizes and indexes are checked first: a violation means that the two sides did not begin with the same
/// list. What is done to indexes is in `ListShifts`.
///
/// The examples are on the list `[p q r]`; A has rank 1 and B has rank 2.
enum ListRules {
    /// The left side has the higher code; both have the same container.
    static func merge(_ left: inout Operation, _ right: inout Operation) throws(RuleViolation) {
        guard left.endsInIndex, right.endsInIndex else {
            throw .impossible("expected a list's element on both sides, found a dictionary's key on one")
        }
        switch (left.code, right.code) {
        case (.arrayInsert, .update): try insert(left, update: &right)
        case (.arrayMove, .update): try move(left, update: &right)
        case (.arrayErase, .update): try erase(left, update: &right)
        case (.arrayInsert, .arrayInsert): try insert(&left, insert: &right)
        case (.arrayMove, .arrayInsert): move(&left, insert: &right)
        case (.arrayErase, .arrayInsert): try erase(&left, insert: &right)
        case (.arrayMove, .arrayMove): try move(&left, move: &right)
        case (.arrayErase, .arrayMove): try erase(&left, move: &right)
        case (.arrayErase, .arrayErase): try erase(&left, erase: &right)
        default: break
        }
    }

    /// The element moves up to make room.
    ///
    /// `A: insert a at 0`, `B: [2]=z -> [3]=z`: `[a p q z]`.
    static func insert(_ insert: Operation, update: inout Operation) throws(RuleViolation) {
        try check(sameSize: insert, update)
        try check(insert.index <= insert.priorSize && update.index < update.priorSize)
        update.priorSize &+= 1
        ListShifts.insert(insert, element: &update)
    }

    /// The assignment follows the element. Sizes are not compared, as in the reference.
    ///
    /// `A: move 0 to 1`, `B: [0]=z -> [1]=z`: `[q z r]`.
    static func move(_ move: Operation, update: inout Operation) throws(RuleViolation) {
        try check(move.index < move.priorSize && update.index < update.priorSize)
        ListShifts.move(move, element: &update)
    }

    /// What is erased cannot be assigned, even later.
    ///
    /// `A: erase 1`, `B: [1]=z -> gone`: `[p r]`.
    static func erase(_ erase: Operation, update: inout Operation) throws(RuleViolation) {
        try check(sameSize: erase, update)
        try check(erase.index < erase.priorSize && update.index < update.priorSize)
        update.priorSize &-= 1
        ListShifts.erase(erase, element: &update)
    }

    /// The older of two inserts at one and the same place comes first.
    ///
    /// `A: insert a at 1`, `B: insert b at 1 -> at 2`: `[p a b q r]`.
    static func insert(_ left: inout Operation, insert right: inout Operation) throws(RuleViolation) {
        try check(sameSize: left, right)
        left.priorSize &+= 1
        right.priorSize &+= 1
        ListShifts.insert(&left, insert: &right)
    }

    /// The element is thought of as taken out at `f` and put in at `t`, each against the insert. At one and the same
    /// place the *newer* comes first, the other way round than for two inserts.
    ///
    /// `A: move 0 to 2 -> 0 to 3`, `B: insert b at 3 -> at 2`: `[q r b p]`. With the ranks swapped `[q r p b]`.
    static func move(_ move: inout Operation, insert: inout Operation) {
        move.priorSize &+= 1
        ListShifts.move(&move, insert: &insert)
    }

    /// `A: erase 0`, `B: insert b at 1 -> at 0`: `[b q r]`. `A: erase 1 -> 2`, `B: insert b at 1`: `[p b r]`.
    static func erase(_ erase: inout Operation, insert: inout Operation) throws(RuleViolation) {
        try check(sameSize: erase, insert)
        try check(erase.index < erase.priorSize && insert.index <= insert.priorSize)
        erase.priorSize &+= 1
        insert.priorSize &-= 1
        ListShifts.erase(&erase, insert: &insert)
    }

    /// The newer of two moves of one element wins, and starts from where the older put it. Two elements are taken out and
    /// put in one after the other; at one and the same place the older comes first. A move that has come to nothing is
    /// discarded, because to apply one is an error.
    ///
    /// `A: move 0 to 2 -> gone`, `B: move 0 to 1 -> 2 to 1`: `[q p r]`. `A: move 0 to 2 -> 0 to 1`, `B: move 1 to 2 -> 0
    /// to 2`: `[r p q]`.
    static func move(_ left: inout Operation, move right: inout Operation) throws(RuleViolation) {
        try check(sameSize: left, right)
        try check(left.index < left.priorSize && left.destination < left.priorSize)
        try check(right.index < right.priorSize && right.destination < right.priorSize)
        ListShifts.move(&left, move: &right)
    }

    /// The erasure finds the element where the move has put it; there is nothing left to move.
    ///
    /// `A: move 0 to 2 -> gone`, `B: erase 0 -> 2`: `[q r]`.
    static func erase(_ erase: inout Operation, move: inout Operation) throws(RuleViolation) {
        try check(sameSize: erase, move)
        try check(erase.index < erase.priorSize && move.index < move.priorSize)
        move.priorSize &-= 1
        ListShifts.erase(&erase, move: &move)
    }

    /// `A: erase 2 -> gone`, `B: erase 2 -> gone`: `[p q]`.
    static func erase(_ left: inout Operation, erase right: inout Operation) throws(RuleViolation) {
        try check(sameSize: left, right)
        try check(left.index < left.priorSize && right.index < right.priorSize)
        left.priorSize &-= 1
        right.priorSize &-= 1
        ListShifts.erase(&left, erase: &right)
    }

    private static func check(sameSize left: Operation, _ right: Operation) throws(RuleViolation) {
        if left.priorSize != right.priorSize { throw .listMismatch(.sizesDiffer) }
    }

    private static func check(_ inRange: Bool) throws(RuleViolation) {
        if !inRange { throw .listMismatch(.outOfRange) }
    }
}
