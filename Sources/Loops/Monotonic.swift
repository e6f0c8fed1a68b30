package import Glibc

/// A moment on the machine's monotonic clock, in nanoseconds; `never` lies after all others.
package struct Monotonic: Comparable, Sendable {
    package var nanoseconds: UInt64

    package init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }

    package static let never = Monotonic(nanoseconds: .max)

    package static func now() -> Monotonic {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Monotonic(nanoseconds: UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec))
    }

    package static func < (left: Monotonic, right: Monotonic) -> Bool { left.nanoseconds < right.nanoseconds }

    package func advanced(by duration: Duration) -> Monotonic {
        let (sum, overflow) = nanoseconds.addingReportingOverflow(duration.clampedNanoseconds)
        return overflow ? .never : Monotonic(nanoseconds: sum)
    }

    /// Nanoseconds from `earlier` to this; zero if it is not earlier.
    package func since(_ earlier: Monotonic) -> UInt64 {
        nanoseconds > earlier.nanoseconds ? nanoseconds - earlier.nanoseconds : 0
    }
}

extension Duration {
    /// The duration in nanoseconds; zero if it is negative, the largest number if it is too long.
    package var clampedNanoseconds: UInt64 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        let (product, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
        return overflow ? .max : product &+ UInt64(attoseconds / 1_000_000_000)
    }

    /// Whole seconds, rounded up.
    package var wholeSecondsUp: Int64 {
        let (seconds, attoseconds) = components
        return max(0, attoseconds > 0 ? seconds &+ 1 : seconds)
    }

    /// Whole milliseconds, at least 1.
    package var milliseconds: UInt64 { max(1, clampedNanoseconds / 1_000_000) }
}

extension timeval {
    /// The time that is left until a deadline.
    package init(until deadline: Monotonic) {
        let left = min(deadline.since(.now()), 1_000_000_000_000_000_000)
        self.init(tv_sec: Int(left / 1_000_000_000), tv_usec: Int(left % 1_000_000_000 / 1_000))
    }
}
