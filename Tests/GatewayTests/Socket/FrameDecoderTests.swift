import NIOCore
import TestSupport
import Testing

@testable import Gateway

@Suite struct FrameDecoderTests {
    private static func events(_ bytes: [UInt8], limit: Int = 1000, chunk: Int? = nil) -> [FrameEvent] {
        var decoder = FrameDecoder(maxMessageBytes: limit)
        var buffer = ByteBuffer()
        var events: [FrameEvent] = []
        var index = 0
        while index < bytes.count {
            let end = min(bytes.count, index + (chunk ?? bytes.count))
            buffer.writeBytes(bytes[index..<end])
            index = end
            while let (_, event) = decoder.step(&buffer) { if let event { events.append(event) } }
        }
        return events
    }

    @Test(arguments: [0, 1, 125, 126, 127, 65_535, 65_536, 100_000])
    func messagesOfEveryLengthComeWhole(count: Int) {
        let payload = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let frame = SyncClient.frame(0x82, payload)
        let whole = Self.events(frame, limit: 200_000)
        expectEqual(whole, [.message(ByteBuffer(bytes: payload))])
        if count < 1000 { expectEqual(Self.events(frame, chunk: 1), whole) }
        expectEqual(Self.events(frame, limit: 200_000, chunk: 1021), whole)
    }

    @Test func fragmentsAreJoinedAndPingsMayComeBetween() {
        let bytes =
            SyncClient.frame(0x02, [1, 2, 3]) + SyncClient.frame(0x89, [9]) + SyncClient.frame(0x00, [4])
            + SyncClient.frame(0x80, [5, 6]) + SyncClient.frame(0x82, [7])
        expectEqual(
            Self.events(bytes),
            [
                .ping(ByteBuffer(bytes: [9])), .message(ByteBuffer(bytes: [1, 2, 3, 4, 5, 6])),
                .message(ByteBuffer(bytes: [7])),
            ])
        expectEqual(Self.events(bytes, chunk: 1), Self.events(bytes))
    }

    @Test func aMessageThatIsTooLargeIsReadPastAndLeavesItsBeginning() {
        let payload = (0..<5000).map { UInt8(truncatingIfNeeded: $0) }
        let bytes = SyncClient.frame(0x82, payload) + SyncClient.frame(0x82, [1])
        let expected: [FrameEvent] = [
            .tooLarge(prefix: ByteBuffer(bytes: payload.prefix(64)), bytes: 5000), .message(ByteBuffer(bytes: [1])),
        ]
        expectEqual(Self.events(bytes), expected)
        expectEqual(Self.events(bytes, chunk: 7), expected)
    }

    @Test func fragmentsThatAddUpToTooMuchAreTooLarge() {
        let bytes =
            SyncClient.frame(0x02, Array(repeating: 3, count: 800))
            + SyncClient.frame(0x80, Array(repeating: 4, count: 800))
        expectEqual(
            Self.events(bytes), [.tooLarge(prefix: ByteBuffer(bytes: Array(repeating: 3, count: 64)), bytes: 1600)])
    }

    private static let hostile: [(bytes: [UInt8], code: UInt16)] = [
        (SyncClient.frame(0x81, [1]), 1003),  // text
        (SyncClient.frame(0xC2, [1]), 1002),  // a reserved bit
        (SyncClient.frame(0x83, [1]), 1002),  // unknown kind
        (SyncClient.frame(0x80, [1]), 1002),  // continues nothing
        (SyncClient.frame(0x02, [1]) + SyncClient.frame(0x82, [1]), 1002),  // a message inside a message
        (SyncClient.frame(0x09, [1]), 1002),  // a fragmented control frame
        (SyncClient.frame(0x89, Array(repeating: 1, count: 126)), 1002),  // an oversized one
        (SyncClient.frame(0x88, [3]), 1002),  // half a close code
        ([0x82, 0x01, 0x00], 1002),  // not masked
        (SyncClient.frame(0x82, [], length: 1 << 40), 1009),
        (SyncClient.frame(0x82, [], length: .max), 1009),
    ]

    @Test(arguments: hostile)
    func framesAgainstTheRulesEndTheSocket(bytes: [UInt8], code: UInt16) {
        let events = Self.events(bytes + SyncClient.frame(0x82, [5]))
        guard case .violation(let answered, _)? = events.last else {
            Issue.record("expected a violation, got \(events)")
            return
        }
        expectEqual(answered, code)
    }

    @Test func nothingIsReadAfterAClose() {
        let events = Self.events(SyncClient.frame(0x88, [0x03, 0xE9]) + SyncClient.frame(0x82, [5]))
        expectEqual(events, [.close(code: 1001)])
    }

    @Test func randomBytesNeverTrap() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<300 {
            let bytes = (0..<Int.random(in: 0...400, using: &generator)).map { _ in
                UInt8.random(in: 0...255, using: &generator)
            }
            _ = Self.events(bytes, chunk: Int.random(in: 1...50, using: &generator))
        }
    }

    /// Codes that must not be sent are no peer's to have back.
    @Test func aPeersCloseCodeIsAnsweredByOneThatMayBeSent() {
        let answers: [(UInt16?, UInt16)] = [
            (nil, 1000), (1000, 1000), (1001, 1001), (1011, 1011), (3000, 3000), (4999, 4999),
            (1005, 1002), (1006, 1002), (1015, 1002), (1004, 1002), (0, 1002), (999, 1002), (2999, 1002), (5000, 1002),
        ]
        for (code, answer) in answers { expectEqual(SocketHandler.answer(to: code), answer) }
    }
}
