/// Where the elements that a replay inserted into one list stand on both sides (docs/resets.md, "Lists").
///
/// Every other element is ambiguous, since the server may have moved it: what a client did to one cannot be replayed,
/// and the whole list is then taken over as the client left it.
struct ListTracker: Equatable, Sendable {
    struct Pair: Equatable, Sendable {
        var local: Int
        var remote: Int
    }

    private(set) var known: [Pair] = []
    /// The list has to be copied; single operations are not applied any more.
    private(set) var isManual = false
    /// The list has been copied.
    private(set) var isCopied = false

    var needsCopy: Bool { isManual && !isCopied }

    /// - Returns: where to insert, nil to drop the operation.
    mutating func insert(at local: Int, remoteSize: Int) -> Int? {
        guard !isManual else { return nil }
        let remote = min(local, remoteSize)
        for index in known.indices where known[index].local >= local {
            known[index].local += 1
            known[index].remote += 1
        }
        known.append(Pair(local: local, remote: remote))
        return remote
    }

    /// Returns where in the remote list an element is that is updated or stepped into; nil to drop the operation.
    mutating func update(at local: Int) -> Int? {
        guard !isManual else { return nil }
        if let pair = known.first(where: { $0.local == local }) { return pair.remote }
        giveUp()
        return nil
    }

    mutating func erase(at local: Int) -> Int? {
        guard !isManual else { return nil }
        guard let position = known.firstIndex(where: { $0.local == local }) else {
            giveUp()
            return nil
        }
        let remote = known.remove(at: position).remote
        for index in known.indices where known[index].local > local {
            known[index].local -= 1
            known[index].remote -= 1
        }
        return remote
    }

    /// - Returns: from where to where, nil to drop the operation.
    mutating func move(from: Int, to: Int) -> (from: Int, to: Int)? {
        guard !isManual else { return nil }
        guard let source = known.firstIndex(where: { $0.local == from }),
            let target = known.firstIndex(where: { $0.local == to })
        else {
            giveUp()
            return nil
        }
        let moved = known[source]
        let goal = known[target]
        guard from != to else { return (moved.remote, moved.remote) }
        let range = from < to ? from + 1...to : to...from - 1
        let step = from < to ? -1 : 1
        for index in known.indices where index != source && range.contains(known[index].local) {
            known[index].local += step
            known[index].remote += step
        }
        known[source] = Pair(local: to, remote: goal.remote)
        return (moved.remote, goal.remote)
    }

    mutating func copied() { isCopied = true }

    private mutating func giveUp() {
        isManual = true
        known = []
    }
}
