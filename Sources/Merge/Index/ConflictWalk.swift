/// The incoming operations that one local operation is being merged with: a few lists walked side by side, or, where
/// there are many, their positions in order.
struct ConflictWalk {
    var cursors: [ConflictTree.Cursor] = []
    var positions: [UInt32] = []
    private var nextPosition = 0
    private var lastCursor: Int?

    mutating func reset() {
        cursors.removeAll(keepingCapacity: true)
        positions.removeAll(keepingCapacity: true)
        nextPosition = 0
        lastCursor = nil
    }

    mutating func add(_ cursor: ConflictTree.Cursor) {
        if cursor.current != ConflictTree.none { cursors.append(cursor) }
    }

    /// Goes through the lists now, for when positions from elsewhere join in.
    mutating func collect(_ tree: inout ConflictTree, _ list: OperationList) {
        for index in cursors.indices {
            while cursors[index].current != ConflictTree.none {
                positions.append(cursors[index].current)
                tree.advance(&cursors[index], of: list)
            }
        }
        cursors.removeAll(keepingCapacity: true)
    }

    /// The next live operation in order.
    mutating func next(_ tree: inout ConflictTree, _ list: OperationList) -> Int? {
        if let position = nextCollected(list) { return position }
        if let lastCursor {
            tree.advance(&cursors[lastCursor], of: list)
            if cursors[lastCursor].current == ConflictTree.none { cursors.remove(at: lastCursor) }
        }
        lastCursor = firstCursor(list)
        return lastCursor.map { Int(cursors[$0].current) }
    }

    /// The same for a walk without cursors.
    mutating func nextCollected(_ list: OperationList) -> Int? {
        while nextPosition < positions.count {
            let position = Int(positions[nextPosition])
            nextPosition += 1
            if list.operations[position].isLive { return position }
        }
        return nil
    }

    private func firstCursor(_ list: OperationList) -> Int? {
        guard var first = cursors.indices.first else { return nil }
        for index in cursors.indices.dropFirst()
        where list.precedes(Int(cursors[index].current), Int(cursors[first].current)) {
            first = index
        }
        return first
    }
}
