package import HummingbirdCore
import Logging
import NIOCore
import NIOHTTPTypes
import NIOSSL

/// A child channel that ends sockets which never send a request, behind TLS if there is an identity to prove: each connection with
/// the certificate that is the newest when it comes.
struct GuardedChannel<Base: ServerChildChannel>: ServerChildChannel {
    let base: Base
    let identity: ServerIdentity?
    let firstRequest: Duration

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Base.Value> {
        channel.eventLoop.makeCompletedFuture {
            if let identity {
                try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: identity.context))
            }
            // The guard's time begins with the socket: a handshake that does not end is no request either.
            try channel.pipeline.syncOperations.addHandler(SocketGuard(firstRequest: firstRequest))
        }.flatMap { base.setup(channel: channel, logger: logger) }
    }

    func handle(value: Base.Value, logger: Logger) async { await base.handle(value: value, logger: logger) }
}

/// Tells the socket's guard that the first request has come.
private final class FirstRequest: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart

    private var hasCome = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if !hasCome {
            hasCome = true
            try? context.pipeline.syncOperations.handler(type: SocketGuard.self).settle()
        }
        context.fireChannelRead(data)
    }
}

extension HTTPServerBuilder {
    /// HTTP/1.1, behind TLS if there is an identity to prove.
    ///
    /// - Parameter firstRequest: a socket that has sent no request by then is closed, whether it is silent or still shakes hands.
    package static func http1(
        tls identity: ServerIdentity?, firstRequest: Duration = .seconds(30)
    ) -> HTTPServerBuilder {
        HTTPServerBuilder { responder in
            let plain = HTTP1Channel(
                responder: responder,
                configuration: .init(
                    additionalChannelHandlers: [FirstRequest(), AnsweredRequest()], idleTimeout: .seconds(75)))
            return GuardedChannel(base: plain, identity: identity, firstRequest: firstRequest)
        }
    }
}
