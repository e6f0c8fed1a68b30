import NIOCore
import NIOPosix

/// A TCP connection to a port of this machine, whose bytes a test or an attack writes and reads as they are.
package final class TCPSocket: Sendable {
    /// What comes, in pieces; ends with the connection.
    package let received: AsyncStream<[UInt8]>
    private let channel: any Channel

    private init(channel: any Channel, received: AsyncStream<[UInt8]>) {
        self.channel = channel
        self.received = received
    }

    /// - Parameters:
    ///   - source: the address that the server sees; one of 127.0.0.0/8, all of which are this machine on Linux.
    ///   - receiveBuffer: bytes that the kernel takes on behalf of a client that does not read; its own choice if nil.
    package static func connect(
        port: Int, from source: String? = nil, receiveBuffer: Int? = nil
    ) async throws -> TCPSocket {
        let (stream, continuation) = AsyncStream.makeStream(of: [UInt8].self)
        var bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(ChannelOptions.socketOption(.tcp_nodelay), value: 1)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Forwarder(continuation))
                }
            }
        if let receiveBuffer {
            bootstrap = bootstrap.channelOption(
                ChannelOptions.socketOption(.so_rcvbuf), value: SocketOptionValue(receiveBuffer))
        }
        if let source { bootstrap = bootstrap.bind(to: try SocketAddress(ipAddress: source, port: 0)) }
        let channel = try await bootstrap.connect(host: "127.0.0.1", port: port).get()
        return TCPSocket(channel: channel, received: stream)
    }

    /// What one actor writes in some order goes out in that order.
    package func write(_ bytes: [UInt8], isolation: isolated (any Actor)? = #isolation) async throws {
        let written = channel.eventLoop.makePromise(of: Void.self)
        channel.writeAndFlush(ByteBuffer(bytes: bytes), promise: written)
        try await written.futureResult.get()
    }

    /// Leaves what comes with the kernel, whose buffers fill, until it is called again.
    package func setReading(_ reads: Bool) async throws {
        try await channel.setOption(ChannelOptions.autoRead, value: reads).get()
    }

    /// What a process that quits leaves: no close frame, no UNBIND.
    package func close() async { try? await channel.close().get() }

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
