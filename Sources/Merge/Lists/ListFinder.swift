import Changesets

/// Finds the lists of a run that `ListGrid` can merge by themselves: both sides insert, erase, move and assign elements there
/// by index, change something inside of them or clear the list, and nobody does anything else to the list or to what it is in.
struct ListFinder {
    struct List {
        /// The positions of its live operations.
        var local: [UInt32] = []
        var incoming: [UInt32] = []
        /// The place in the operations' paths of the step that is the index.
        var level: UInt32 = 0
        /// Something else is done here.
        fileprivate var isBlocked = false
        /// Anything is done here, so that a list further below is in something that changes.
        fileprivate var blocksBelow = false
    }

    /// The pairs for each operation from which on this costs less than to have the rules merge each operation with
    /// each.
    let pairsPerOperation: Int
    let compatibility: PeerCompatibility

    private func isReached(_ local: Int, _ incoming: Int) -> Bool {
        local > 0 && incoming > 0 && local * incoming >= pairsPerOperation * (local + incoming)
    }

    /// - Parameter window: the positions of the local operations that take part in the run.
    func lists(
        local: OperationList, _ window: Range<Int>, incoming: OperationList, _ index: ConflictIndex, _ steps: PathSteps
    ) -> [List] {
        let erasures: [OperationCode] = [.eraseTable, .eraseColumn]
        guard incoming.operations.count > pairsPerOperation,
            !erasures.contains(where: { local.mayContain($0) || incoming.mayContain($0) })
        else { return [] }
        let theirs = Self.listOperations(in: incoming, incoming.operations.indices)
        guard theirs.contains(where: { $0 > pairsPerOperation }) else { return [] }
        let ours = Self.listOperations(in: local, window)
        let isHot = zip(ours, theirs).map { isReached($0, $1) }
        guard isHot.contains(true) else { return [] }

        var lists: [UInt32: List] = [:]
        func add(_ side: OperationList, _ positions: Range<Int>, _ append: (inout List, UInt32) -> Void) {
            for position in positions {
                let operation = side.operations[position]
                let object = Int(operation.object.number)
                guard operation.isLive, object < isHot.count, isHot[object] else { continue }
                index.visitPath(of: operation, steps) { node, level, isHome in
                    if isHome, operation.belongsToList(at: level, steps, compatibility) {
                        append(&lists[node, default: List()], UInt32(truncatingIfNeeded: position))
                        lists[node]?.level = level
                    } else {
                        lists[node, default: List()].isBlocked = true
                    }
                    if isHome { lists[node, default: List()].blocksBelow = true }
                }
            }
        }
        add(local, window) { $0.local.append($1) }
        add(incoming, incoming.operations.indices) { $0.incoming.append($1) }
        return lists.filter { node, list in
            !list.isBlocked && isReached(list.local.count, list.incoming.count)
                && !index.hasAncestor(of: node) { lists[$0]?.blocksBelow ?? false }
        }.values.sorted { $0.incoming[0] < $1.incoming[0] }
    }

    /// How many there are in each object; 0 for an object that is erased.
    private static func listOperations(in side: OperationList, _ positions: Range<Int>) -> [Int] {
        var counts: [Int] = []
        var erased: [Int] = []
        for operation in side.operations[positions] where operation.object != .none && operation.isLive {
            let object = Int(operation.object.number)
            if operation.code == .eraseObject { erased.append(object) }
            guard operation.mayBeElementOperation else { continue }
            if object >= counts.count {
                counts.append(contentsOf: repeatElement(0, count: object + 1 - counts.count))
            }
            counts[object] += 1
        }
        for object in erased where object < counts.count { counts[object] = 0 }
        return counts
    }
}

extension Operation {
    private var changesElements: Bool {
        switch code {
        case .arrayInsert, .arrayMove, .arrayErase, .update: true
        default: false
        }
    }

    fileprivate var mayBeElementOperation: Bool { depth > 1 || (endsInIndex && changesElements) }

    /// Whether it changes a list's elements by the index at this step, changes what is inside of one, or clears the list.
    fileprivate func belongsToList(
        at level: UInt32, _ steps: PathSteps, _ compatibility: PeerCompatibility
    ) -> Bool {
        if depth == level { return code == .clear }
        guard level &+ 1 < ConflictIndex.maximumDepth, steps.step(level, of: self).isIndex else { return false }
        if depth > level &+ 1 { return true }
        return changesElements || (code == .clear && compatibility.clearsFollowTheirElement)
    }
}
