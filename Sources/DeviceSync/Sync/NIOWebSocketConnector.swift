internal import Foundation
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOSSL
internal import NIOWebSocket
internal import SyncProtocol
internal import Synchronization

/// WebSockets over SwiftNIO, with TLS for `wss`.
struct NIOWebSocketConnector: WebSocketConnecting {
    /// A PEM file of authorities that are trusted beside the system's.
    var authorities: String?
    /// The proxy for an address.
    var proxy: @Sendable (_ url: String) -> ProxyServer? = { _ in nil }
    private let group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton
    /// One frame; a message may have several.
    private static let maxFrameBytes = 1 << 24 | 1 << 16

    func connect(
        _ request: WebSocketRequest, _ events: @escaping @Sendable (WebSocketEvent) -> Void
    ) -> any WebSocketChannel {
        let sink = WebSocketSink(events: events)
        guard let target = Target(request) else {
            sink.end(.unreachable)
            return sink
        }
        let timeout = TimeAmount.milliseconds(Int64(clamping: request.connectTimeoutMS))
        let loop = group.next()
        let bootstrap = ClientBootstrap(group: loop).connectTimeout(timeout)
            .channelOption(.socketOption(.so_keepalive), value: 1)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
        let proxy = proxy(request.url)
        let upgraded = loop.makePromise(of: Void.self)
        let deadline = loop.scheduleTask(in: timeout) { sink.end(.unreachable) }
        bootstrap.channelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                if let proxy {
                    try channel.pipeline.syncOperations.addHandler(proxy.tunnel(to: target.host, target.port))
                }
                try configure(channel, target, request, sink).cascade(to: upgraded)
            }
        }.connect(host: proxy?.host ?? target.host, port: proxy?.port ?? target.port).whenFailure { upgraded.fail($0) }
        upgraded.futureResult.whenComplete { result in
            deadline.cancel()
            if case .failure(let error) = result { sink.end(Self.end(error)) }
        }
        return sink
    }

    private static func end(_ error: any Error) -> ConnectionEnd {
        if error is NIOSSLError || error is BoringSSLError { return .tlsFailure }
        if error is HTTPParserError || error is NIOHTTPClientUpgradeError { return .malformedResponse }
        return .unreachable
    }

    private func configure(
        _ channel: any Channel, _ target: Target, _ request: WebSocketRequest, _ sink: WebSocketSink
    ) throws -> EventLoopFuture<Void> {
        sink.attach(channel)
        if target.isSecure {
            var configuration = TLSConfiguration.makeClientConfiguration()
            if let authorities { configuration.additionalTrustRoots = [.file(authorities)] }
            let context = try NIOSSLContext(configuration: configuration)
            let name = Self.isAddress(target.host) ? nil : target.host
            try channel.pipeline.syncOperations.addHandler(NIOSSLClientHandler(context: context, serverHostname: name))
        }
        var head = HTTPRequestHead(version: .http1_1, method: .GET, uri: target.uri)
        head.headers.add(name: "Host", value: target.authority)
        head.headers.add(name: "Sec-WebSocket-Protocol", value: request.protocols.joined(separator: ", "))
        head.headers.add(name: "User-Agent", value: request.userAgent)
        for (name, value) in request.headers { head.headers.replaceOrAdd(name: name, value: value) }
        let upgrader = NIOTypedWebSocketClientUpgrader<Void>(
            maxFrameSize: Self.maxFrameBytes,
            upgradePipelineHandler: { channel, response in
                channel.eventLoop.makeCompletedFuture {
                    let limit = ProtocolLimits.standard.maxMessageBytes
                    try channel.pipeline.syncOperations.addHandlers([
                        NIOWebSocketFrameAggregator(
                            minNonFinalFragmentSize: 0, maxAccumulatedFrameCount: 1 << 16,
                            maxAccumulatedFrameSize: limit),
                        WebSocketFrameHandler(sink: sink),
                    ])
                    sink.emit(
                        .opened(
                            protocolToken: response.headers.first(name: "Sec-WebSocket-Protocol"),
                            requestID: response.headers.first(name: "X-Appservices-Request-Id")))
                }
            })
        let configuration = NIOTypedHTTPClientUpgradeConfiguration<Void>(
            upgradeRequestHead: head, upgraders: [upgrader],
            notUpgradingCompletionHandler: { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(RefusalHandler(sink: sink))
                }
            })
        var pipeline = NIOUpgradableHTTPClientPipelineConfiguration(upgradeConfiguration: configuration)
        // A server's first message may come in one packet with its answer to the upgrade.
        pipeline.leftOverBytesStrategy = .forwardBytes
        return try channel.pipeline.syncOperations.configureUpgradableHTTPClientPipeline(configuration: pipeline)
    }

    private static func isAddress(_ host: String) -> Bool {
        host.contains(":") || host.split(separator: ".").allSatisfy { UInt8($0) != nil }
    }

    /// The parts of a WebSocket URL.
    private struct Target {
        var host: String
        var port: Int
        var isSecure: Bool
        var uri: String
        var authority: String

        init?(_ request: WebSocketRequest) {
            guard let url = URLComponents(string: request.url), let host = url.host, !host.isEmpty,
                url.scheme == "ws" || url.scheme == "wss"
            else { return nil }
            isSecure = url.scheme == "wss"
            port = url.port ?? (isSecure ? 443 : 80)
            self.host = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
            authority = url.port.map { "\(host):\($0)" } ?? host
            let query = url.percentEncodedQuery.map { "?\($0)&" } ?? "?"
            uri =
                (url.percentEncodedPath.isEmpty ? "/" : url.percentEncodedPath) + query + "baas_at="
                + request.accessToken
        }
    }
}

/// The sending side of a socket, through which its events pass too: none comes after the end.
final class WebSocketSink: WebSocketChannel {
    private struct Contents {
        var channel: (any Channel)?
        var ended = false
        var unconsumed = 0
        var unsent = 0
    }
    private let contents = Mutex(Contents())
    private let events: @Sendable (WebSocketEvent) -> Void
    /// Reading stops while more than this many bytes wait to be worked off.
    private static let maxUnconsumedBytes = 32 * 1024 * 1024
    /// Uploading stops while more than this many bytes wait for the network: a server that is busy does not read.
    private static let maxUnsentBytes = 1024 * 1024

    init(events: @escaping @Sendable (WebSocketEvent) -> Void) { self.events = events }

    func attach(_ channel: any Channel) {
        let ended = contents.withLock { contents in
            contents.channel = channel
            return contents.ended
        }
        if ended { channel.close(promise: nil) }
    }

    func emit(_ event: WebSocketEvent) {
        guard !contents.withLock({ $0.ended }) else { return }
        if case .message(let bytes) = event {
            let channel = contents.withLock { contents -> (any Channel)? in
                contents.unconsumed += bytes.count
                return contents.unconsumed > Self.maxUnconsumedBytes ? contents.channel : nil
            }
            channel?.setOption(.autoRead, value: false).whenFailure { _ in }
        }
        events(event)
    }

    func end(_ end: ConnectionEnd) {
        let (channel, first) = contents.withLock { contents -> ((any Channel)?, Bool) in
            defer { contents.ended = true }
            return (contents.channel, !contents.ended)
        }
        guard first else { return }
        channel?.close(promise: nil)
        events(.ended(end))
    }

    func consumed(_ bytes: Int) {
        let channel = contents.withLock { contents -> (any Channel)? in
            let wasFull = contents.unconsumed > Self.maxUnconsumedBytes
            contents.unconsumed -= bytes
            return wasFull && contents.unconsumed <= Self.maxUnconsumedBytes / 2 ? contents.channel : nil
        }
        channel?.setOption(.autoRead, value: true).whenFailure { _ in }
    }

    func send(_ bytes: [UInt8]) {
        let channel = contents.withLock { contents -> (any Channel)? in
            guard !contents.ended, let channel = contents.channel else { return nil }
            contents.unsent += bytes.count
            return channel
        }
        guard let channel else { return }
        let frame = WebSocketFrame(
            fin: true, opcode: .binary, maskKey: .random(), data: channel.allocator.buffer(bytes: bytes))
        channel.writeAndFlush(frame).whenComplete { _ in self.sent(bytes.count) }
    }

    var isFull: Bool { contents.withLock { $0.unsent > Self.maxUnsentBytes } }

    private func sent(_ bytes: Int) {
        let isDrained = contents.withLock { contents in
            let wasFull = contents.unsent > Self.maxUnsentBytes
            contents.unsent -= bytes
            return wasFull && contents.unsent <= Self.maxUnsentBytes && !contents.ended
        }
        if isDrained { events(.drained) }
    }

    func close() {
        let channel = contents.withLock { contents -> (any Channel)? in
            contents.ended = true
            return contents.channel
        }
        channel?.close(promise: nil)
    }
}

/// Turns frames into events.
private final class WebSocketFrameHandler: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame
    typealias OutboundOut = WebSocketFrame
    private let sink: WebSocketSink

    init(sink: WebSocketSink) { self.sink = sink }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        switch frame.opcode {
        case .binary: sink.emit(.message(Array(frame.unmaskedData.readableBytesView)))
        case .ping:
            let pong = WebSocketFrame(fin: true, opcode: .pong, maskKey: .random(), data: frame.unmaskedData)
            context.writeAndFlush(wrapOutboundOut(pong), promise: nil)
        case .connectionClose:
            var data = frame.unmaskedData
            let code = CloseCode(rawValue: data.readInteger() ?? 1005)
            let end = ConnectionEnd.closeFrame(code)
            // A normal closure gives no reason: wait for the connection to end.
            guard end.reaction(routeIsVerified: true).action != .wait else { return }
            sink.end(end)
        default: break
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        sink.end(.lost)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { sink.end(.lost) }
}

/// Reads the status of an answer that did not upgrade.
private final class RefusalHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    private let sink: WebSocketSink

    init(sink: WebSocketSink) { self.sink = sink }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .head(let head) = unwrapInboundIn(data) { sink.end(.httpStatus(Int(head.status.code))) }
    }

    func channelInactive(context: ChannelHandlerContext) { sink.end(.lost) }
    func errorCaught(context: ChannelHandlerContext, error: any Error) { sink.end(.malformedResponse) }
}
