import NIOCore
import NIOPosix
import Synchronization

/// A relay on a loopback port, to stand between two processes and cut them off from each other without a word: while it
/// holds, no byte passes and no connection ends, as when a cable is pulled. It also spreads clients over gateways, and
/// takes them from a gateway that is withdrawn, as a load balancer does.
package final class TCPProxy: Sendable {
    /// Where connections lead to.
    package struct Target: Hashable, Sendable {
        package var host: String
        package var port: Int

        package init(host: String = "127.0.0.1", port: Int) {
            self.host = host
            self.port = port
        }
    }

    private struct State {
        /// Targets that get no connections.
        var withdrawn: Set<Target> = []
        var isHolding = false
        var next = 0
        var listener: (any Channel)?
        var port = 0
    }

    package let targets: [Target]
    private let state = Mutex(State())
    private let relays = Mutex<[ObjectIdentifier: (channel: any Channel, target: Target)]>([:])

    /// - Parameter targets: connections go to them in turn, past those that refuse.
    package init(targets: [Target]) { self.targets = targets }

    package var port: Int { state.withLock { $0.port } }

    package func start() async throws {
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

    package func stop() async {
        let listener = state.withLock { $0.listener }
        try? await listener?.close()
        for channel in relays.withLock({ $0.values.map(\.channel) }) { try? await channel.close() }
    }

    /// Says whether a connection leads through it now.
    package var isInUse: Bool { relays.withLock { !$0.isEmpty } }

    package var isHolding: Bool { state.withLock { $0.isHolding } }

    /// Lets nothing pass from now on, or everything again, with what has piled up.
    package func hold(_ holds: Bool) {
        state.withLock { $0.isHolding = holds }
        guard !holds else { return }
        for channel in relays.withLock({ $0.values.map(\.channel) }) { channel.read() }
    }

    /// Gives a target no connections from now on and closes those that it has, or gives it connections again.
    package func withdraw(_ target: Target, _ withdraws: Bool) {
        state.withLock { _ = withdraws ? $0.withdrawn.insert(target).inserted : $0.withdrawn.remove(target) != nil }
        guard withdraws else { return }
        for relay in relays.withLock({ Array($0.values) }) where relay.target == target {
            relay.channel.close(promise: nil)
        }
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
        let target = targets[(first + attempt) % targets.count]
        guard !state.withLock({ $0.withdrawn.contains(target) }) else {
            return connect(client, attempt: attempt + 1, first: first)
        }
        ClientBootstrap(group: client.eventLoop)
            .channelOption(.autoRead, value: false)
            .connectTimeout(.seconds(2))
            .connect(host: target.host, port: target.port)
            .whenComplete { [weak self] result in
                guard let self else { return client.close(promise: nil) }
                switch result {
                case .success(let server): join(client, server, of: target)
                case .failure: connect(client, attempt: attempt + 1, first: first)
                }
            }
    }

    private func join(_ client: any Channel, _ server: any Channel, of target: Target) {
        do {
            try client.pipeline.syncOperations.addHandler(Relay(to: server, of: self))
            try server.pipeline.syncOperations.addHandler(Relay(to: client, of: self))
        } catch {
            client.close(promise: nil)
            return server.close(promise: nil)
        }
        for channel in [client, server] {
            relays.withLock { $0[ObjectIdentifier(channel)] = (channel, target) }
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
