import DequeModule
import Synchronization

/// The deliveries between the connection's thread and a consumer's task. Never more than the channel's prefetch: the
/// broker sends no more before some are answered.
final class DeliveryBuffer: Sendable {
    private struct Waiter {
        let id: UInt64
        let max: Int
        let maxBytes: Int
        let continuation: CheckedContinuation<Result<[AMQPDelivery]?, AMQPError>, Never>
    }

    private struct State {
        var deliveries: Deque<AMQPDelivery> = []
        var waiters: Deque<Waiter> = []
        var nextWaiter: UInt64 = 0
        var ended = false
        var failure: AMQPError?

        /// Takes the oldest delivery and as many more as the limits allow.
        mutating func take(_ max: Int, _ maxBytes: Int) -> [AMQPDelivery] {
            var bytes = 0
            var count = 0
            while count < deliveries.count, count < Swift.max(max, 1) {
                bytes += deliveries[count].message.body.count
                if count > 0, bytes > maxBytes { break }
                count += 1
            }
            defer { deliveries.removeFirst(count) }
            return Array(deliveries.prefix(count))
        }
    }

    private let state = Mutex(State())

    var count: Int { state.withLock { $0.deliveries.count } }

    /// Adds what arrived and wakes who waits for it.
    func append(_ deliveries: [AMQPDelivery]) {
        let (waiter, taken) = state.withLock { state -> (Waiter?, [AMQPDelivery]) in
            guard !state.ended else { return (nil, []) }
            state.deliveries.append(contentsOf: deliveries)
            guard let waiter = state.waiters.popFirst() else { return (nil, []) }
            return (waiter, state.take(waiter.max, waiter.maxBytes))
        }
        waiter?.continuation.resume(returning: .success(taken))
        // With several waiters, each takes its share.
        if waiter != nil { passOn() }
    }

    private func passOn() {
        while true {
            let (waiter, taken) = state.withLock { state -> (Waiter?, [AMQPDelivery]) in
                guard !state.deliveries.isEmpty, let waiter = state.waiters.popFirst() else { return (nil, []) }
                return (waiter, state.take(waiter.max, waiter.maxBytes))
            }
            guard let waiter else { return }
            waiter.continuation.resume(returning: .success(taken))
        }
    }

    /// Takes everything.
    func takeAll() -> Deque<AMQPDelivery> {
        state.withLock { state in
            defer { state.deliveries = [] }
            return state.deliveries
        }
    }

    /// Drops what nobody took: the broker will deliver it again.
    func clear() { state.withLock { $0.deliveries.removeAll() } }

    /// Lets what is left be taken, then ends, with an error if there is one.
    func end(_ failure: AMQPError? = nil) {
        let waiters = state.withLock { state -> Deque<Waiter> in
            guard !state.ended else { return [] }
            state.ended = true
            state.failure = failure
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters {
            if let failure {
                waiter.continuation.resume(returning: .failure(failure))
            } else {
                waiter.continuation.resume(returning: .success(nil))
            }
        }
    }

    /// Waits for a delivery, then takes it and what else is there, within the limits.
    ///
    /// - Returns: nil at the end, and when the task is cancelled.
    func take(max: Int, maxBytes: Int) async throws(AMQPError) -> [AMQPDelivery]? {
        if let ready = takeNow(max: max, maxBytes: maxBytes) { return try ready.get() }
        let id = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                wait(Waiter(id: id, max: max, maxBytes: maxBytes, continuation: continuation))
            }
        } onCancel: {
            let waiter = state.withLock { state in
                state.waiters.firstIndex { $0.id == id }.map { state.waiters.remove(at: $0) }
            }
            waiter?.continuation.resume(returning: .success(nil))
        }
        return try result.get()
    }

    private func takeNow(max: Int, maxBytes: Int) -> Result<[AMQPDelivery]?, AMQPError>? {
        state.withLock { state in
            if !state.deliveries.isEmpty { return .success(state.take(max, maxBytes)) }
            guard state.ended else { return nil }
            return state.failure.map { .failure($0) } ?? .success(nil)
        }
    }

    private func wait(_ waiter: Waiter) {
        // The task may have been cancelled before this: its handler then found no waiter to wake.
        let ready = state.withLock { state -> Result<[AMQPDelivery]?, AMQPError>? in
            if !state.deliveries.isEmpty { return .success(state.take(waiter.max, waiter.maxBytes)) }
            if state.ended { return state.failure.map { .failure($0) } ?? .success(nil) }
            if Task.isCancelled { return .success(nil) }
            state.waiters.append(waiter)
            return nil
        }
        if let ready { waiter.continuation.resume(returning: ready) }
    }
}
