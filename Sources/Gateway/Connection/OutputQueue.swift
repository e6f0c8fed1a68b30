import DequeModule
import SyncModel
import Synchronization

/// The bytes that wait for one socket to drain: PONGs first, then everything in order. The machine stops producing bulk data
/// long before this is full; a client that takes nothing at all is dropped.
final class OutputQueue: Sendable {
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
        /// A task writes, or the socket is not open yet.
        var isBusy = true
        var isFinished = false
    }

    static let maxFlushItems = 64
    static let maxFlushBytes = 256 << 10
    private let state = Mutex(State())

    /// Bytes that wait, the ones being written included.
    var bytes: Int { state.withLock { $0.bytes } }

    /// - Returns: true if no task writes: the caller must start one.
    func push(_ item: Item, isUrgent: Bool = false) -> Bool {
        state.withLock { state in
            guard !state.isFinished else { return false }
            if isUrgent { state.urgent.append(item) } else { state.items.append(item) }
            state.bytes += item.bytes
            defer { state.isBusy = true }
            return !state.isBusy
        }
    }

    /// Takes nothing more; what waits is still handed out.
    func finish() { state.withLock { $0.isFinished = true } }

    /// The next items, as many as are worth one flush. After none, which says that none wait, the next `push` returns
    /// true.
    func take() -> [Item] {
        state.withLock { state in
            var items: [Item] = []
            var bytes = 0
            // A PONG that comes meanwhile waits for one flush at most.
            while items.count < Self.maxFlushItems, bytes < Self.maxFlushBytes,
                let item = state.urgent.popFirst() ?? state.items.popFirst()
            {
                items.append(item)
                bytes += item.bytes
                if item.endsSocket { break }
            }
            if items.isEmpty {
                state.isBusy = false
                // What a burst has grown is not kept.
                state.items = []
            }
            return items
        }
    }

    /// Notes that the items are written; to be called then. True if nothing waits.
    func written(_ items: [Item]) -> Bool {
        let bytes = items.reduce(0) { $0 + $1.bytes }
        return state.withLock { state in
            state.bytes -= bytes
            return state.items.isEmpty
        }
    }
}
