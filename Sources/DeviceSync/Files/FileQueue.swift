internal import Dispatch
internal import Synchronization

/// Where file work runs that must not block a cooperative thread or the caller's.
enum FileQueue {
    static let queue = DispatchQueue(label: "DeviceSync.files", attributes: .concurrent)

    /// Runs file work on a thread that may block: another process may have a file locked for a minute.
    static func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        let work = Work(body)
        return try await withCheckedThrowingContinuation { continuation in
            queue.async { work.run(continuation) }
        }
    }

    /// Something to do once. What it needs, and what comes of it, is let go of here before the caller goes on: a realm that the caller closes
    /// then is closed.
    private final class Work<Value: Sendable>: Sendable {
        private let body: Mutex<(@Sendable () throws -> Value)?>

        init(_ body: @escaping @Sendable () throws -> Value) { self.body = Mutex(body) }

        func run(_ continuation: CheckedContinuation<Value, any Error>) {
            do {
                continuation.resume(returning: try value())
            } catch {
                continuation.resume(throwing: error)
            }
        }

        private func value() throws -> Value {
            guard let body = body.withLock({ $0.take() }) else { preconditionFailure("work is done once") }
            return try body()
        }
    }
}
