import Messages

/// The deliveries that a slice's runner has in hand, and how it gets on with them. Pure; uptimes are in milliseconds.
struct SliceProgress {
    /// Messages that were dealt with since the runner began.
    private(set) var handled = 0
    /// Deliveries that were taken and not dealt with yet.
    private(set) var inHand = 0
    /// When the oldest of them was sent, in milliseconds of Unix time.
    private var oldestAt: UInt64?
    /// When messages were dealt with last, or those in hand came.
    private var advancedAt: UInt64 = 0
    private var measured: (at: ContinuousClock.Instant, handled: Int)

    init(at now: ContinuousClock.Instant = .now) { measured = (now, 0) }

    /// Deliveries have come.
    ///
    /// - Parameters:
    ///   - waiting: how many were in hand before.
    ///   - sentAt: when each was sent, in seconds of Unix time, where that is known.
    mutating func take(_ deliveries: Int, waiting: Int, sentAt: [UInt64], at uptime: UInt64) {
        if inHand == 0 { advancedAt = uptime }
        inHand = waiting + deliveries
        let oldest = Self.oldest(sentAt)
        oldestAt = waiting == 0 ? oldest : oldestAt ?? oldest
    }

    /// Notes that some of the deliveries in hand were dealt with.
    ///
    /// - Parameter sentAt: when each of the deliveries that are left was sent, in seconds of Unix time, where that is
    /// known.
    mutating func deal(with done: Int, left: Int, sentAt: [UInt64], at uptime: UInt64) {
        inHand = left
        oldestAt = Self.oldest(sentAt)
        if done > 0 { advancedAt = uptime }
        handled += done
    }

    /// Notes that the deliveries in hand go back, and were not dealt with.
    mutating func giveBack() {
        inHand = 0
        oldestAt = nil
    }

    private static func oldest(_ sentAt: [UInt64]) -> UInt64? { sentAt.min().map { $0 &* 1000 } }

    /// The time for which none of the messages in hand was dealt with, in milliseconds; 0 if there are none.
    func standing(at uptime: UInt64) -> UInt64 { inHand > 0 ? uptime &- min(advancedAt, uptime) : 0 }

    /// How far the slice is behind, and its rate since this was last asked.
    mutating func lag(at now: ContinuousClock.Instant = .now) -> SliceLag {
        let seconds = max(0.001, (now - measured.at) / .seconds(1))
        defer { measured = (now, handled) }
        return SliceLag(oldestAt: oldestAt, perSecond: Double(handled - measured.handled) / seconds)
    }
}
