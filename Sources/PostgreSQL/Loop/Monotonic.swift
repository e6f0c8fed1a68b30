import Glibc

/// A moment on the machine's monotonic clock, in nanoseconds; `never` lies after all others.
struct Monotonic: Comparable, Sendable {
    var nanoseconds: UInt64

    static let never = Monotonic(nanoseconds: .max)

    static func now() -> Monotonic {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Monotonic(nanoseconds: UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec))
    }

    static func < (left: Monotonic, right: Monotonic) -> Bool { left.nanoseconds < right.nanoseconds }

    func advanced(by duration: Duration) -> Monotonic {
        let (sum, overflow) = nanoseconds.addingReportingOverflow(duration.clampedNanoseconds)
        return overflow ? .never : Monotonic(nanoseconds: sum)
    }

    /// Nanoseconds from `earlier` to this; zero if it is not earlier.
    func since(_ earlier: Monotonic) -> UInt64 {
        nanoseconds > earlier.nanoseconds ? nanoseconds - earlier.nanoseconds : 0
    }
}

extension Duration {
    /// The duration in nanoseconds; zero if it is negative, the largest number if it is too long.
    fileprivate var clampedNanoseconds: UInt64 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        let (product, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
        return overflow ? .max : product &+ UInt64(attoseconds / 1_000_000_000)
    }

    /// Whole milliseconds, at least 1.
    var milliseconds: UInt64 { max(1, clampedNanoseconds / 1_000_000) }
}
