import Changesets

/// One side of a merge: its changesets' instructions as operations, in one array.
///
/// Positions never move. A discarded operation stays where it is as a tombstone; one that a rule puts in front of
/// another goes to the end of the array, and `inFront` tells where it belongs.
struct OperationList {
    var operations: [Operation] = []
    /// The operations of each changeset, those put in later excepted.
    private(set) var ranges: [Range<Int>] = []
    private(set) var changesets: [Changeset] = []
    /// What has been put in front of an operation, in order.
    private(set) var inFront: [Int: [Int]] = [:]
    /// The kinds of operations that there are or were, as bits.
    private var codes: UInt16 = 0

    func mayContain(_ code: OperationCode) -> Bool { codes & 1 << UInt16(code.rawValue) != 0 }

    mutating func reserve(_ count: Int) { operations.reserveCapacity(count) }

    mutating func append(_ changeset: Changeset, operations count: Int) {
        let start = operations.count
        ranges.append(start - count..<start)
        changesets.append(changeset)
    }

    mutating func append(_ operation: Operation) {
        codes |= 1 << UInt16(operation.code.rawValue)
        operations.append(operation)
    }

    /// Puts an EraseColumn in front of the operation that needs it, behind those already put there.
    mutating func putEraseColumn(_ table: Symbol, _ field: Symbol, inFrontOf position: Int) -> Int {
        let anchor = operations[position]
        var erase = Operation(
            code: .eraseColumn, table: table, rank: anchor.rank, changeset: anchor.changeset, source: anchor.source)
        erase.field = field
        erase.flags = [.prepended]
        append(erase)
        let added = operations.count - 1
        inFront[position, default: []].append(added)
        anchors[added] = position
        return added
    }

    private var anchors: [Int: Int] = [:]

    /// Sorts positions into the order of the instructions.
    func sort(_ positions: inout [UInt32]) {
        if anchors.isEmpty {
            positions.sort()
        } else {
            positions.sort { precedes(Int($0), Int($1)) }
        }
    }

    func precedes(_ left: Int, _ right: Int) -> Bool {
        let leftAnchor = anchors[left]
        let rightAnchor = anchors[right]
        if leftAnchor ?? left != rightAnchor ?? right { return leftAnchor ?? left < rightAnchor ?? right }
        // An operation that was there from the beginning comes behind those put in at the same place.
        guard leftAnchor != nil else { return false }
        return rightAnchor == nil || left < right
    }

    /// All positions in the order of the instructions.
    func allPositions() -> [UInt32] {
        var positions: [UInt32] = []
        positions.reserveCapacity(operations.count)
        for range in ranges {
            for position in range {
                for added in inFront[position] ?? [] { positions.append(UInt32(truncatingIfNeeded: added)) }
                positions.append(UInt32(truncatingIfNeeded: position))
            }
        }
        return positions
    }

    /// Whether merging has changed anything in a changeset.
    func isDirty(changeset index: Int) -> Bool {
        let range = ranges[index]
        if !inFront.isEmpty, range.contains(where: { inFront[$0] != nil }) { return true }
        return range.contains { operations[$0].isDirty }
    }
}
