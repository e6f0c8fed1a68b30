import DequeModule
import Messages
import Synchronization

/// What waits for one socket to drain: PONGs first, then everything in order. The machine stops producing bulk data
/// long before this is full; a client that takes nothing at all is dropped.
final class Outbox: Sendable {
    struct Item: Sendable {
        var output: SocketOutput
        /// Told to the coordinator once the item is written.
        var report: NotifiedReport?

        var bytes: Int { if case .message(let bytes) = output { bytes.count } else { 0 } }
        var endsSocket: Bool { if case .message = output { false } else { true } }
    }

    private struct State {
        var urgent: Deque<Item> = []
        var items: Deque<Item> = []
        var bytes = 0
        var waiter: CheckedContinuation<Void, Never>?
        var isFinished = false
    }

    static let maxFlushItems = 64
    static let maxFlushBytes = 256 << 10
    private let state = Mutex(State())

    /// Bytes that wait, the one being written included.
    var bytes: Int { state.withLock { $0.bytes } }

    func push(_ item: Item, isUrgent: Bool = false) {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard !state.isFinished else { return nil }
            if isUrgent { state.urgent.append(item) } else { state.items.append(item) }
            state.bytes += item.bytes
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }

    /// Takes nothing more; what waits is still handed out.
    func finish() {
        let waiter = state.withLock { state in
            state.isFinished = true
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }

    /// The next items, as many as are worth one flush; none after the last one.
    func next() async -> [Item] {
        while !Task.isCancelled {
            let (items, isFinished) = state.withLock { state in (Self.take(&state), state.isFinished) }
            if !items.isEmpty || isFinished { return items }
            await wait()
        }
        return []
    }

    /// To be called when the items are written. True if nothing waits.
    func written(_ items: [Item]) -> Bool {
        let bytes = items.reduce(0) { $0 + $1.bytes }
        return state.withLock { state in
            state.bytes -= bytes
            return state.items.isEmpty
        }
    }

    private static func take(_ state: inout State) -> [Item] {
        var items: [Item] = []
        var bytes = 0
        // A PONG that comes meanwhile waits for one flush at most.
        while items.count < maxFlushItems, bytes < maxFlushBytes,
            let item = state.urgent.popFirst() ?? state.items.popFirst()
        {
            items.append(item)
            bytes += item.bytes
            if item.endsSocket { break }
        }
        return items
    }

    private func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state in
                    guard state.urgent.isEmpty, state.items.isEmpty, !state.isFinished, !Task.isCancelled else {
                        return true
                    }
                    state.waiter = continuation
                    return false
                }
                if isReady { continuation.resume() }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                defer { state.waiter = nil }
                return state.waiter
            }
            waiter?.resume()
        }
    }
}
