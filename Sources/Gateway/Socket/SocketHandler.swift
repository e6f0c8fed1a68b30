import NIOCore

/// What a connection reads.
enum SocketInput: Sendable {
    case message(ByteBuffer)
    case tooLarge(prefix: ByteBuffer, bytes: UInt64)
}

/// What a connection writes.
enum SocketOutput: Sendable {
    /// One binary message.
    case message([UInt8])
    /// Ends the socket; nothing may follow.
    case close(code: UInt16, reason: String)
    /// The same without a close frame: the client sees the end of the TCP connection.
    case hangUp
}

/// The last handler before a connection: answers control frames, writes frames, ends the socket in good order.
///
/// After a close frame the output is shut and what still comes is discarded, until the client hangs up or a deadline is
/// over: closing at once with unread input would reset the TCP connection and could take the close frame with it.
final class SocketHandler: ChannelDuplexHandler {
    typealias InboundIn = FrameEvent
    typealias InboundOut = SocketInput
    typealias OutboundIn = SocketOutput
    typealias OutboundOut = ByteBuffer

    private let closing: TimeAmount
    private var isClosing = false

    init(closing: Duration) { self.closing = TimeAmount(closing) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isClosing else { return }
        switch Self.unwrapInboundIn(data) {
        case .message(let message): context.fireChannelRead(Self.wrapInboundOut(.message(message)))
        case .tooLarge(let prefix, let bytes):
            context.fireChannelRead(Self.wrapInboundOut(.tooLarge(prefix: prefix, bytes: bytes)))
        case .ping(let payload):
            // Drop pongs while the peer does not read, so that they cannot pile up.
            guard context.channel.isWritable else { break }
            context.writeAndFlush(Self.wrapOutboundOut(Self.frame(0xA, payload)), promise: nil)
        case .close(let code): close(context, code: Self.answer(to: code), reason: "", promise: nil)
        case .violation(let code, let reason): close(context, code: code, reason: reason, promise: nil)
        }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard !isClosing else {
            promise?.fail(ChannelError.outputClosed)
            return
        }
        switch Self.unwrapOutboundIn(data) {
        case .message(let bytes):
            context.write(Self.wrapOutboundOut(Self.frame(0x2, ByteBuffer(bytes: bytes))), promise: promise)
        case .close(let code, let reason): close(context, code: code, reason: reason, promise: promise)
        case .hangUp:
            linger(context)
            promise?.succeed()
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    /// A peer's own code comes back to it, unless it is one that must not be sent (RFC 6455, 7.4).
    static func answer(to code: UInt16?) -> UInt16 {
        guard let code else { return 1000 }
        let isSendable = [1000...1003, 1007...1011, 3000...4999].contains { $0.contains(code) }
        return isSendable ? code : 1002
    }

    private func close(_ context: ChannelHandlerContext, code: UInt16, reason: String, promise: EventLoopPromise<Void>?)
    {
        var payload = ByteBuffer()
        payload.writeInteger(code)
        payload.writeString(String(decoding: reason.utf8.prefix(120), as: UTF8.self))
        context.writeAndFlush(Self.wrapOutboundOut(Self.frame(0x8, payload)), promise: promise)
        linger(context)
    }

    private func linger(_ context: ChannelHandlerContext) {
        isClosing = true
        context.flush()
        context.close(mode: .output, promise: nil)
        // Reading must go on to notice that the client hangs up, whether the connection still asks for messages or not.
        context.channel.setOption(ChannelOptions.autoRead, value: true).whenComplete { _ in }
        context.read()
        let channel = context.channel
        context.eventLoop.scheduleTask(in: closing) { channel.close(promise: nil) }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if isClosing, let event = event as? ChannelEvent, event == .inputClosed {
            context.close(promise: nil)
            return
        }
        context.fireUserInboundEventTriggered(event)
    }

    /// A server's frame: whole and unmasked.
    static func frame(_ opcode: UInt8, _ payload: ByteBuffer) -> ByteBuffer {
        var frame = ByteBuffer()
        frame.reserveCapacity(payload.readableBytes + 10)
        frame.writeInteger(0x80 | opcode)
        switch payload.readableBytes {
        case 0...125: frame.writeInteger(UInt8(payload.readableBytes))
        case 126...0xFFFF:
            frame.writeInteger(UInt8(126))
            frame.writeInteger(UInt16(payload.readableBytes))
        default:
            frame.writeInteger(UInt8(127))
            frame.writeInteger(UInt64(payload.readableBytes))
        }
        frame.writeImmutableBuffer(payload)
        return frame
    }
}
