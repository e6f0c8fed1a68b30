/// When a connection sends PING, and when the PONG is so late that the connection is dead (docs/protocol.md, "Timers and
/// backoff"). It does no I/O; the time and the randomness are given to it.
struct Keepalive: Sendable {
    /// The owner calls `elapsed` with the number after so long.
    struct Wait: Sendable, Equatable {
        var number: UInt64
        var duration: Duration
    }

    enum Event: Sendable, Equatable {
        /// PING is due.
        case pingIsDue
        /// No PONG came in time.
        case connectionIsDead
    }

    private let period: Duration
    private let timeout: Duration
    /// How long the last PONG took, in milliseconds.
    private(set) var roundTrip: UInt64 = 0
    /// When the PING was sent whose PONG is due, in nanoseconds.
    private var pingedAt: UInt64?
    private var lastWait: UInt64 = 0

    var awaitsPong: Bool { pingedAt != nil }

    init(period: Duration, timeout: Duration) {
        self.period = period
        self.timeout = timeout
    }

    /// The connection is up. The first PING is sent somewhere within the period, so that the clients of a server that
    /// comes back do not all send theirs at once.
    mutating func connected(using random: inout some RandomNumberGenerator) -> Wait {
        wait(period * Double.random(in: 0...1, using: &random))
    }

    /// The connection is gone: no wait under way counts any more.
    mutating func disconnected() {
        lastWait += 1
        pingedAt = nil
    }

    /// - Returns: nil if the wait with this number no longer counts.
    mutating func elapsed(_ number: UInt64) -> Event? {
        guard number == lastWait else { return nil }
        return awaitsPong ? .connectionIsDead : .pingIsDue
    }

    /// PING was sent.
    mutating func pinged(at now: UInt64) -> Wait {
        pingedAt = now
        return wait(timeout)
    }

    /// PONG came.
    /// - Returns: nil if there was no PING to answer.
    mutating func ponged(at now: UInt64, using random: inout some RandomNumberGenerator) -> Wait? {
        guard let sent = pingedAt.take() else { return nil }
        roundTrip = (now - sent) / 1_000_000
        let pause = period * Double.random(in: 0.9...1, using: &random) - .nanoseconds(now - sent)
        return wait(max(.zero, pause))
    }

    private mutating func wait(_ duration: Duration) -> Wait {
        lastWait += 1
        return Wait(number: lastWait, duration: duration)
    }
}
