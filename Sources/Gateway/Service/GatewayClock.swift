import Foundation

/// The time, injectable for tests.
package struct GatewayClock: Sendable {
    /// Milliseconds of Unix time.
    package var unixMilliseconds: @Sendable () -> UInt64

    package init(unixMilliseconds: @escaping @Sendable () -> UInt64) { self.unixMilliseconds = unixMilliseconds }

    package static let system = GatewayClock { UInt64(max(0, Date().timeIntervalSince1970 * 1000)) }

    var unixSeconds: Int { Int(clamping: unixMilliseconds() / 1000) }
}

extension Duration {
    /// Whole milliseconds, never negative.
    var milliseconds: UInt64 {
        let (seconds, attoseconds) = components
        guard seconds >= 0 else { return 0 }
        return UInt64(seconds) &* 1000 &+ UInt64(max(0, attoseconds) / 1_000_000_000_000_000)
    }

    var wholeSeconds: Int { Int(clamping: components.seconds) }
}
