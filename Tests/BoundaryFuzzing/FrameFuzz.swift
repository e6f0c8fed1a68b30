import Gateway
import MergeConformance
import NIOCore
import SeededRandom

enum FrameFuzz {
    static func run(_ bytes: [UInt8]) throws(BrokenLaw) {
        guard bytes.count > 2 else { return }
        var random = SeededGenerator(seed: UInt64(bytes[0]))
        let stream = Array(bytes.dropFirst(2))
        try checkCuts(of: stream, limit: Int(bytes[1]) * 4, &random)
        try checkWhole(stream, &random)
    }

    /// However the stream arrives, it means the same.
    private static func checkCuts(
        of stream: [UInt8], limit: Int, _ random: inout SeededGenerator
    ) throws(BrokenLaw) {
        let atOnce = try events(of: [stream], limit: limit)
        var pieces: [[UInt8]] = []
        var rest = stream[...]
        while !rest.isEmpty {
            let piece = rest.prefix(1 + random.below(9))
            pieces.append(Array(piece))
            rest = rest.dropFirst(piece.count)
        }
        try BrokenLaw.check(
            try events(of: pieces, limit: limit) == atOnce, "cut into pieces the stream has other messages")
        for case .message(let message) in atOnce {
            try BrokenLaw.check(message.readableBytes <= limit, "a message is larger than the limit")
        }
        for case .tooLarge(let prefix, let size) in atOnce {
            try BrokenLaw.check(
                size > limit && prefix.readableBytes <= FrameDecoder.prefixBytes, "too much is kept of a large message")
        }
    }

    /// What a client writes by the rules arrives whole: the stream, as messages in fragments with pings between them.
    private static func checkWhole(_ stream: [UInt8], _ random: inout SeededGenerator) throws(BrokenLaw) {
        var wire: [UInt8] = []
        var expected: [FrameEvent] = []
        var rest = stream[...]
        while !rest.isEmpty {
            let message = rest.prefix(1 + random.below(600))
            rest = rest.dropFirst(message.count)
            var content = message
            var isFirst = true
            repeat {
                let fragment = content.prefix(random.below(200))
                content = content.dropFirst(fragment.count)
                wire += frame(isFirst ? 0x2 : 0x0, isLast: content.isEmpty, fragment, &random)
                isFirst = false
                if content.isEmpty { expected.append(.message(ByteBuffer(bytes: message))) }
                if random.below(4) == 0 {
                    wire += frame(0x9, isLast: true, message.prefix(5), &random)
                    expected.append(.ping(ByteBuffer(bytes: message.prefix(5))))
                }
            } while !content.isEmpty
        }
        let found = try events(of: [wire], limit: stream.count)
        try BrokenLaw.check(found == expected, "a client's messages do not arrive as they were sent")
    }

    private static func frame(
        _ opcode: UInt8, isLast: Bool, _ payload: ArraySlice<UInt8>, _ random: inout SeededGenerator
    ) -> [UInt8] {
        var frame: [UInt8] = [opcode | (isLast ? 0x80 : 0)]
        if payload.count < 126 {
            frame.append(0x80 | UInt8(payload.count))
        } else {
            frame += [0x80 | 126, UInt8(payload.count >> 8), UInt8(payload.count & 0xff)]
        }
        let mask = (0..<4).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        frame += mask
        frame += zip(payload, 0...).map { $0 ^ mask[$1 & 3] }
        return frame
    }

    private static func events(of pieces: [[UInt8]], limit: Int) throws(BrokenLaw) -> [FrameEvent] {
        var decoder = FrameDecoder(maxMessageBytes: limit)
        var buffer = ByteBuffer()
        var events: [FrameEvent] = []
        var steps = 0
        let most = 64 + 4 * pieces.reduce(0) { $0 + $1.count }
        for piece in pieces {
            buffer.writeBytes(piece)
            while let (_, event) = decoder.step(&buffer) {
                if let event { events.append(event) }
                steps += 1
                try BrokenLaw.check(steps < most, "the decoder does not come to an end")
            }
        }
        return events
    }
}
