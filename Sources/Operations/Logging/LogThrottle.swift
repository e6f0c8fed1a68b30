import Logging
import Synchronization

/// Bounds how many lines of one kind a process logs, so that what strangers can provoke neither fills a disk nor takes the time
/// of those who work: at first so many as have come, then so many a second. The next line that is written says how many were
/// left out before it.
final class LogThrottle: Sendable {
    /// Lines of one kind: the same level and the same message. What differs from line to line is in the metadata.
    private struct Kind: Hashable {
        var level: Logger.Level
        var message: String
    }

    private struct Bucket {
        var tokens: Double
        var at: ContinuousClock.Instant
        var leftOut = 0
    }

    private let burst: Double
    private let perSecond: Double
    private let maxKinds: Int
    private let buckets = Mutex<[Kind: Bucket]>([:])

    init(burst: Int = 500, perSecond: Int = 20, maxKinds: Int = 500) {
        self.burst = Double(burst)
        self.perSecond = Double(perSecond)
        self.maxKinds = maxKinds
    }

    /// Whether a line is to be written; then how many of its kind were left out since the last one that was.
    func leftOut(before level: Logger.Level, _ message: String, at now: ContinuousClock.Instant = .now) -> Int? {
        // Somebody has asked for all of these.
        guard level >= .info else { return 0 }
        return buckets.withLock { buckets in
            var kind = Kind(level: level, message: message)
            if buckets[kind] == nil, buckets.count >= maxKinds {
                buckets = buckets.filter { $0.value.tokens + refill(since: $0.value.at, now) < burst }
                // A message that is never the same twice has its bound with others of its like.
                if buckets.count >= maxKinds { kind.message = "" }
            }
            var bucket = buckets[kind] ?? Bucket(tokens: burst, at: now)
            bucket.tokens = min(burst, bucket.tokens + refill(since: bucket.at, now))
            bucket.at = now
            defer { buckets[kind] = bucket }
            guard bucket.tokens >= 1 else {
                bucket.leftOut += 1
                return nil
            }
            bucket.tokens -= 1
            defer { bucket.leftOut = 0 }
            return bucket.leftOut
        }
    }

    private func refill(since before: ContinuousClock.Instant, _ now: ContinuousClock.Instant) -> Double {
        max(0, before.duration(to: now) / .seconds(1)) * perSecond
    }
}
