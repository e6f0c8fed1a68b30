package import NIOCore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The first handler of every socket: acknowledges TCP segments at once, and ends sockets that never send a request.
///
/// Stock clients leave Nagle's algorithm on, so the second of two small messages waits for our acknowledgement, 40 ms
/// when it is delayed. Linux forgets TCP_QUICKACK, so it is set again after every read.
package final class SocketGuard: ChannelInboundHandler {
    package typealias InboundIn = ByteBuffer
    package typealias InboundOut = ByteBuffer

    private let firstRequest: TimeAmount
    private var timer: Scheduled<Void>?
    private var isSettled = false

    package init(firstRequest: Duration) { self.firstRequest = TimeAmount(firstRequest) }

    package func handlerAdded(context: ChannelHandlerContext) {
        let channel = context.channel
        timer = context.eventLoop.scheduleTask(in: firstRequest) { channel.close(promise: nil) }
        Self.acknowledgeAtOnce(context)
    }

    /// The first request has come; from here on others watch the socket.
    package func settle() {
        isSettled = true
        timer?.cancel()
        timer = nil
    }

    package func channelReadComplete(context: ChannelHandlerContext) {
        Self.acknowledgeAtOnce(context)
        context.fireChannelReadComplete()
    }

    package func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        timer = nil
        context.fireChannelInactive()
    }

    package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if !isSettled, event is ChannelShouldQuiesceEvent { context.close(promise: nil) }
        context.fireUserInboundEventTriggered(event)
    }

    private static func acknowledgeAtOnce(_ context: ChannelHandlerContext) {
        #if os(Linux)
        // 12 is TCP_QUICKACK.
        let option = ChannelOptions.Types.SocketOption(
            level: .init(rawValue: CInt(IPPROTO_TCP)), name: .init(rawValue: 12))
        try? context.channel.syncOptions?.setOption(option, value: 1)
        #endif
    }
}
