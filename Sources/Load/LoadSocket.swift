import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import NIOWebSocket
import SyncModel
import SyncProtocol

/// Where clients find the gateway.
package struct LoadTarget: Sendable {
    let host: String
    let port: Int
    /// Nil: plain HTTP.
    let tls: NIOSSLContext?

    /// - Parameter authorities: a PEM file of authorities that are trusted beside the system's; nil: the system's only.
    package init(host: String, port: Int, isSecure: Bool, authorities: String?) throws {
        self.host = host
        self.port = port
        guard isSecure else {
            tls = nil
            return
        }
        var configuration = TLSConfiguration.makeClientConfiguration()
        if let authorities { configuration.additionalTrustRoots = [.file(authorities)] }
        tls = try NIOSSLContext(configuration: configuration)
    }

    var authority: String { "\(host.contains(":") ? "[\(host)]" : host):\(port)" }
    /// The name to be proven; nil of an address.
    var serverName: String? {
        host.contains(":") || host.split(separator: ".").allSatisfy({ UInt8($0) != nil }) ? nil : host
    }
}

/// Why a socket could not be opened.
struct LoadRefusal: Error, CustomStringConvertible {
    var description: String
}

/// A client's WebSocket.
enum LoadSocket {
    typealias Socket = NIOAsyncChannel<WebSocketFrame, WebSocketFrame>

    private enum Opened: Sendable {
        case socket(Socket)
        /// The status that the gateway has answered instead.
        case refused(EventLoopFuture<Int>)
    }

    private static let timeout = TimeAmount.seconds(30)
    private static let maxFrameBytes = 1 << 24 | 1 << 16

    static func connect(_ target: LoadTarget, app: String, mode: SyncMode, token: String) async throws -> Socket {
        let opening = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connectTimeout(timeout)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .connect(host: target.host, port: target.port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls = target.tls {
                        try channel.pipeline.syncOperations.addHandler(
                            NIOSSLClientHandler(context: tls, serverHostname: target.serverName))
                    }
                    return try upgrade(channel, head(target, app: app, mode: mode, token: token))
                }
            }
        switch try await opening.get() {
        case .socket(let socket): return socket
        case .refused(let status): throw LoadRefusal(description: "HTTP status \(try await status.get())")
        }
    }

    private static func head(
        _ target: LoadTarget, app: String, mode: SyncMode, token: String
    ) -> HTTPRequestHead {
        var head = HTTPRequestHead(
            version: .http1_1, method: .GET, uri: "/api/client/v2.0/app/\(app)/realm-sync?baas_at=\(token)")
        head.headers.add(name: "Host", value: target.authority)
        head.headers.add(
            name: "Sec-WebSocket-Protocol", value: "\(mode.subprotocolPrefix)\(ProtocolVersion.maximum.rawValue)")
        head.headers.add(name: "User-Agent", value: "sluice-load")
        return head
    }

    private static func upgrade(_ channel: any Channel, _ head: HTTPRequestHead) throws -> EventLoopFuture<Opened> {
        let upgrader = NIOTypedWebSocketClientUpgrader<Opened>(
            maxFrameSize: maxFrameBytes,
            upgradePipelineHandler: { channel, _ in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        NIOWebSocketFrameAggregator(
                            minNonFinalFragmentSize: 0, maxAccumulatedFrameCount: 1 << 16,
                            maxAccumulatedFrameSize: ProtocolLimits.standard.maxMessageBytes))
                    return .socket(try Socket(wrappingChannelSynchronously: channel))
                }
            })
        let configuration = NIOTypedHTTPClientUpgradeConfiguration<Opened>(
            upgradeRequestHead: head, upgraders: [upgrader],
            notUpgradingCompletionHandler: { channel in
                channel.eventLoop.makeCompletedFuture {
                    let status = channel.eventLoop.makePromise(of: Int.self)
                    try channel.pipeline.syncOperations.addHandler(RefusalHandler(status))
                    return .refused(status.futureResult)
                }
            })
        var pipeline = NIOUpgradableHTTPClientPipelineConfiguration(upgradeConfiguration: configuration)
        // A server's first message may come in one packet with its answer to the upgrade.
        pipeline.leftOverBytesStrategy = .forwardBytes
        return try channel.pipeline.syncOperations.configureUpgradableHTTPClientPipeline(configuration: pipeline)
    }
}

/// Takes the status of an answer that is no upgrade, and hangs up.
private final class RefusalHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    private var status: EventLoopPromise<Int>?

    init(_ status: EventLoopPromise<Int>) { self.status = status }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(let head) = unwrapInboundIn(data) else { return }
        status?.succeed(Int(head.status.code))
        status = nil
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        status?.fail(LoadRefusal(description: "the gateway closed the connection"))
        status = nil
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
