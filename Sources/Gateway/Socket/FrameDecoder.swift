package import NIOCore

/// What the frames of one socket add up to.
package enum FrameEvent: Sendable, Equatable {
    /// A whole binary message.
    case message(ByteBuffer)
    /// A whole binary message beyond the limit: its size, and as much of its beginning as tells what it was.
    case tooLarge(prefix: ByteBuffer, bytes: UInt64)
    case ping(ByteBuffer)
    case close(code: UInt16?)
    /// The peer broke the WebSocket rules; nothing after it is read. `code` is the close code to answer.
    case violation(code: UInt16, reason: String)
}

/// Reads the WebSocket frames of a client (RFC 6455 5): masked ones only, no extensions, no text.
///
/// Not NIO's own decoder, which knows two ends for a frame beyond its limit: to fail, or to hold all of it. A stock client
/// answers close code 1009 by resetting every realm of the socket, and must find its reset on record when it comes again, so a message
/// that is too large must cost one session and no more, and no memory: this one reads past it and keeps its beginning, which says
/// whose it was.
package struct FrameDecoder: ByteToMessageDecoder {
    package typealias InboundOut = FrameEvent

    private struct Frame {
        var isFinal: Bool
        var opcode: UInt8
        var mask: (UInt8, UInt8, UInt8, UInt8)
        var length: UInt64
        var read: UInt64 = 0
    }

    private enum State {
        case header
        case payload(Frame)
        case dead
    }

    package static let prefixBytes = 64
    /// The bytes beyond which a message is not even read past.
    static let skippableBytes: UInt64 = 256 << 20
    private static let maxFragments = 4096

    private let maxMessageBytes: UInt64
    private var state = State.header
    private var message = ByteBuffer()
    private var messageBytes: UInt64 = 0
    private var isFragmented = false
    private var fragments = 0
    private var control = ByteBuffer()

    package init(maxMessageBytes: Int) { self.maxMessageBytes = UInt64(max(0, maxMessageBytes)) }

    package mutating func decode(context: ChannelHandlerContext, buffer: inout ByteBuffer) throws -> DecodingState {
        guard let (progress, event) = step(&buffer) else { return .needMoreData }
        if let event { context.fireChannelRead(Self.wrapInboundOut(event)) }
        return progress
    }

    package mutating func decodeLast(
        context: ChannelHandlerContext, buffer: inout ByteBuffer, seenEOF: Bool
    ) throws -> DecodingState {
        while case .continue = try decode(context: context, buffer: &buffer) {}
        return .needMoreData
    }

    /// One header or as much of a payload as there is; nil if there is not enough.
    package mutating func step(_ buffer: inout ByteBuffer) -> (DecodingState, FrameEvent?)? {
        switch state {
        case .dead:
            buffer.moveReaderIndex(to: buffer.writerIndex)
            return nil
        case .header:
            do throws(Violation) {
                guard let frame = try readHeader(&buffer) else { return nil }
                state = .payload(frame)
                return (.continue, frame.length == 0 ? finish(frame) : nil)
            } catch {
                state = .dead
                message = ByteBuffer()
                return (.continue, .violation(code: error.code, reason: error.reason))
            }
        case .payload(let frame):
            return readPayload(frame, &buffer)
        }
    }

    private struct Violation: Error {
        var code: UInt16
        var reason: String
    }

    private mutating func readHeader(_ buffer: inout ByteBuffer) throws(Violation) -> Frame? {
        var peek = buffer
        guard let first: UInt8 = peek.readInteger(), let second: UInt8 = peek.readInteger() else { return nil }
        guard first & 0x70 == 0 else { throw Violation(code: 1002, reason: "reserved bits are set") }
        guard second & 0x80 != 0 else { throw Violation(code: 1002, reason: "a client's frame is not masked") }
        let opcode = first & 0x0F
        let isFinal = first & 0x80 != 0
        var length = UInt64(second & 0x7F)
        if length == 126 {
            guard let extended: UInt16 = peek.readInteger() else { return nil }
            length = UInt64(extended)
        } else if length == 127 {
            guard let extended: UInt64 = peek.readInteger() else { return nil }
            length = extended
        }
        guard let a: UInt8 = peek.readInteger(), let b: UInt8 = peek.readInteger(), let c: UInt8 = peek.readInteger(),
            let d: UInt8 = peek.readInteger()
        else { return nil }
        buffer = peek
        try check(opcode: opcode, isFinal: isFinal, length: length)
        return Frame(isFinal: isFinal, opcode: opcode, mask: (a, b, c, d), length: length)
    }

    private mutating func check(opcode: UInt8, isFinal: Bool, length: UInt64) throws(Violation) {
        switch opcode {
        case 0x1: throw Violation(code: 1003, reason: "text messages are not accepted")
        case 0x2:
            guard !isFragmented else { throw Violation(code: 1002, reason: "a message inside a message") }
            fragments = 0
        case 0x0:
            guard isFragmented else { throw Violation(code: 1002, reason: "a continuation of nothing") }
            fragments += 1
            guard fragments <= Self.maxFragments else { throw Violation(code: 1008, reason: "too many fragments") }
        case 0x8, 0x9, 0xA:
            guard isFinal, length <= 125 else { throw Violation(code: 1002, reason: "an oversized control frame") }
            return
        default: throw Violation(code: 1002, reason: "an unknown kind of frame")
        }
        guard length <= Self.skippableBytes, messageBytes <= Self.skippableBytes - length else {
            throw Violation(code: 1009, reason: "message too large")
        }
        messageBytes += length
        isFragmented = !isFinal
    }

    private mutating func readPayload(_ frame: Frame, _ buffer: inout ByteBuffer) -> (DecodingState, FrameEvent?)? {
        var frame = frame
        let wanted = Int(clamping: frame.length - frame.read)
        guard wanted > 0 else { return (.continue, finish(frame)) }
        guard var chunk = buffer.readSlice(length: min(wanted, buffer.readableBytes)), chunk.readableBytes > 0 else {
            return nil
        }
        let count = UInt64(chunk.readableBytes)
        if frame.opcode & 0x8 != 0 {
            Self.append(&chunk, to: &control, frame)
        } else if messageBytes <= maxMessageBytes {
            Self.append(&chunk, to: &message, frame)
        } else {
            keepPrefix(&chunk, frame)
        }
        frame.read += count
        state = .payload(frame)
        return (.continue, frame.read == frame.length ? finish(frame) : nil)
    }

    /// The message is beyond the limit: only its first bytes are of use, and its memory need not wait for its end.
    private mutating func keepPrefix(_ chunk: inout ByteBuffer, _ frame: Frame) {
        if message.readableBytes > Self.prefixBytes {
            message = ByteBuffer(bytes: message.readableBytesView.prefix(Self.prefixBytes))
        }
        let missing = Self.prefixBytes - message.readableBytes
        guard missing > 0, var prefix = chunk.readSlice(length: min(missing, chunk.readableBytes)) else { return }
        Self.append(&prefix, to: &message, frame)
    }

    private mutating func finish(_ frame: Frame) -> FrameEvent? {
        state = .header
        switch frame.opcode {
        case 0x8:
            defer { control.clear() }
            state = .dead
            guard frame.length != 1 else { return .violation(code: 1002, reason: "half a close code") }
            return .close(code: control.readInteger())
        case 0x9:
            defer { control = ByteBuffer() }
            return .ping(control)
        case 0xA:
            control.clear()
            return nil
        default:
            guard frame.isFinal else { return nil }
            defer {
                message = ByteBuffer()
                messageBytes = 0
            }
            return messageBytes > maxMessageBytes
                ? .tooLarge(prefix: message, bytes: messageBytes) : .message(message)
        }
    }

    /// Appends and unmasks; the mask goes on where the frame's last chunk left it.
    private static func append(_ chunk: inout ByteBuffer, to target: inout ByteBuffer, _ frame: Frame) {
        let start = target.readableBytes
        let count = chunk.readableBytes
        target.writeBuffer(&chunk)
        let key = [frame.mask.0, frame.mask.1, frame.mask.2, frame.mask.3]
        let shift = Int(frame.read % 4)
        target.withUnsafeMutableReadableBytes { bytes in
            for index in 0..<count { bytes[start + index] ^= key[(shift + index) & 3] }
        }
    }
}
