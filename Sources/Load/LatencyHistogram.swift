/// Counts times by how long they are, each to within two percent, in a memory that does not grow with their number.
package struct LatencyHistogram: Sendable, Equatable {
    /// Buckets of one power of two.
    private static let steps = 64
    /// Times from one microsecond to half a day.
    private static let powers = 36

    private var counts = [UInt64](repeating: 0, count: powers * steps)
    package private(set) var count: UInt64 = 0
    package private(set) var longest: UInt64 = 0

    package init() {}

    package mutating func add(microseconds: UInt64) {
        counts[Self.bucket(of: microseconds)] += 1
        count += 1
        longest = max(longest, microseconds)
    }

    /// The time that a share of all is not longer than, in microseconds; nil if there are none.
    package func percentile(_ share: Double) -> UInt64? {
        guard count > 0 else { return nil }
        let wanted = max(1, UInt64((Double(count) * min(max(share, 0), 1)).rounded(.up)))
        var seen: UInt64 = 0
        for (bucket, count) in counts.enumerated() where count > 0 {
            seen += count
            if seen >= wanted { return min(Self.upperEnd(of: bucket), longest) }
        }
        return longest
    }

    private static func bucket(of value: UInt64) -> Int {
        // Short times have a bucket each.
        guard value >= UInt64(steps) else { return Int(value) }
        let power = UInt64.bitWidth - 1 - value.leadingZeroBitCount
        let shift = power - 6
        let step = Int(value >> UInt64(shift)) - steps
        return min((shift + 1) * steps + step, powers * steps - 1)
    }

    /// The longest time of a bucket.
    private static func upperEnd(of bucket: Int) -> UInt64 {
        guard bucket >= steps else { return UInt64(bucket) }
        let shift = UInt64(bucket / steps - 1)
        return (UInt64(bucket % steps + steps + 1) << shift) - 1
    }
}
