import Dispatch
import Glibc
import ServiceLifecycle

/// Gives memory that was freed back to the system, now and then: glibc keeps what lies between blocks in use, and after a large
/// merge that is most of what the merge took.
package struct FreedMemory: Service {
    private typealias Trim = @convention(c) (Int) -> Int32

    private let interval: Duration
    private let queue = DispatchQueue(label: "sluice.memory", qos: .utility)

    package init(every interval: Duration = .seconds(30)) { self.interval = interval }

    package func run() async throws {
        try? await cancelWhenGracefulShutdown {
            while true {
                try await Task.sleep(for: interval)
                await giveBack()
            }
        }
    }

    /// Looked up, because Swift's module of the C library leaves it out; other libraries do not have it.
    private static let trim: Trim? = dlsym(nil, "malloc_trim").map { unsafeBitCast($0, to: Trim.self) }

    /// Gives freed memory back, on a thread of its own: the call goes through all that is free.
    ///
    /// - Returns: whether anything was given back.
    @discardableResult
    package func giveBack() async -> Bool {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: Self.trim.map { $0(0) == 1 } ?? false) }
        }
    }
}
