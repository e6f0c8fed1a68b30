import NIOCore
import NIOHTTP1
package import NIOPosix
import NIOWebSocket
package import SyncModel
package import SyncProtocol

/// The server's end of sync connections of one mode, on a loopback port: upgrades, parses what clients send and
/// encodes what they are sent. What is answered is for the events' owner to decide.
package final class SyncSocketServer: Sendable {
    /// What happens on the sockets, each called on its socket's event loop.
    package struct Events: Sendable {
        /// Whether a new connection is let in.
        package var accepts: @Sendable () -> Bool = { true }
        package var opened: @Sendable (SyncSocket) -> Void = { _ in }
        package var received: @Sendable (ClientMessage, SyncSocket) -> Void
        package var closed: @Sendable (SyncSocket) -> Void = { _ in }
        /// A message that cannot be parsed or encoded, in words.
        package var failed: @Sendable (String) -> Void = { _ in }

        package init(received: @escaping @Sendable (ClientMessage, SyncSocket) -> Void) { self.received = received }
    }

    private let channel: any Channel

    package init(
        _ events: Events, mode: SyncMode = .partition, on group: MultiThreadedEventLoopGroup = .singleton
    ) async throws {
        channel = try await ServerBootstrap(group: group)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                guard events.accepts() else { return channel.eventLoop.makeFailedFuture(ChannelError.inputClosed) }
                let upgrader = NIOWebSocketServerUpgrader(
                    maxFrameSize: 1 << 24,
                    shouldUpgrade: { channel, head in
                        var headers = HTTPHeaders()
                        let offered = head.headers["Sec-WebSocket-Protocol"]
                        if let choice = try? SubprotocolNegotiation.choose(from: offered) {
                            headers.add(name: "Sec-WebSocket-Protocol", value: choice.token)
                        }
                        return channel.eventLoop.makeSucceededFuture(headers)
                    },
                    upgradePipelineHandler: { channel, _ in
                        channel.eventLoop.makeCompletedFuture {
                            try channel.pipeline.syncOperations.addHandler(SyncSocketHandler(events, mode, channel))
                        }
                    })
                return channel.pipeline.configureHTTPServerPipeline(
                    withServerUpgrade: (upgraders: [upgrader], completionHandler: { _ in }))
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    package var port: Int { channel.localAddress?.port ?? 0 }

    package func close() async throws { try await channel.close() }
}

/// One client's connection.
package final class SyncSocket: Sendable {
    private let channel: any Channel
    private let mode: SyncMode
    private let failed: @Sendable (String) -> Void

    init(_ channel: any Channel, _ mode: SyncMode, failed: @escaping @Sendable (String) -> Void) {
        self.channel = channel
        self.mode = mode
        self.failed = failed
    }

    package func send(_ message: ServerMessage) {
        let bytes: [UInt8]
        do {
            bytes = try MessageEncoder(mode: mode).encode(message)
        } catch {
            return failed("cannot encode \(message): \(error)")
        }
        // Always by way of the loop's queue: a write made on the loop itself would overtake one that another connection's
        // loop has just handed over.
        channel.eventLoop.execute { [channel] in
            let data = channel.allocator.buffer(bytes: bytes)
            channel.writeAndFlush(WebSocketFrame(fin: true, opcode: .binary, data: data), promise: nil)
        }
    }

    package func close() { channel.close(promise: nil) }

    /// Ends the connection with a close frame.
    package func close(_ code: CloseCode) {
        channel.eventLoop.execute { [channel] in
            let data = channel.allocator.buffer(integer: code.rawValue)
            let frame = WebSocketFrame(fin: true, opcode: .connectionClose, data: data)
            channel.writeAndFlush(frame).whenComplete { _ in channel.close(promise: nil) }
        }
    }
}

private final class SyncSocketHandler: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame
    private let events: SyncSocketServer.Events
    private let socket: SyncSocket
    private let parser: ClientMessageParser

    init(_ events: SyncSocketServer.Events, _ mode: SyncMode, _ channel: any Channel) {
        self.events = events
        parser = ClientMessageParser(mode: mode)
        socket = SyncSocket(channel, mode, failed: events.failed)
    }

    func handlerAdded(context: ChannelHandlerContext) { events.opened(socket) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        guard frame.opcode == .binary else { return }
        do {
            events.received(try parser.parse(Array(frame.unmaskedData.readableBytesView)), socket)
        } catch {
            events.failed("the client sent what does not parse: \(error)")
        }
    }

    func channelInactive(context: ChannelHandlerContext) { events.closed(socket) }
}
