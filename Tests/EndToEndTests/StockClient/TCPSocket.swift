import NIOCore
import NIOPosix

/// A TCP connection whose bytes a test writes and reads as they are.
final class TCPSocket: Sendable {
    /// What comes, in pieces; ends with the connection.
    let received: AsyncStream<[UInt8]>
    private let channel: any Channel

    private init(channel: any Channel, received: AsyncStream<[UInt8]>) {
        self.channel = channel
        self.received = received
    }

    static func connect(port: Int) async throws -> TCPSocket {
        let (stream, continuation) = AsyncStream.makeStream(of: [UInt8].self)
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(ChannelOptions.socketOption(.tcp_nodelay), value: 1)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Forwarder(continuation))
                }
            }
            .connect(host: "127.0.0.1", port: port).get()
        return TCPSocket(channel: channel, received: stream)
    }

    func write(_ bytes: [UInt8]) async throws { try await channel.writeAndFlush(ByteBuffer(bytes: bytes)).get() }

    /// What a process that quits leaves: no close frame, no UNBIND.
    func close() async { try? await channel.close().get() }

    private final class Forwarder: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        private let continuation: AsyncStream<[UInt8]>.Continuation

        init(_ continuation: AsyncStream<[UInt8]>.Continuation) { self.continuation = continuation }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            continuation.yield(Array(Self.unwrapInboundIn(data).readableBytesView))
        }

        func channelInactive(context: ChannelHandlerContext) { continuation.finish() }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}
