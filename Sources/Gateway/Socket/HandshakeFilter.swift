import NIOCore
import NIOHTTP1

/// Lets only whole WebSocket handshakes for sync look like upgrades to the upgrade handler behind it.
///
/// Everything else that names an upgrade (`h2c`, as curl offers it, or half a handshake) is an ordinary request, and
/// NIO's handler would lose it: it keeps a request's head only if no upgrade is asked for.
final class HandshakeFilter: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private var hasHead = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        hasHead = true
        guard case .head(var head) = Self.unwrapInboundIn(data), head.headers.contains(name: "Upgrade") else {
            return context.fireChannelRead(data)
        }
        let protocols = head.headers[canonicalForm: "Upgrade"].map { $0.lowercased() }
        if protocols != ["websocket"] || SyncUpgrader.acceptValue(for: head) == nil
            || UpgradeGate.app(in: head.uri) == nil
        {
            head.headers.remove(name: "Upgrade")
        }
        context.fireChannelRead(Self.wrapInboundOut(.head(head)))
    }

    /// Answers input that is not HTTP from its first byte: no handler behind this one would.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard !hasHead else { return context.fireErrorCaught(error) }
        hasHead = true
        let head = HTTPResponseHead(
            version: .http1_1, status: .badRequest, headers: ["Content-Length": "0", "Connection": "close"])
        context.write(Self.wrapOutboundOut(.head(head)), promise: nil)
        context.writeAndFlush(Self.wrapOutboundOut(.end(nil)), promise: nil)
        context.close(promise: nil)
    }
}
