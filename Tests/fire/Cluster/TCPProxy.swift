import NIOCore
import NIOPosix
import Synchronization

/// A relay on a loopback port, to stand between two processes and cut them off from each other without a word: while it
/// holds, no byte passes and no connection ends, as when a cable is pulled. It also spreads clients over gateways.
final class TCPProxy: Sendable {
    private struct State {
        var isHolding = false
        var next = 0
        var listener: (any Channel)?
        var port = 0
    }

    private let targets: [Int]
    private let state = Mutex(State())
    private let relays = Mutex<[ObjectIdentifier: any Channel]>([:])

    /// - Parameter targets: loopback ports; connections go to them in turn, past those that refuse.
    init(targets: [Int]) { self.targets = targets }

    var port: Int { state.withLock { $0.port } }

    func start() async throws {
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 256)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.autoRead, value: false)
            .childChannelOption(.allowRemoteHalfClosure, value: false)
            .childChannelInitializer { [weak self] channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Opening { self?.accept($0) })
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        state.withLock {
            $0.listener = listener
            $0.port = listener.localAddress?.port ?? 0
        }
    }

    func stop() async {
        let listener = state.withLock { $0.listener }
        try? await listener?.close()
        for channel in relays.withLock({ Array($0.values) }) { try? await channel.close() }
    }

    var isHolding: Bool { state.withLock { $0.isHolding } }

    /// Lets nothing pass from now on, or everything again, with what has piled up.
    func hold(_ holds: Bool) {
        state.withLock { $0.isHolding = holds }
        guard !holds else { return }
        for channel in relays.withLock({ Array($0.values) }) { channel.read() }
    }

    private func accept(_ client: any Channel) {
        let first = state.withLock { state in
            state.next += 1
            return state.next
        }
        connect(client, attempt: 0, first: first)
    }

    private func connect(_ client: any Channel, attempt: Int, first: Int) {
        guard attempt < targets.count else {
            client.close(promise: nil)
            return
        }
        ClientBootstrap(group: client.eventLoop)
            .channelOption(.autoRead, value: false)
            .connectTimeout(.seconds(2))
            .connect(host: "127.0.0.1", port: targets[(first + attempt) % targets.count])
            .whenComplete { [weak self] result in
                guard let self else { return client.close(promise: nil) }
                switch result {
                case .success(let server): join(client, server)
                case .failure: connect(client, attempt: attempt + 1, first: first)
                }
            }
    }

    private func join(_ client: any Channel, _ server: any Channel) {
        do {
            try client.pipeline.syncOperations.addHandler(Relay(to: server, of: self))
            try server.pipeline.syncOperations.addHandler(Relay(to: client, of: self))
        } catch {
            client.close(promise: nil)
            return server.close(promise: nil)
        }
        for channel in [client, server] {
            relays.withLock { $0[ObjectIdentifier(channel)] = channel }
            channel.closeFuture.whenComplete { [weak self] _ in
                self?.relays.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(channel)) }
            }
            if !isHolding { channel.read() }
        }
    }
}

/// Waits for a connection to be open: before that, a channel does not hear that it should read.
private final class Opening: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    private let action: (any Channel) -> Void

    init(_ action: @escaping (any Channel) -> Void) { self.action = action }

    func channelActive(context: ChannelHandlerContext) {
        action(context.channel)
        context.fireChannelActive()
    }
}

/// One direction: reads no further before the other side has taken what was read, so a slow reader slows its writer.
private final class Relay: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    private let peer: any Channel
    private weak let proxy: TCPProxy?

    init(to peer: any Channel, of proxy: TCPProxy) {
        self.peer = peer
        self.proxy = proxy
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let channel = context.channel
        peer.writeAndFlush(unwrapInboundIn(data)).whenComplete { [weak proxy] result in
            switch result {
            case .success: if proxy?.isHolding == false { channel.read() }
            case .failure: channel.close(promise: nil)
            }
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        // Nobody learns of the end of what is cut off, either, before it is joined again: the peer's own writes tell it.
        peer.close(promise: nil)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
