/// The ticks that a slice was sent since it was last heard to have an owner: as a tick tells a worker that it is the one to
/// take the slice, there must be some, and as they may be waiting in a queue that nobody consumes, there must not be many.
struct UnheardTicks: Sendable {
    /// The most that go out at the coordinator's pace, and that may wait in the queue.
    static let maximum = 20
    /// How long after that the next one follows (milliseconds). Those before it may all have come to workers that did not keep the
    /// slice; without another, an idle slice would have no owner until somebody uses it.
    static let interval: UInt64 = 20_000

    private var count = 0
    private var lastAt: UInt64 = 0

    mutating func sent(at now: UInt64) {
        count += 1
        lastAt = now
    }

    func allowAnother(at now: UInt64) -> Bool {
        count < Self.maximum || now >= lastAt &+ Self.interval || now < lastAt
    }
}
