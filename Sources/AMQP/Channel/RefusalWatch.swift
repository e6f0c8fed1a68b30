import Loops

/// When a channel whose messages the broker refuses (`basic.nack`) is opened again. Pure.
///
/// A queue at its limit refuses rightly, and a new channel changes nothing. But RabbitMQ (3.10 at least) also refuses, for as long as the
/// channel lives, what a channel sends to a quorum queue whose leader's node died just before the channel's first message to it: the
/// channel goes on asking the dead node. Another channel finds the new leader.
struct RefusalWatch {
    /// How long refusals go on before the first reopening, and at most between reopenings.
    static let firstPatience = 1_000_000_000 as UInt64
    static let longestPatience = 60_000_000_000 as UInt64

    private var patience = firstPatience
    private var firstRefusal: Monotonic?
    private var lastRefusal: Monotonic?

    /// Takes note of a refusal.
    ///
    /// - Returns: whether the channel is to be opened again.
    mutating func refused(at now: Monotonic) -> Bool {
        // After a long time without refusals these are about something new.
        if let lastRefusal, now.since(lastRefusal) > 2 * Self.longestPatience {
            patience = Self.firstPatience
            firstRefusal = nil
        }
        lastRefusal = now
        guard let firstRefusal else {
            firstRefusal = now
            return false
        }
        guard now.since(firstRefusal) >= patience else { return false }
        patience = min(patience * 2, Self.longestPatience)
        self.firstRefusal = nil
        return true
    }

    /// Takes note of a new opening for another reason.
    mutating func opened() { firstRefusal = nil }
}
