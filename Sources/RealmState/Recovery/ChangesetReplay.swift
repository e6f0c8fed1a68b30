package import Changesets

/// Replays unsynced changes onto the server's state (docs/resets.md, "Replay rules"). Pure.
package struct ChangesetReplay {
    /// The fresh copy, with what has been replayed so far.
    package private(set) var fresh: RealmState
    package private(set) var statistics = ReplayStatistics()
    /// The local state with all unsynced changes in it.
    private let local: RealmState
    private var trackers = ListTrackers()

    package init(onto fresh: RealmState, local: RealmState) {
        self.fresh = fresh
        self.local = local
    }

    /// Replays one changeset.
    /// - Returns: what it has become, zero bytes if nothing of it is left.
    /// - Throws: `ReplayFailure`; the replay is of no use then.
    package mutating func replay(_ changeset: Changeset) throws -> [UInt8] {
        // Out of self while it is changed: a second owner would make every change a copy.
        var state = RealmState()
        swap(&state, &fresh)
        defer { swap(&state, &fresh) }
        var context = ReplayContext(
            trackers: trackers, statistics: statistics, strings: changeset.strings)
        trackers = ListTrackers()
        let (_, bytes) = try state.record { transaction in
            for instruction in changeset.instructions { try context.apply(instruction, &transaction) }
            try context.copyLists(from: local, &transaction)
        }
        trackers = context.trackers
        statistics = context.statistics
        return bytes
    }
}

/// A list that is tracked: none of them lies below an element of another list.
struct ListPath: Hashable, Comparable {
    var object: ObjectAddress
    var field: ByteString
    var keys: [ByteString]

    var address: FieldAddress { FieldAddress(object, field, keys.map(PathStep.key)) }

    func isBelow(_ object: ObjectAddress, _ field: ByteString, _ keys: [ByteString]) -> Bool {
        self.object == object && self.field == field && self.keys.starts(with: keys)
    }

    static func < (left: ListPath, right: ListPath) -> Bool {
        if left.object != right.object { return left.object < right.object }
        if left.field != right.field { return left.field < right.field }
        return left.keys.lexicographicallyPrecedes(right.keys)
    }
}
