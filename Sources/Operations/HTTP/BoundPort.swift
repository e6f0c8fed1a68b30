import Synchronization

/// The port that a server listens on, known only once it listens when port 0 was asked for.
package final class BoundPort: Sendable {
    private enum State {
        case waiting([CheckedContinuation<Int, any Error>])
        case bound(Int)
        case stopped
    }

    private let state = Mutex(State.waiting([]))

    package init() {}

    /// Nil until the server listens.
    package var current: Int? {
        state.withLock { if case .bound(let port) = $0 { port } else { nil } }
    }

    /// Waits until the server listens.
    /// - Throws: `OperationsError.stopped` if it ends without ever listening.
    package func value() async throws -> Int {
        try await withCheckedThrowingContinuation { continuation in
            let known: Result<Int, any Error>? = state.withLock { state in
                switch state {
                case .waiting(var waiters):
                    waiters.append(continuation)
                    state = .waiting(waiters)
                    return nil
                case .bound(let port): return .success(port)
                case .stopped: return .failure(Self.neverListened)
                }
            }
            if let known { continuation.resume(with: known) }
        }
    }

    package func set(_ port: Int) { resolve(.bound(port), with: .success(port)) }

    /// To be called when the server has ended, for whatever reason.
    package func stop() {
        state.withLock { state -> [CheckedContinuation<Int, any Error>] in
            guard case .waiting(let waiters) = state else { return [] }
            state = .stopped
            return waiters
        }.forEach { $0.resume(throwing: Self.neverListened) }
    }

    private func resolve(_ new: State, with result: Result<Int, any Error>) {
        state.withLock { state -> [CheckedContinuation<Int, any Error>] in
            defer { state = new }
            guard case .waiting(let waiters) = state else { return [] }
            return waiters
        }.forEach { $0.resume(with: result) }
    }

    private static var neverListened: OperationsError {
        OperationsError(.stopped, "the server ended before it could listen; its log says why")
    }
}
