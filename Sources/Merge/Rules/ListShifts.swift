/// What rule 8.2 does to the places of two changes of one list, once it is known that both sides had the same list:
/// sizes are the caller's business. `ListRules` has the reasons and the examples.
///
/// Arithmetic wraps, because hostile input may pass the checks with the largest numbers.
protocol ListChange {
    var index: UInt32 { get set }
    var destination: UInt32 { get set }
    var rank: UInt32 { get }
    mutating func discard()
}

extension Operation: ListChange {}

enum ListShifts {
    /// Where an element is after a move.
    @inline(__always)
    static func shift(_ index: UInt32, from: UInt32, to: UInt32) -> UInt32 {
        if index == from { return to }
        var shifted = index
        if shifted > from { shifted &-= 1 }
        if shifted >= to { shifted &+= 1 }
        return shifted
    }

    @inline(__always)
    static func insert<Change: ListChange>(_ insert: Change, element: inout Change) {
        if element.index >= insert.index { element.index &+= 1 }
    }

    @inline(__always)
    static func move<Change: ListChange>(_ move: Change, element: inout Change) {
        element.index = shift(element.index, from: move.index, to: move.destination)
    }

    @inline(__always)
    static func erase<Change: ListChange>(_ erase: Change, element: inout Change) {
        if element.index == erase.index { return element.discard() }
        if element.index > erase.index { element.index &-= 1 }
    }

    @inline(__always)
    static func insert<Change: ListChange>(_ left: inout Change, insert right: inout Change) {
        if left.index != right.index ? left.index > right.index : right.rank < left.rank {
            left.index &+= 1
        } else {
            right.index &+= 1
        }
    }

    @inline(__always)
    static func move<Change: ListChange>(_ move: inout Change, insert: inout Change) {
        if insert.index > move.index { insert.index &-= 1 } else { move.index &+= 1 }
        if insert.index != move.destination ? insert.index < move.destination : move.rank < insert.rank {
            move.destination &+= 1
        } else {
            insert.index &+= 1
        }
    }

    @inline(__always)
    static func erase<Change: ListChange>(_ erase: inout Change, insert: inout Change) {
        if insert.index <= erase.index { erase.index &+= 1 } else { insert.index &-= 1 }
    }

    @inline(__always)
    static func move<Change: ListChange>(_ left: inout Change, move right: inout Change) {
        if left.index == right.index {
            if left.rank < right.rank { replace(&left, by: &right) } else { replace(&right, by: &left) }
            return
        }
        if left.index > right.index { left.index &-= 1 } else { right.index &-= 1 }
        if left.destination > right.index { left.destination &-= 1 } else { right.index &+= 1 }
        if left.index < right.destination { right.destination &-= 1 } else { left.index &+= 1 }
        if left.destination != right.destination ? left.destination > right.destination : right.rank < left.rank {
            left.destination &+= 1
        } else {
            right.destination &+= 1
        }
        if left.index == left.destination { left.discard() }
        if right.index == right.destination { right.discard() }
    }

    @inline(__always)
    private static func replace<Change: ListChange>(_ older: inout Change, by newer: inout Change) {
        older.discard()
        newer.index = older.destination
        if newer.index == newer.destination { newer.discard() }
    }

    @inline(__always)
    static func erase<Change: ListChange>(_ erase: inout Change, move: inout Change) {
        if erase.index == move.index {
            erase.index = move.destination
            return move.discard()
        }
        if erase.index > move.index { erase.index &-= 1 } else { move.index &-= 1 }
        if erase.index >= move.destination { erase.index &+= 1 } else { move.destination &-= 1 }
        if move.index == move.destination { move.discard() }
    }

    @inline(__always)
    static func erase<Change: ListChange>(_ left: inout Change, erase right: inout Change) {
        if left.index > right.index {
            left.index &-= 1
        } else if right.index > left.index {
            right.index &-= 1
        } else {
            left.discard()
            right.discard()
        }
    }
}
