/// Tells for which requests nobody waits any more, without asking that clocks agree.
///
/// A request says when it was sent by its gateway's clock. How long it was under way is how much later it came, by this
/// process's uptime, than the fastest of the same gateway's requests lately would have. A clock that is an hour wrong makes
/// no difference; one that is moved makes some for as long as the fastest is remembered, half a minute to a minute.
struct RequestAges: Sendable {
    private struct Fastest {
        var now: Int64
        var before: Int64
        var since: UInt64
    }

    private static let turn: UInt64 = 30_000
    private static let maxGateways = 1_000
    private var fastest: [String: Fastest] = [:]

    /// Milliseconds for which the request was under way, the least that it takes not counted.
    mutating func age(sentAt: UInt64, by gateway: String, at uptime: UInt64) -> UInt64 {
        // The clocks' zeroes have nothing to do with one another: only differences of this say something.
        let lag = Int64(truncatingIfNeeded: uptime &- sentAt)
        if fastest[gateway] == nil, fastest.count >= Self.maxGateways { fastest = [:] }
        var known = fastest[gateway] ?? Fastest(now: lag, before: lag, since: uptime)
        if uptime >= known.since &+ Self.turn {
            // After a silence what came before it is too old to go by.
            known.before = uptime >= known.since &+ 2 &* Self.turn ? lag : known.now
            known.now = lag
            known.since = uptime
        }
        known.now = min(known.now, lag)
        fastest[gateway] = known
        return UInt64(max(0, lag.subtractingReportingOverflow(min(known.now, known.before)).partialValue))
    }
}
