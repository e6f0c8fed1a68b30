/// How fast one connection's messages are taken, whatever they say: 5,000 at once, then 500 a second. A client that sends more is
/// read later.
struct MessagePace {
    private static let burst = 5_000.0
    private static let perSecond = 500.0
    /// Less is not worth a rest.
    private static let shortest = Duration.milliseconds(20)

    private var tokens = Self.burst
    private var at: ContinuousClock.Instant

    init(at now: ContinuousClock.Instant = .now) { at = now }

    /// Takes one message.
    ///
    /// - Returns: how long the connection is to rest before the next one; nil if it need not.
    mutating func take(at now: ContinuousClock.Instant = .now) -> Duration? {
        tokens = min(Self.burst, tokens + max(0, at.duration(to: now) / .seconds(1)) * Self.perSecond) - 1
        at = now
        let rest = Duration.seconds(max(0, -tokens) / Self.perSecond)
        return rest < Self.shortest ? nil : rest
    }
}
