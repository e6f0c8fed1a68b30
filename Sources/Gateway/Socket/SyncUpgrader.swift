import Crypto
import Foundation
import HTTPTypes
import NIOCore
import NIOHTTP1
import SyncModel
import SyncProtocol
import Synchronization

/// The WebSocket handshake (RFC 6455 4.2.2) for one socket, once `decide` lets it in.
final class SyncUpgrader: NIOTypedHTTPServerProtocolUpgrader {
    typealias UpgradeResult = AcceptedSocket

    struct Refused: Error {}

    let supportedProtocol = "websocket"
    let requiredUpgradeHeaders: [String] = []
    private let listener: SyncChildChannel
    private let peer: SocketPeer
    private let settle: @Sendable () -> Void
    /// The accepted upgrade, on its way from the first callback to the second.
    private let accepted = Mutex<SyncUpgrade?>(nil)

    init(_ listener: SyncChildChannel, peer: SocketPeer, settle: @escaping @Sendable () -> Void) {
        self.listener = listener
        self.peer = peer
        self.settle = settle
    }

    func buildUpgradeResponse(
        channel: any Channel, upgradeRequest: HTTPRequestHead, initialResponseHeaders: HTTPHeaders
    ) -> EventLoopFuture<HTTPHeaders> {
        settle()
        let accept = Self.acceptValue(for: upgradeRequest) ?? ""
        let address = ClientAddress(
            peer: peer.address, forwardedFor: upgradeRequest.headers["X-Forwarded-For"],
            trusting: listener.proxies.trusted)
        let decided = channel.eventLoop.makePromise(of: UpgradeDecision.self)
        // Behind what sessions have to do: whoever opens sockets as fast as they are accepted must not slow down those who work.
        Task(priority: .utility) {
            decided.succeed(
                await self.listener.gate.decide(
                    uri: upgradeRequest.uri, subprotocols: upgradeRequest.headers["Sec-WebSocket-Protocol"],
                    compatibilities: upgradeRequest.headers[LogMessage.compatibilityHeader],
                    userAgent: upgradeRequest.headers.first(name: "User-Agent"), address: address))
        }
        return decided.futureResult.flatMap { decision in
            switch decision {
            case .accept(let upgrade):
                self.accepted.withLock { $0 = upgrade }
                return channel.eventLoop.makeSucceededFuture(
                    HTTPHeaders([
                        ("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Accept", accept),
                        ("Sec-WebSocket-Protocol", upgrade.subprotocol),
                        ("X-Appservices-Request-Id", upgrade.connectionID),
                    ]))
            case .refuse(let error):
                return self.refuse(error, upgradeRequest, channel).flatMapThrowing { throw Refused() }
            }
        }
    }

    /// Answers over HTTP and ends the socket: NIO's upgrade handler has let go of the request by now, so that no
    /// handler behind it can.
    private func refuse(_ error: APIError, _ request: HTTPRequestHead, _ channel: any Channel) -> EventLoopFuture<Void>
    {
        let body = error.body(
            origin: listener.origin(), app: UpgradeGate.app(in: request.uri),
            request: ObjectID.hex(.random(in: 0 ... .max), digits: 16))
        var head = HTTPResponseHead(
            version: .http1_1, status: HTTPResponseStatus(statusCode: error.status.code),
            headers: [
                "Content-Type": "application/json", "Content-Length": "\(body.readableBytes)",
                "Cache-Control": "no-store", "Connection": "close",
            ])
        if let seconds = error.retryAfter { head.headers.add(name: "Retry-After", value: "\(seconds)") }
        let pipeline = channel.pipeline.syncOperations
        pipeline.write(NIOAny(HTTPServerResponsePart.head(head)), promise: nil)
        pipeline.write(NIOAny(HTTPServerResponsePart.body(.byteBuffer(body))), promise: nil)
        return pipeline.writeAndFlush(NIOAny(HTTPServerResponsePart.end(nil))).map {
            channel.close(mode: .output, promise: nil)
            let closing = TimeAmount(self.listener.timings.closing)
            channel.eventLoop.scheduleTask(in: closing) { channel.close(promise: nil) }
        }
    }

    func upgrade(channel: any Channel, upgradeRequest: HTTPRequestHead) -> EventLoopFuture<AcceptedSocket> {
        channel.eventLoop.makeCompletedFuture {
            guard let upgrade = accepted.withLock({ $0 }) else { throw Refused() }
            try channel.pipeline.syncOperations.addHandler(
                ByteToMessageHandler(FrameDecoder(maxMessageBytes: listener.maxMessageBytes)))
            try channel.pipeline.syncOperations.addHandler(SocketHandler(closing: listener.timings.closing))
            // Few messages ahead: one may be 16 MiB.
            let socket = try SyncSocket(
                wrappingChannelSynchronously: channel,
                configuration: .init(
                    backPressureStrategy: .init(lowWatermark: 1, highWatermark: 4), isOutboundHalfClosureEnabled: false)
            )
            return .sync(socket, upgrade)
        }
    }

    /// Nil if this is no WebSocket handshake of version 13.
    static func acceptValue(for request: HTTPRequestHead) -> String? {
        let keys = request.headers["Sec-WebSocket-Key"]
        guard request.method == .GET, keys.count == 1, let key = keys.first,
            Data(base64Encoded: key.trimmingCharacters(in: .whitespaces))?.count == 16,
            request.headers["Sec-WebSocket-Version"] == ["13"]
        else { return nil }
        let text = key.trimmingCharacters(in: .whitespaces) + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        return Data(Insecure.SHA1.hash(data: Data(text.utf8))).base64EncodedString()
    }
}
