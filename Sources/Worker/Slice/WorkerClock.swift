import Dispatch
import Foundation
import SyncModel

/// The time in the units of messages and stores; injected, so that tests can move it.
package struct WorkerClock: Sendable {
    /// Milliseconds of Unix time.
    package var now: @Sendable () -> UInt64
    /// Milliseconds since some moment, that nobody can move.
    package var uptime: @Sendable () -> UInt64

    package init(now: @escaping @Sendable () -> UInt64, uptime: @escaping @Sendable () -> UInt64) {
        self.now = now
        self.uptime = uptime
    }

    package static let system = WorkerClock(
        now: { UInt64(max(0, Date().timeIntervalSince1970 * 1_000)) },
        uptime: { DispatchTime.now().uptimeNanoseconds / 1_000_000 })

    /// Now, as a changeset's timestamp.
    var changesetNow: SyncTimestamp { SyncTimestamp(unixMilliseconds: Int64(clamping: now())) }
}
