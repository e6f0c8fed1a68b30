package import HummingbirdCore
import Logging
import NIOCore
import NIOSSL

/// A child channel behind TLS, each connection with the certificate that is the newest when it comes.
struct SecuredChannel<Base: ServerChildChannel>: ServerChildChannel {
    let base: Base
    let identity: ServerIdentity

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Base.Value> {
        channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: identity.context))
        }.flatMap { base.setup(channel: channel, logger: logger) }
    }

    func handle(value: Base.Value, logger: Logger) async { await base.handle(value: value, logger: logger) }
}

extension HTTPServerBuilder {
    /// HTTP/1.1, behind TLS if there is an identity to prove.
    package static func http1(tls identity: ServerIdentity?) -> HTTPServerBuilder {
        HTTPServerBuilder { responder in
            let plain = HTTP1Channel(responder: responder)
            guard let identity else { return plain }
            return SecuredChannel(base: plain, identity: identity)
        }
    }
}
