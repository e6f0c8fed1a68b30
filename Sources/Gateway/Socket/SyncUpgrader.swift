import Crypto
import Foundation
import NIOCore
import NIOHTTP1
import Synchronization

/// The WebSocket handshake (RFC 6455 4.2.2) for one socket, once `decide` lets it in.
final class SyncUpgrader: NIOTypedHTTPServerProtocolUpgrader {
    typealias UpgradeResult = AcceptedSocket

    struct Refused: Error {}

    let supportedProtocol = "websocket"
    let requiredUpgradeHeaders: [String] = []
    private let timings: GatewayTimings
    private let maxMessageBytes: Int
    private let decide: @Sendable (HTTPRequestHead, String) async -> UpgradeDecision
    private let settle: @Sendable () -> Void
    /// On its way from the first callback to the second.
    private let accepted = Mutex<SyncUpgrade?>(nil)

    init(
        timings: GatewayTimings, maxMessageBytes: Int,
        decide: @escaping @Sendable (HTTPRequestHead, String) async -> UpgradeDecision,
        settle: @escaping @Sendable () -> Void
    ) {
        self.timings = timings
        self.maxMessageBytes = maxMessageBytes
        self.decide = decide
        self.settle = settle
    }

    func buildUpgradeResponse(
        channel: any Channel, upgradeRequest: HTTPRequestHead, initialResponseHeaders: HTTPHeaders
    ) -> EventLoopFuture<HTTPHeaders> {
        settle()
        guard let accept = Self.acceptValue(for: upgradeRequest) else {
            return channel.eventLoop.makeFailedFuture(Refused())
        }
        let address = channel.remoteAddress?.ipAddress ?? "local"
        return channel.eventLoop.makeFutureWithTask {
            guard case .accept(let upgrade) = await self.decide(upgradeRequest, address) else { throw Refused() }
            self.accepted.withLock { $0 = upgrade }
            return HTTPHeaders([
                ("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Accept", accept),
                ("Sec-WebSocket-Protocol", upgrade.subprotocol), ("X-Appservices-Request-Id", upgrade.connectionID),
            ])
        }
    }

    func upgrade(channel: any Channel, upgradeRequest: HTTPRequestHead) -> EventLoopFuture<AcceptedSocket> {
        channel.eventLoop.makeCompletedFuture {
            guard let upgrade = accepted.withLock({ $0 }) else { throw Refused() }
            try channel.pipeline.syncOperations.addHandler(
                ByteToMessageHandler(FrameDecoder(maxMessageBytes: maxMessageBytes)))
            try channel.pipeline.syncOperations.addHandler(SocketHandler(closing: timings.closing))
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
