import AMQP
import DequeModule
import Synchronization

/// Publishes in order, one confirmed batch after the other: what one session publishes reaches its slice's queue in the
/// order in which it was handed in, and a batch costs one wait for the broker however many messages it holds.
///
/// What waits is bounded: uploads by their budgets before they come here, everything by `maxMessages` and `maxBytes`.
/// Beyond these bounds a message is refused, and its completion says so.
final class PublishLane: Sendable {
    struct Item: Sendable {
        var message: AMQPMessage
        var exchange: String
        var routingKey: String
        var completion: @Sendable (GatewayError?) -> Void
    }

    private struct State {
        var items: Deque<Item> = []
        var bytes = 0
        var waiter: CheckedContinuation<Void, Never>?
        var isClosed = false
    }

    static let maxMessages = 50_000
    static let maxBytes = 256 << 20
    static let maxBatch = 512
    static let maxBatchBytes = 4 << 20
    private let state = Mutex(State())

    /// Takes a message, or tells its completion at once why not.
    func push(_ item: Item) {
        let (refusal, waiter) = state.withLock { state -> (GatewayError?, CheckedContinuation<Void, Never>?) in
            guard !state.isClosed else { return (GatewayError(.shuttingDown, "the gateway stops"), nil) }
            guard state.items.count < Self.maxMessages, state.bytes + item.message.body.count <= Self.maxBytes else {
                return (GatewayError(.overloaded, "too much waits for the broker"), nil)
            }
            state.items.append(item)
            state.bytes += item.message.body.count
            defer { state.waiter = nil }
            return (nil, state.waiter)
        }
        waiter?.resume()
        if let refusal { item.completion(refusal) }
    }

    /// Refuses further messages; `run` ends once everything is published.
    func close() {
        let waiter = state.withLock { state in
            state.isClosed = true
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }

    func run(on channel: AMQPChannel, timeout: Duration) async {
        while let batch = await next() {
            let results = await channel.publish(
                batch: batch.map { ($0.message, exchange: $0.exchange, routingKey: $0.routingKey) }, mandatory: true,
                timeout: timeout)
            for (index, item) in batch.enumerated() {
                item.completion(index < results.count ? results[index].map(GatewayError.init) : nil)
            }
        }
    }

    private func next() async -> [Item]? {
        while true {
            let (batch, isClosed) = state.withLock { state in (Self.take(&state), state.isClosed) }
            if !batch.isEmpty { return batch }
            if isClosed { return nil }
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state in
                    guard state.items.isEmpty, !state.isClosed else { return true }
                    state.waiter = continuation
                    return false
                }
                if isReady { continuation.resume() }
            }
        }
    }

    private static func take(_ state: inout State) -> [Item] {
        var batch: [Item] = []
        var bytes = 0
        while batch.count < maxBatch, let item = state.items.first {
            let size = item.message.body.count
            guard batch.isEmpty || bytes + size <= maxBatchBytes else { break }
            bytes += size
            batch.append(item)
            state.items.removeFirst()
        }
        state.bytes -= bytes
        return batch
    }
}
