import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1

typealias SyncSocket = NIOAsyncChannel<SocketInput, SocketOutput>

/// What became of an accepted socket.
enum AcceptedSocket: Sendable {
    case http(NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>)
    case sync(SyncSocket, SyncUpgrade)
}

/// One listening port for both: HTTP for accounts, and the upgrade to a WebSocket for sync.
///
/// A refused upgrade goes on as a plain HTTP request; the router's route of the same path answers it.
struct SyncChildChannel: ServerChildChannel, HTTPChannelHandler {
    struct Value: ServerChildChannelValue {
        let channel: any Channel
        let accepted: EventLoopFuture<AcceptedSocket>
    }

    let responder: HTTPChannelHandler.Responder
    let timings: GatewayTimings
    let maxMessageBytes: Int
    let decide: @Sendable (HTTPRequestHead, String) async -> UpgradeDecision
    let serve: @Sendable (SyncSocket, SyncUpgrade) async -> Void

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        channel.eventLoop.makeCompletedFuture {
            let watcher = SocketGuard(firstRequest: timings.firstRequest)
            try channel.pipeline.syncOperations.addHandler(watcher)
            let guardBound = NIOLoopBound(watcher, eventLoop: channel.eventLoop)
            let upgrader = SyncUpgrader(
                timings: timings, maxMessageBytes: maxMessageBytes, decide: decide,
                settle: { guardBound.value.settle() })
            var configuration = NIOUpgradableHTTPServerPipelineConfiguration<AcceptedSocket>(
                upgradeConfiguration: NIOTypedHTTPServerUpgradeConfiguration(
                    upgraders: [upgrader],
                    notUpgradingCompletionHandler: { channel in
                        channel.eventLoop.makeCompletedFuture {
                            guardBound.value.settle()
                            return .http(try Self.addHTTPHandlers(to: channel, timings: timings, logger: logger))
                        }
                    }))
            configuration.enablePipelining = false
            configuration.enableErrorHandling = false
            configuration.enableResponseHeaderValidation = false
            configuration.decoderConfiguration.maxHeaderFieldSize = 64 << 10
            configuration.decoderConfiguration.maxHeaderListSize = 80 << 10
            configuration.decoderConfiguration.maxHeaderFieldCount = 100
            let accepted = try channel.pipeline.syncOperations.configureUpgradableHTTPServerPipeline(
                configuration: configuration)
            return Value(channel: channel, accepted: accepted)
        }
    }

    private static func addHTTPHandlers(
        to channel: any Channel, timings: GatewayTimings, logger: Logger
    ) throws -> NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart> {
        try channel.pipeline.syncOperations.addHandler(HTTP1ToHTTPServerCodec(secure: false))
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
            // Garbage, or a peer that left: nobody to tell.
            try? await value.channel.close()
            return
        }
        switch accepted {
        case .http(let channel): await handleHTTP(asyncChannel: channel, logger: logger)
        case .sync(let channel, let upgrade): await serve(channel, upgrade)
        }
    }
}
