import Changesets
import ExtendedJSON
import SeededRandom
import TestSupport
import Testing

@Suite struct BSONTests {
    /// The examples of bsonspec.org.
    @Test func examplesOfTheSpecificationAreReadAndWritten() throws {
        let hello: [UInt8] = [0x16, 0, 0, 0, 0x02] + Array("hello\0".utf8) + [6, 0, 0, 0] + Array("world\0\0".utf8)
        expectEqual(try BSONReader.document(hello), ["hello": "world"])
        expectEqual(try BSONWriter.bytes(of: ["hello": "world"]), hello)
        let array: [UInt8] =
            [0x31, 0, 0, 0, 0x04] + Array("BSON\0".utf8) + [0x26, 0, 0, 0, 0x02] + Array("0\0".utf8) + [8, 0, 0, 0]
            + Array("awesome\0".utf8) + [0x01] + Array("1\0".utf8)
            + [0x33, 0x33, 0x33, 0x33, 0x33, 0x33, 0x14, 0x40, 0x10] + Array("2\0".utf8) + [0xC2, 7, 0, 0, 0, 0]
        expectEqual(try BSONReader.document(array), ["BSON": ["awesome", 5.05, 1986]])
        expectEqual(try BSONWriter.bytes(of: ["BSON": ["awesome", 5.05, 1986]]), array)
    }

    @Test(arguments: 0..<40 as Range<UInt64>) func whatIsWrittenIsReadAsItWas(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var count = 0
        for _ in 0..<50 {
            let document: BSONDocument = ["value": RandomBSON.value(&random, depth: 4)]
            // A key with a zero byte cannot be written.
            guard let bytes = try? BSONWriter.bytes(of: document) else { continue }
            expectEqual(try BSONReader.document(bytes), document)
            count += 1
        }
        expectTrue(count > 25, "\(count)")
    }

    /// Bytes that are damaged are read as something else or refused, and nothing worse.
    @Test(arguments: 0..<40 as Range<UInt64>) func damagedBytesAreReadOrRefused(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<50 {
            let document: BSONDocument = ["value": RandomBSON.value(&random, depth: 3), "n": 1]
            guard var bytes = try? BSONWriter.bytes(of: document) else { continue }
            for _ in 0...random.below(3) { bytes[random.below(bytes.count)] = UInt8(truncatingIfNeeded: random.next()) }
            if random.below(3) == 0 { bytes.removeLast(1 + random.below(bytes.count - 1)) }
            guard let read = try? BSONReader.document(bytes) else { continue }
            _ = try BSONWriter.bytes(of: read)
        }
    }

    private func refusal(_ bytes: [UInt8]) -> String {
        do throws(ExtendedJSONError) {
            return "read as \(try BSONReader.document(bytes))"
        } catch {
            return "\(error)"
        }
    }

    @Test func refusalsNameThePlaceAndWhatWasExpected() {
        expectEqual(refusal([5, 0, 0]), "expected 4 bytes, came the end after 3 at byte 0")
        expectEqual(refusal([9, 0, 0, 0, 0]), "expected a document of 5 to 5 bytes, came a length of 9 at byte 4")
        expectEqual(refusal([5, 0, 0, 0, 0, 1]), "expected the end, came 1 more bytes at byte 5")
        expectEqual(
            refusal([8, 0, 0, 0, 0x0D, UInt8(ascii: "a"), 0, 0]),
            "a: expected a value of a realm, came JavaScript code at byte 7")
        expectEqual(
            refusal([14, 0, 0, 0, 0x02, UInt8(ascii: "a"), 0, 2, 0, 0, 0, 0xFF, 0, 0]),
            "a: expected text in UTF-8 at byte 13")
        expectEqual(
            refusal([15, 0, 0, 0, 0x02, UInt8(ascii: "a"), 0, 200, 0, 0, 0, 0x41, 0, 0, 0]),
            "a: expected a string of at most 3 bytes, came a length of 200 at byte 11")
        expectEqual(
            refusal([11, 0, 0, 0, 0x0A, UInt8(ascii: "a"), 0, 0x0A, UInt8(ascii: "a"), 0, 0]),
            "a: the key stands twice at byte 8")
        // An array in an array, and so on: no depth of the bytes is a depth of our calls.
        var deep: [UInt8] = [5, 0, 0, 0, 0]
        for _ in 0..<200 {
            let length = UInt32(deep.count + 8)
            deep = withUnsafeBytes(of: length.littleEndian) { Array($0) } + [0x04, UInt8(ascii: "a"), 0] + deep + [0]
        }
        expectTrue(refusal(deep).contains("nested at most 128 deep"), "\(refusal(deep))")
    }

    @Test func keysThatBSONCannotSayAreRefused() {
        #expect(throws: ExtendedJSONError.self) { try BSONWriter.bytes(of: ["a": ["x\0y": 1]]) }
    }
}
