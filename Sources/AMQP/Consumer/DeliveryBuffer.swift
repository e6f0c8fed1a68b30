import DequeModule
import Synchronization

/// The deliveries between the connection's thread and a consumer's task. Never more than the channel's prefetch: the
/// broker sends no more before some are answered. With a spool, bodies beyond its bound wait in its file.
final class DeliveryBuffer: Sendable {
    private struct State {
        var deliveries: Deque<HeldDelivery> = []
        /// The tasks that wait for a delivery, the first to come first. Each takes deliveries itself once it is woken.
        var waiters: Deque<(id: UInt64, continuation: CheckedContinuation<Void, Never>)> = []
        var nextWaiter: UInt64 = 0
        var ended = false
        var failure: AMQPError?

        /// Takes the oldest delivery and as many more as the limits allow; or the end, if there are no more.
        ///
        /// - Returns: nil when a delivery must be waited for.
        mutating func take(_ max: Int, _ maxBytes: Int) -> Result<[HeldDelivery]?, AMQPError>? {
            guard !deliveries.isEmpty else { return ended ? failure.map { .failure($0) } ?? .success(nil) : nil }
            var bytes = 0
            var count = 0
            while count < deliveries.count, count < Swift.max(max, 1) {
                bytes += deliveries[count].bytes
                if count > 0, bytes > maxBytes { break }
                count += 1
            }
            defer { deliveries.removeFirst(count) }
            return .success(Array(deliveries.prefix(count)))
        }
    }

    private let state = Mutex(State())
    private let spool: AMQPSpool?

    init(spool: AMQPSpool? = nil) { self.spool = spool }

    /// What nobody has taken makes room in the spool.
    deinit { clear() }

    var count: Int { state.withLock { $0.deliveries.count } }

    /// Adds what arrived and wakes a task that waits for it.
    func append(_ deliveries: [AMQPDelivery]) {
        // Written before the lock is taken: the consumer's task must not wait for it.
        let held = deliveries.map { HeldDelivery($0, spool: spool) }
        let (waiter, isTaken) = state.withLock { state in
            if !state.ended { state.deliveries.append(contentsOf: held) }
            return (state.waiters.popFirst(), !state.ended)
        }
        if !isTaken { for delivery in held { delivery.drop(from: spool) } }
        waiter?.continuation.resume()
    }

    /// Takes everything, to give it back: bodies may be missing.
    func takeAll() -> Deque<AMQPDelivery> {
        let held = state.withLock { state in
            defer { state.deliveries = [] }
            return state.deliveries
        }
        return Deque(held.map { $0.drop(from: spool) })
    }

    /// Drops what no task has taken: the broker will deliver it again.
    func clear() { _ = takeAll() }

    /// Lets what is left be taken, then ends, with an error if there is one.
    func end(_ failure: AMQPError? = nil) {
        let waiters = state.withLock { state in
            if !state.ended { state.failure = failure }
            state.ended = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.continuation.resume() }
    }

    /// Waits for a delivery, then takes it and what else is there, within the limits.
    ///
    /// - Returns: nil at the end, and when the task is cancelled.
    func take(max: Int, maxBytes: Int) async throws(AMQPError) -> [AMQPDelivery]? {
        while true {
            // With several tasks, each takes its share: what this one leaves is for the next.
            let (taken, next) = state.withLock { state in
                let taken = state.take(max, maxBytes)
                return (taken, state.deliveries.isEmpty ? nil : state.waiters.popFirst())
            }
            next?.continuation.resume()
            if let taken {
                guard let held = try taken.get() else { return nil }
                return try await bodies(of: held)
            }
            if Task.isCancelled { return nil }
            await wait()
        }
    }

    /// The deliveries with their bodies.
    private func bodies(of held: [HeldDelivery]) async throws(AMQPError) -> [AMQPDelivery] {
        var deliveries: [AMQPDelivery] = []
        deliveries.reserveCapacity(held.count)
        for (index, delivery) in held.enumerated() {
            do throws(AMQPError) {
                deliveries.append(try await delivery.taken(from: spool))
            } catch {
                for later in held[(index + 1)...] { later.drop(from: spool) }
                throw error
            }
        }
        return deliveries
    }

    /// Returns when something has arrived, at the end, or when the task is cancelled.
    func wait() async {
        let id = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waits = state.withLock { state in
                    // A task that was cancelled before this has had its handler run, which found no waiter to wake.
                    let waits = state.deliveries.isEmpty && !state.ended && !Task.isCancelled
                    if waits { state.waiters.append((id, continuation)) }
                    return waits
                }
                if !waits { continuation.resume() }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                state.waiters.firstIndex { $0.id == id }.map { state.waiters.remove(at: $0) }
            }
            waiter?.continuation.resume()
        }
    }
}
