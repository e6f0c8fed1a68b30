import Foundation

/// The time, injectable for tests.
package struct GatewayClock: Sendable {
    /// Milliseconds of Unix time.
    package var unixMilliseconds: @Sendable () -> UInt64

    package init(unixMilliseconds: @escaping @Sendable () -> UInt64) { self.unixMilliseconds = unixMilliseconds }

    package static let system = GatewayClock { UInt64(max(0, Date().timeIntervalSince1970 * 1000)) }

    var unixSeconds: Int { Int(clamping: unixMilliseconds() / 1000) }
}
