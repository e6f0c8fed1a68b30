internal import Dispatch

/// Where file work runs that must not block a cooperative thread or the caller's.
enum FileQueue {
    static let queue = DispatchQueue(label: "DeviceSync.files", attributes: .concurrent)

    /// Runs file work on a thread that may block: another process may have a file locked for a minute.
    static func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result { try body() }) }
        }
    }
}
