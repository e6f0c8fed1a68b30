import Logging
import NIOCore
import Operations
import Synchronization

/// The address that a socket belongs to: its peer's, or the one that a trusted proxy announced before the first byte.
final class SocketPeer: Sendable {
    private let held: Mutex<IPAddress?>

    init(_ address: SocketAddress?) { held = Mutex(address?.ipAddress.flatMap { IPAddress($0) }) }

    var address: IPAddress? { held.withLock { $0 } }

    func announce(_ address: IPAddress) { held.withLock { $0 = address } }
}

/// Takes the PROXY header off the beginning of a socket whose peer is a trusted proxy, and notes whom it announces.
///
/// A socket that begins with anything else is closed: a proxy that is set up to announce its clients never leaves the
/// header out, and guessing would let a client write its own.
final class ProxyHeaderHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private enum State {
        case waiting(ByteBuffer)
        case passing
        case refused
    }

    private let peer: SocketPeer
    private let logger: Logger
    private var state = State.waiting(ByteBuffer())

    init(peer: SocketPeer, logger: Logger) {
        self.peer = peer
        self.logger = logger
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch state {
        case .passing: context.fireChannelRead(data)
        case .refused: break
        case .waiting(var bytes):
            var read = Self.unwrapInboundIn(data)
            bytes.writeBuffer(&read)
            take(bytes, context)
        }
    }

    private func take(_ bytes: ByteBuffer, _ context: ChannelHandlerContext) {
        do {
            guard let header = try ProxyHeader.read(bytes.readableBytesView) else { return state = .waiting(bytes) }
            state = .passing
            if let source = header.source { peer.announce(source) }
            var rest = bytes
            rest.moveReaderIndex(forwardBy: header.length)
            if rest.readableBytes > 0 { context.fireChannelRead(Self.wrapInboundOut(rest)) }
        } catch {
            state = .refused
            logger.warning(
                "a proxy did not announce its client",
                metadata: ["proxy": "\(peer.address?.description ?? "")", "reason": "\(error.reason)"])
            context.close(promise: nil)
        }
    }
}
