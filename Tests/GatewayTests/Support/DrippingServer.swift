import NIOCore
import NIOPosix

/// A server that answers each connection with the head of an HTTP answer and then byte after byte of a body that never ends.
struct DrippingServer {
    private final class Drip: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n"
            context.writeAndFlush(NIOAny(context.channel.allocator.buffer(string: head)), promise: nil)
            let channel = context.channel
            context.eventLoop.scheduleRepeatedTask(initialDelay: .zero, delay: .milliseconds(20)) { task in
                guard channel.isActive else { return task.cancel() }
                channel.writeAndFlush(channel.allocator.buffer(string: " "), promise: nil)
            }
        }
    }

    private let listener: any Channel

    init() async throws {
        listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(Drip()) }
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    var url: String { "http://127.0.0.1:\(listener.localAddress?.port ?? 0)/" }

    func stop() async throws { try await listener.close() }
}
