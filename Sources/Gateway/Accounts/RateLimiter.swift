import Synchronization

/// Token buckets by key, in a table of bounded size.
final class RateLimiter: Sendable {
    private struct Bucket {
        var tokens: Double
        var at: UInt64
    }

    private let rate: GatewayLimits.Rate
    private let maxKeys: Int
    private let clock: GatewayClock
    private let buckets = Mutex<[String: Bucket]>([:])

    init(rate: GatewayLimits.Rate, maxKeys: Int = 20_000, clock: GatewayClock) {
        self.rate = rate
        self.maxKeys = maxKeys
        self.clock = clock
    }

    /// Takes one token of the key, or says in how many seconds there is one.
    func retryAfter(_ key: String) -> Int? {
        let now = clock.unixMilliseconds()
        let perMillisecond = rate.perMinute / 60_000
        return buckets.withLock { buckets in
            if buckets.count >= maxKeys, buckets[key] == nil { Self.trim(&buckets, rate, perMillisecond, now) }
            var bucket = buckets[key] ?? Bucket(tokens: Double(rate.burst), at: now)
            let elapsed = now > bucket.at ? Double(now - bucket.at) : 0
            bucket.tokens = min(Double(rate.burst), bucket.tokens + elapsed * perMillisecond)
            bucket.at = now
            let isAllowed = bucket.tokens >= 1
            if isAllowed { bucket.tokens -= 1 }
            buckets[key] = bucket
            guard !isAllowed else { return nil }
            let wait = perMillisecond > 0 ? (1 - bucket.tokens) / perMillisecond / 1000 : 60
            return max(1, Int(wait.rounded(.up)))
        }
    }

    /// Takes one token of the key.
    ///
    /// - Parameter what: what there was too much of, if there is none.
    /// - Throws: `APIError`, 429, that says when to come again.
    func take(_ key: String, orRefuse what: String) throws {
        if let seconds = retryAfter(key) { throw APIError.throttled(seconds, what) }
    }

    /// Gives a token back that was taken for something that did not deserve it.
    func giveBack(_ key: String) {
        buckets.withLock { buckets in
            guard let bucket = buckets[key] else { return }
            buckets[key]?.tokens = min(Double(rate.burst), bucket.tokens + 1)
        }
    }

    /// Forgets the full buckets, which say nothing, and if need be half of the rest: a flood of keys must not grow the
    /// table, and forgetting only forgives.
    private static func trim(
        _ buckets: inout [String: Bucket], _ rate: GatewayLimits.Rate, _ perMillisecond: Double, _ now: UInt64
    ) {
        let capacity = buckets.count
        buckets = buckets.filter { _, bucket in
            let elapsed = now > bucket.at ? Double(now - bucket.at) : 0
            return bucket.tokens + elapsed * perMillisecond < Double(rate.burst)
        }
        guard buckets.count > capacity / 2 else { return }
        for key in buckets.keys.prefix(buckets.count / 2) { buckets[key] = nil }
    }
}
