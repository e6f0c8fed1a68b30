/// How long a connection waits between its attempts to reconnect.
///
/// The wait before attempt *n* is drawn at random from the upper half of `base * 2^(n-1)`, capped by `maximum`, so that
/// the clients of a broker that restarts do not return all at once.
public struct ReconnectPolicy: Sendable, Hashable {
    /// The longest wait before the first attempt.
    public var base: Duration

    /// The longest wait before any attempt.
    public var maximum: Duration

    /// Waits at most `base` before the first attempt, then twice as long each time, up to `maximum`.
    public init(base: Duration = .milliseconds(500), maximum: Duration = .seconds(15)) {
        self.base = base
        self.maximum = maximum
    }

    /// The wait before an attempt.
    ///
    /// - Parameters:
    ///   - attempt: the number of the attempt, from 1.
    ///   - random: a number in `0 ..< 1`.
    public func delay(beforeAttempt attempt: Int, random: Double = .random(in: 0..<1)) -> Duration {
        var ceiling = min(base, maximum)
        var doublings = max(0, attempt - 1)
        while doublings > 0, ceiling < maximum {
            ceiling = min(ceiling * 2, maximum)
            doublings -= 1
        }
        return ceiling * (0.5 + 0.5 * min(max(random, 0), 1))
    }
}
