package import NIOCore
package import NIOHTTPTypes

/// Reads to its end, unheeded and within bounds, what a client still sends of a request that has been answered already.
///
/// An answer can be given before the request's body has come: a wrong token, a path that is not there. Without this handler a
/// connection that the request wants closed was read no further, so that neither the body's end nor the client's leaving was
/// noticed: the socket and some 400 KB of body stayed until the idle timeout. Closed at once, the bytes that are under way would
/// make the system reset the connection, and the client might lose the answer.
package final class AnsweredRequest: ChannelDuplexHandler, RemovableChannelHandler {
    package typealias InboundIn = HTTPRequestPart
    package typealias InboundOut = HTTPRequestPart
    package typealias OutboundIn = HTTPResponsePart
    package typealias OutboundOut = HTTPResponsePart

    /// What may still come of a body before its connection is closed.
    struct Bounds {
        var bytes = 1 << 20
        var time = TimeAmount.seconds(2)
    }

    private let bounds: Bounds
    /// Requests whose end has not come yet: 0 or 1.
    private var isReading = false
    /// Requests that have come and are not answered to their end.
    private var unanswered = 0
    /// The bytes of a request's body that have come after its answer.
    private var unheeded = 0
    /// Our side is closed, and nothing behind this handler is told of anything any more.
    private var isLeaving = false
    private var timer: Scheduled<Void>?

    package convenience init() { self.init(Bounds()) }

    init(_ bounds: Bounds) { self.bounds = bounds }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head:
            isReading = true
            unanswered += 1
            unheeded = 0
        case .body(let bytes):
            if unanswered == 0 { unheeded += bytes.readableBytes }
        case .end:
            isReading = false
            if isLeaving, unanswered == 0 { return context.close(promise: nil) }
        }
        guard unheeded <= bounds.bytes else { return context.close(promise: nil) }
        if !isLeaving { context.fireChannelRead(data) }
    }

    package func channelReadComplete(context: ChannelHandlerContext) {
        if isLeaving { context.read() } else { context.fireChannelReadComplete() }
    }

    package func read(context: ChannelHandlerContext) {
        // The handlers behind this one, which may hold reads back, are told of nothing any more.
        if !isLeaving { context.read() }
    }

    package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .end = unwrapOutboundIn(data), unanswered > 0 { unanswered -= 1 }
        context.write(data, promise: promise)
    }

    package func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        guard mode == .output, !isLeaving else { return context.close(mode: mode, promise: promise) }
        isLeaving = true
        let sent = promise ?? context.eventLoop.makePromise(of: Void.self)
        // Fulfilled when the answer has gone out; what the client has sent by then is looked at no sooner.
        sent.futureResult.assumeIsolated().whenComplete { [self] outcome in
            guard case .success = outcome, isReading else { return context.close(promise: nil) }
            timer = context.eventLoop.assumeIsolated().scheduleTask(in: bounds.time) { context.close(promise: nil) }
        }
        context.close(mode: .output, promise: sent)
        context.read()
    }

    package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if isLeaving, let event = event as? ChannelEvent, event == .inputClosed {
            return context.close(promise: nil)
        }
        context.fireUserInboundEventTriggered(event)
    }

    package func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        timer = nil
        context.fireChannelInactive()
    }
}
