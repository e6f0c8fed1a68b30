import Foundation

/// Milliseconds of Unix time; injected, so that tests can hold it still.
struct WallClock: Sendable {
    var now: @Sendable () -> UInt64

    static let system = WallClock { UInt64(clamping: Int64(Date().timeIntervalSince1970 * 1000)) }
}
