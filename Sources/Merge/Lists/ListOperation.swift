/// One operation on a list that is merged by itself: what changes when it meets the other side's operations, in few bytes,
/// and where the rest of it is.
struct ListOperation: ListChange {
    enum Kind: UInt8 {
        case insert, move, erase, assign
        /// Changes something inside the element, or clears the collection that it is: goes where the element goes.
        case inside
        /// Clears the list.
        case clear
    }

    /// The element's index; of an insertion, the new one's.
    var index: UInt32
    /// The final index of the element that a move puts elsewhere.
    var destination: UInt32
    let rank: UInt32
    /// The position of the operation among those of its side.
    let position: UInt32
    let kind: Kind
    var isLive = true

    /// - Parameter level: which step of the path is the index.
    init(_ operation: Operation, at position: UInt32, level: UInt32, _ steps: PathSteps) {
        self.position = position
        rank = operation.rank
        destination = 0
        index = operation.depth > level ? steps.step(level, of: operation).value : 0
        if operation.depth != level &+ 1 {
            kind = operation.depth > level ? .inside : .clear
            return
        }
        switch operation.code {
        case .arrayInsert: kind = .insert
        case .arrayErase: kind = .erase
        case .arrayMove:
            kind = .move
            destination = operation.destination
        case .update: kind = .assign
        default: kind = .inside
        }
    }

    mutating func discard() { isLive = false }

    /// Whether it says how large the list was.
    var namesSize: Bool { kind != .inside && kind != .clear }

    /// How large the list is after it.
    func size(after size: UInt32) -> UInt32 {
        switch kind {
        case .insert: size &+ 1
        case .erase: size &- 1
        case .clear: 0
        case .move, .assign, .inside: size
        }
    }
}

extension Sequence<ListOperation> {
    /// How large a list is after those that are not discarded.
    func size(after first: UInt32) -> UInt32 { reduce(first) { $1.isLive ? $1.size(after: $0) : $0 } }
}

extension Operation {
    /// Puts another index into the step that names a list's element, wherever in the path that is.
    mutating func setIndex(_ index: UInt32, at level: UInt32, _ steps: inout PathSteps) {
        if depth > level &+ 1 {
            steps.setIndex(index, atContainerStep: level, of: self)
        } else {
            self.index = index
        }
    }
}
