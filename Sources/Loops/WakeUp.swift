internal import CLinux
internal import Glibc

/// Ends another thread's `poll`.
package final class WakeUp: Sendable {
    /// The descriptor that `poll` watches, or -1 if none could be had: the loop then looks every few milliseconds.
    package let descriptor: Int32

    package init() { descriptor = linux_shim_eventfd() }

    deinit { if descriptor >= 0 { close(descriptor) } }

    package func signal() {
        var one: UInt64 = 1
        _ = write(descriptor, &one, 8)
    }

    package func reset() {
        var count: UInt64 = 0
        _ = read(descriptor, &count, 8)
    }
}
