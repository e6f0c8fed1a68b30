package import SyncModel

/// The owner of a slice, as the store has it.
package struct SliceOwnership: Sendable, Equatable {
    package var owner: String
    package var epoch: Epoch
    /// Milliseconds of Unix time.
    package var leaseUntil: UInt64
    /// The owner has handed the slice over; anybody may take it.
    package var isReleased: Bool

    package init(owner: String, epoch: Epoch, leaseUntil: UInt64, isReleased: Bool) {
        self.owner = owner
        self.epoch = epoch
        self.leaseUntil = leaseUntil
        self.isReleased = isReleased
    }

    /// Why `worker` may take the slice from this owner at `now`; nil if it may not.
    ///
    /// - Parameters:
    ///   - gone: an owner that is known not to live any more. It is named, so that a proof about one owner cannot take the
    ///     slice from its successor.
    ///   - overdue: a lease's end that has stood unchanged for longer than a lease, by a clock that nobody can move. The
    ///     owner's own clock may be hours ahead.
    package func takeover(
        by worker: String, now: UInt64, gone: String? = nil, overdue: UInt64? = nil
    ) -> OwnershipChange.Reason? {
        if isReleased { return .released }
        if owner == worker { return .reclaimed }
        if owner == gone { return .ownerGone }
        if leaseUntil <= now || leaseUntil == overdue { return .leaseExpired }
        return nil
    }
}

/// The result of asking for a slice.
package enum SliceClaim: Sendable, Equatable {
    case owned(Epoch)
    /// Somebody else has it, until then (milliseconds of Unix time) unless the lease is renewed.
    case heldBy(owner: String, until: UInt64)
}

/// One line of a slice's ownership history.
package struct OwnershipChange: Sendable, Equatable {
    package enum Reason: String, Sendable { case first, released, reclaimed, ownerGone, leaseExpired }

    package var epoch: Epoch
    package var owner: String
    /// Milliseconds of Unix time.
    package var at: UInt64
    package var reason: Reason
    /// When this owner handed the slice over, in milliseconds of Unix time; nil while it has not, and for ever if the
    /// slice was taken from it.
    package var releasedAt: UInt64?

    /// So many lines are kept for each slice.
    package static let kept = 100

    package init(epoch: Epoch, owner: String, at: UInt64, reason: Reason, releasedAt: UInt64? = nil) {
        self.epoch = epoch
        self.owner = owner
        self.at = at
        self.reason = reason
        self.releasedAt = releasedAt
    }
}
