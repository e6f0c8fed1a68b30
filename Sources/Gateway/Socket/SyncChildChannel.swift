import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1
import NIOSSL
import Operations

typealias SyncSocket = NIOAsyncChannel<SocketInput, SocketOutput>

/// What became of an accepted socket.
enum AcceptedSocket: Sendable {
    case http(NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>)
    case sync(SyncSocket, SyncUpgrade)
}

/// One listening port for both: HTTP for accounts, and the upgrade to a WebSocket for sync.
struct SyncChildChannel: ServerChildChannel, HTTPChannelHandler {
    struct Value: ServerChildChannelValue {
        let channel: any Channel
        let peer: SocketPeer
        let accepted: EventLoopFuture<AcceptedSocket>
    }

    let responder: HTTPChannelHandler.Responder
    let timings: GatewayTimings
    let maxMessageBytes: Int
    let proxies: ProxySettings
    let tls: ServerIdentity?
    let gate: UpgradeGate
    let origin: @Sendable () -> String
    let serve: @Sendable (SyncSocket, SyncUpgrade) async -> Void

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        channel.eventLoop.makeCompletedFuture {
            let peer = SocketPeer(channel.remoteAddress)
            if proxies.announceClients, let proxy = peer.address, proxies.trusted.contains(proxy) {
                try channel.pipeline.syncOperations.addHandler(ProxyHeaderHandler(peer: peer, logger: logger))
            }
            if let tls {
                try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls.context))
            }
            let watcher = SocketGuard(firstRequest: timings.firstRequest)
            try channel.pipeline.syncOperations.addHandler(watcher)
            let guardBound = NIOLoopBound(watcher, eventLoop: channel.eventLoop)
            let upgrader = SyncUpgrader(self, peer: peer, settle: { guardBound.value.settle() })
            let configuration = NIOTypedHTTPServerUpgradeConfiguration<AcceptedSocket>(
                upgraders: [upgrader],
                notUpgradingCompletionHandler: { channel in
                    channel.eventLoop.makeCompletedFuture {
                        guardBound.value.settle()
                        return .http(try addHTTPHandlers(to: channel, logger: logger))
                    }
                })
            let accepted = try Self.addUpgradeHandlers(to: channel, configuration)
            return Value(channel: channel, peer: peer, accepted: accepted)
        }
    }

    private static func addUpgradeHandlers(
        to channel: any Channel, _ configuration: NIOTypedHTTPServerUpgradeConfiguration<AcceptedSocket>
    ) throws -> EventLoopFuture<AcceptedSocket> {
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldSize = 64 << 10
        limits.maxHeaderListSize = 80 << 10
        limits.maxHeaderFieldCount = 100
        let encoder = HTTPResponseEncoder()
        let decoder = ByteToMessageHandler(
            HTTPRequestDecoder(leftOverBytesStrategy: .forwardBytes, limitConfiguration: limits))
        let filter = HandshakeFilter()
        let upgrading = NIOTypedHTTPServerUpgradeHandler(
            httpEncoder: encoder, extraHTTPHandlers: [decoder, filter], upgradeConfiguration: configuration)
        try channel.pipeline.syncOperations.addHandlers([encoder, decoder, filter, upgrading])
        return upgrading.upgradeResultFuture
    }

    private func addHTTPHandlers(
        to channel: any Channel, logger: Logger
    ) throws -> NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart> {
        try channel.pipeline.syncOperations.addHandler(HTTP1ToHTTPServerCodec(secure: tls != nil))
        try channel.pipeline.syncOperations.addHandler(AnsweredRequest())
        try channel.pipeline.syncOperations.addHandler(
            HTTPConnectionStateHandler(idleTimeout: timings.idleHTTP, logger: logger))
        return try NIOAsyncChannel(
            wrappingChannelSynchronously: channel, configuration: .init(isOutboundHalfClosureEnabled: true))
    }

    func handle(value: Value, logger: Logger) async {
        let accepted: AcceptedSocket
        do {
            accepted = try await value.accepted.get()
        } catch {
            // Garbage, or a peer that left: there is no request to answer.
            try? await value.channel.close()
            return
        }
        switch accepted {
        case .http(let channel):
            await ClientAddress.$socketPeer.withValue(value.peer.address) {
                await handleHTTP(asyncChannel: channel, logger: logger)
            }
        case .sync(let channel, let upgrade): await serve(channel, upgrade)
        }
    }
}
