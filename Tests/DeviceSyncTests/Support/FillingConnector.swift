import Synchronization

@testable import DeviceSync

/// Real sockets, of which one takes nothing more from the moment on that a MARK has come.
final class FillingConnector: WebSocketConnecting {
    private struct State {
        var isArmed = false
        var hasFilled = false
    }
    private let inner = NIOWebSocketConnector()
    private let state = Mutex(State())

    var hasFilled: Bool { state.withLock { $0.hasFilled } }

    /// The next MARK that comes fills the socket it comes on.
    func arm() { state.withLock { $0.isArmed = true } }

    func connect(
        _ request: WebSocketRequest, _ events: @escaping @Sendable (WebSocketEvent) -> Void
    ) -> any WebSocketChannel {
        let level = Level()
        let channel = inner.connect(request) { event in
            if case .message(let bytes) = event, bytes.starts(with: "mark ".utf8) { self.markComes(on: level) }
            events(event)
        }
        return FillingChannel(inner: channel, level: level)
    }

    private func markComes(on level: Level) {
        state.withLock { state in
            guard state.isArmed else { return }
            state = State(isArmed: false, hasFilled: true)
            level.isFull.withLock { $0 = true }
        }
    }

    private final class Level: Sendable {
        let isFull = Mutex(false)
    }

    private struct FillingChannel: WebSocketChannel {
        let inner: any WebSocketChannel
        let level: Level

        var isFull: Bool { level.isFull.withLock { $0 } || inner.isFull }
        func send(_ bytes: [UInt8]) { inner.send(bytes) }
        func consumed(_ bytes: Int) { inner.consumed(bytes) }
        func close() { inner.close() }
    }
}
