import CPostgreSQL
import Glibc

/// Ends another thread's `poll`.
final class WakeUp: Sendable {
    /// What `poll` watches, or -1 if none could be had: the loop then looks every few milliseconds.
    let descriptor: Int32

    init() { descriptor = postgres_shim_eventfd() }

    deinit { if descriptor >= 0 { close(descriptor) } }

    func signal() {
        var one: UInt64 = 1
        _ = write(descriptor, &one, 8)
    }

    func reset() {
        var count: UInt64 = 0
        _ = read(descriptor, &count, 8)
    }
}
