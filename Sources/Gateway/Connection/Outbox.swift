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
    }

    private struct State {
        var urgent: Deque<Item> = []
        var items: Deque<Item> = []
        var bytes = 0
        var isWriting = false
        var waiter: CheckedContinuation<Void, Never>?
        var isFinished = false
    }

    private let state = Mutex(State())

    /// Bytes that wait, the one being written included.
    var bytes: Int { state.withLock { $0.bytes } }
    /// Whether the item being written is the last one.
    var isLow: Bool { state.withLock { $0.items.isEmpty } }

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

    /// The next item, or nil after the last one. The one before counts as written.
    func next(after previous: Item?) async -> Item? {
        if let previous {
            state.withLock { state in
                state.bytes -= previous.bytes
                state.isWriting = false
            }
        }
        while !Task.isCancelled {
            let (item, isFinished) = state.withLock { state -> (Item?, Bool) in
                let item = state.urgent.popFirst() ?? state.items.popFirst()
                state.isWriting = item != nil
                return (item, state.isFinished)
            }
            if let item { return item }
            if isFinished { return nil }
            await wait()
        }
        return nil
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
