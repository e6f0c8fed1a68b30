internal import NIOCore
internal import NIOSOCKS

/// Why a proxy did not let a connection through.
struct ProxyRefusal: Error, CustomStringConvertible {
    let description: String
}

extension ProxyServer {
    /// What makes a connection to the proxy one to a server behind it; the first handler of the connection.
    func tunnel(to host: String, _ port: Int) throws -> any ChannelHandler {
        switch kind {
        case .http: return HTTPTunnelHandler(to: host, port, authorization: authorization)
        case .socks:
            let address = try? SocketAddress(ipAddress: host, port: port)
            return SOCKSClientHandler(targetAddress: address.map { .address($0) } ?? .domain(host, port: port))
        }
    }
}

/// Asks a proxy to tunnel. What is written before it has agreed waits; after that, everything passes.
private final class HTTPTunnelHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private enum State { case idle, asked, open }
    private static let maxAnswerBytes = 16 * 1024

    private let request: String
    private var state = State.idle
    private var answer = ByteBuffer()
    private var waiting: [(data: NIOAny, promise: EventLoopPromise<Void>?)] = []

    init(to host: String, _ port: Int, authorization: String?) {
        let target = host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        let fields = authorization.map { "Proxy-Authorization: \($0)\r\n" } ?? ""
        request = "CONNECT \(target) HTTP/1.1\r\nHost: \(target)\r\n\(fields)\r\n"
    }

    func handlerAdded(context: ChannelHandlerContext) { ask(context) }

    func channelActive(context: ChannelHandlerContext) {
        ask(context)
        context.fireChannelActive()
    }

    private func ask(_ context: ChannelHandlerContext) {
        guard state == .idle, context.channel.isActive else { return }
        state = .asked
        context.writeAndFlush(wrapOutboundOut(context.channel.allocator.buffer(string: request)), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard state != .open else { return context.fireChannelRead(data) }
        var bytes = unwrapInboundIn(data)
        answer.writeBuffer(&bytes)
        let view = answer.readableBytesView
        guard let end = view.indices.first(where: { view[$0...].starts(with: [13, 10, 13, 10]) }) else {
            if answer.readableBytes > Self.maxAnswerBytes { refuse(context, "an answer without an end") }
            return
        }
        let head = String(decoding: view[..<end], as: UTF8.self)
        let status = head.split(separator: " ", maxSplits: 2).dropFirst().first.flatMap { Int($0) } ?? 0
        guard (200..<300).contains(status) else {
            return refuse(context, head.split(separator: "\r\n").first.map { String($0) } ?? "")
        }
        state = .open
        let rest = answer.getSlice(at: end + 4, length: view.endIndex - end - 4)
        for write in waiting { context.write(write.data, promise: write.promise) }
        waiting = []
        context.flush()
        if let rest, rest.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(rest)) }
    }

    private func refuse(_ context: ChannelHandlerContext, _ reason: String) {
        context.fireErrorCaught(ProxyRefusal(description: "the proxy refused: \(reason)"))
        context.close(promise: nil)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if state == .open { context.write(data, promise: promise) } else { waiting.append((data, promise)) }
    }

    func flush(context: ChannelHandlerContext) { if state == .open { context.flush() } }

    func channelInactive(context: ChannelHandlerContext) {
        for write in waiting { write.promise?.fail(ChannelError.ioOnClosedChannel) }
        waiting = []
        context.fireChannelInactive()
    }
}
