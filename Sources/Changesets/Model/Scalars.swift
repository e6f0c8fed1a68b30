/// Twelve bytes of a BSON ObjectId, in identifier order.
package struct ObjectIDValue: Hashable, Sendable, Comparable {
    package var high: UInt64
    package var low: UInt32

    package init(high: UInt64, low: UInt32) {
        self.high = high
        self.low = low
    }

    package static func < (left: Self, right: Self) -> Bool { (left.high, left.low) < (right.high, right.low) }
}

/// Sixteen bytes of a UUID, in RFC order.
package struct UUIDValue: Hashable, Sendable, Comparable {
    package var high: UInt64
    package var low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    package static func < (left: Self, right: Self) -> Bool { (left.high, left.low) < (right.high, right.low) }
}

/// Unix time; seconds and nanoseconds have the same sign or are zero, |nanoseconds| < 10^9.
package struct TimestampValue: Hashable, Sendable, Comparable {
    package var seconds: Int64
    package var nanoseconds: Int32

    package init(seconds: Int64, nanoseconds: Int32) {
        self.seconds = seconds
        self.nanoseconds = nanoseconds
    }

    /// Whether the format can hold the time.
    package var isValid: Bool {
        nanoseconds > -1_000_000_000 && nanoseconds < 1_000_000_000
            && (seconds == 0 || nanoseconds == 0 || (seconds < 0) == (nanoseconds < 0))
    }

    package static func < (left: Self, right: Self) -> Bool {
        (left.seconds, left.nanoseconds) < (right.seconds, right.nanoseconds)
    }
}

/// IEEE 754-2008 decimal128, binary-integer layout, kept bit for bit: 1.0 and 1.00 are different values here.
package struct Decimal128Value: Hashable, Sendable {
    package var high: UInt64
    package var low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }
}
