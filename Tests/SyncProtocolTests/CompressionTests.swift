import SeededRandom
import SyncModel
import TestSupport
import Testing

@testable import SyncProtocol

@Suite struct CompressionTests {
    private func upload(_ changeset: [UInt8]) -> ClientMessage {
        .upload(
            Upload(
                session: 1, progress: UploadCursor(clientVersion: 1, serverVersion: 0), lockedServerVersion: 0,
                entries: [
                    UploadedChangeset(clientVersion: 1, serverVersion: 0, timestamp: 5, changeset: changeset)
                ]))
    }

    private func message(plainSize: Int, packed: [UInt8], packedSize: Int? = nil) -> [UInt8] {
        Array("upload 1 1 \(plainSize) \(packedSize ?? packed.count) 1 0 0\n".utf8) + packed
    }

    private func code(_ bytes: [UInt8]) -> ErrorCode? {
        do {
            _ = try ClientMessageParser(mode: .partition).parse(bytes)
            return nil
        } catch {
            return error.code
        }
    }

    @Test func bodiesAbove1024BytesAreCompressedAndComeBack() throws {
        let message = upload([UInt8](repeating: 7, count: 5000))
        let bytes = try MessageEncoder(mode: .partition).encode(message)
        expectTrue(bytes.count < 200)
        expectTrue(String(decoding: bytes, as: UTF8.self).hasPrefix("upload 1 1 5013 "))
        let body = bytes.drop { $0 != 0x0A }.dropFirst()
        expectEqual(Array(body.prefix(2)), [0x78, 0x01])
        try expectEqual(ClientMessageParser(mode: .partition).parse(bytes), message)
    }

    @Test(arguments: [(1014, "upload 1 0 1024 0 "), (1015, "upload 1 1 1025 ")])
    func theThresholdIs1024Bytes(_ count: Int, _ head: String) throws {
        // "1 0 5 0 1014 " are 13 bytes: take them off.
        let bytes = try MessageEncoder(mode: .partition).encode(upload([UInt8](repeating: 7, count: count - 3)))
        expectTrue(String(decoding: bytes, as: UTF8.self).hasPrefix(head))
    }

    @Test func bodiesThatDoNotShrinkTravelPlain() throws {
        var random = SeededGenerator(seed: 3)
        let message = upload((0..<5000).map { _ in UInt8.random(in: 0...255, using: &random) })
        let bytes = try MessageEncoder(mode: .partition).encode(message)
        expectTrue(String(decoding: bytes.prefix(30), as: UTF8.self).hasPrefix("upload 1 0 5013 0 "))
        try expectEqual(ClientMessageParser(mode: .partition).parse(bytes), message)
    }

    @Test func aBombIsRefusedBeforeItIsInflated() throws {
        let bomb = try #require(Zlib.compressIfSmaller([UInt8](repeating: 0, count: 64 << 20)))
        expectTrue(bomb.count < 1 << 20)
        // As large as it is: beyond the limit, so the session resets.
        expectEqual(code(message(plainSize: 64 << 20, packed: bomb)), .otherSessionError)
        // Lying about it: stops where the announced size ends.
        expectEqual(code(message(plainSize: 1 << 20, packed: bomb)), .badDecompression)
        expectEqual(code(message(plainSize: 0, packed: bomb)), .badDecompression)
    }

    @Test func aSizeThatNoStreamCanReachIsRefusedBeforeAllocating() {
        #expect(throws: Zlib.Failure.self) {
            try Zlib.decompress([0x78, 0x01, 0x03, 0x00, 0, 0, 0, 1], plainSize: 1 << 40)
        }
        expectEqual(
            code(message(plainSize: 16 << 20, packed: [0x78, 0x01, 0x03, 0x00, 0, 0, 0, 1])), .badDecompression)
    }

    @Test func brokenStreamsAre110() throws {
        let plain = [UInt8](repeating: 1, count: 3000)
        let packed = try #require(Zlib.compressIfSmaller(plain))
        expectEqual(code(message(plainSize: 2999, packed: packed)), .badDecompression)
        expectEqual(code(message(plainSize: 3001, packed: packed)), .badDecompression)
        expectEqual(code(message(plainSize: 3000, packed: packed + [0])), .badDecompression)
        expectEqual(code(message(plainSize: 3000, packed: [0] + packed)), .badDecompression)
        expectEqual(code(message(plainSize: 3000, packed: [])), .badDecompression)
        for count in 0..<packed.count {
            expectEqual(code(message(plainSize: 3000, packed: Array(packed.prefix(count)))), .badDecompression)
        }
        var wrongChecksum = packed
        wrongChecksum[packed.count - 1] ^= 1
        expectEqual(code(message(plainSize: 3000, packed: wrongChecksum)), .badDecompression)
        // Raw deflate, without header and checksum.
        expectEqual(code(message(plainSize: 3000, packed: Array(packed.dropFirst(2).dropLast(4)))), .badDecompression)
        // Sizes that do not fit the message.
        expectEqual(code(message(plainSize: 3000, packed: packed, packedSize: packed.count - 1)), .badSyntax)
        expectEqual(code(message(plainSize: 3000, packed: packed, packedSize: packed.count + 1)), .badSyntax)
    }

    @Test func anEmptyStreamInflatesToNothing() throws {
        try expectEqual(Zlib.decompress([0x78, 0x01, 0x03, 0x00, 0, 0, 0, 1], plainSize: 0), [])
    }
}
