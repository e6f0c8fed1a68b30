import NIOCore
import NIOPosix

/// A service that publishes its keys a byte at a time: each answer goes on for as long as somebody reads.
final class DrippingKeys: Sendable {
    private let channel: any Channel

    private init(channel: any Channel) { self.channel = channel }

    static func start(port: Int) async throws -> DrippingKeys {
        let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(ChannelOptions.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Drip())
                }
            }
        return DrippingKeys(channel: try await bootstrap.bind(host: "127.0.0.1", port: port).get())
    }

    func stop() async { try? await channel.close().get() }

    private final class Drip: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private static let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 200000\r\n\r\n{"
        private var hasBegun = false

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard !hasBegun else { return }
            hasBegun = true
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: Self.head)), promise: nil)
            let channel = context.channel
            context.eventLoop.scheduleRepeatedTask(initialDelay: .zero, delay: .milliseconds(100)) { task in
                guard channel.isActive else { return task.cancel() }
                channel.writeAndFlush(ByteBuffer(string: " "), promise: nil)
            }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}
