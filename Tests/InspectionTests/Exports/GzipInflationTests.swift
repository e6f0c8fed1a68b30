import Foundation
import Inspection
import Rules
import TestSupport
import Testing

@Suite struct GzipInflationTests {
    /// Two parts, one behind the other, as `cat` makes of two files.
    static let parts = "H4sIAAAAAAACA8tIzcnJVwAA9vmB7QYAAAAfiwgAAAAAAAIDK84pzUxO5QIAWg4I+gcAAAA="
    /// A million zero bytes.
    static let zeros =
        "H4sIAAAAAAACA+3BAQEAAACCIP+vbkhAAQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        + "AAAArwaey3kSQEIPAA=="

    private func inflated(_ packed: [UInt8], pieces: Int) throws -> [UInt8] {
        let inflation = try GzipInflation()
        var plain: [UInt8] = []
        for start in stride(from: 0, to: packed.count, by: pieces) {
            inflation.add(Array(packed[start..<min(packed.count, start + pieces)]))
            while let piece = try inflation.next() {
                expectTrue(piece.count <= 1 << 18)
                plain += piece
            }
        }
        try inflation.finish()
        return plain
    }

    @Test(arguments: [1, 7, 100, 1 << 20]) func filesComeOutHoweverTheyComeIn(pieces: Int) throws {
        let parts = Array(try #require(Data(base64Encoded: Self.parts)))
        expectEqual(String(decoding: try inflated(parts, pieces: pieces), as: UTF8.self), "hello sluice\n")
        // Filled up with zeros, as on a tape.
        expectEqual(String(decoding: try inflated(parts + [0, 0, 0], pieces: pieces), as: UTF8.self), "hello sluice\n")
        let zeros = Array(try #require(Data(base64Encoded: Self.zeros)))
        expectTrue(try inflated(zeros, pieces: pieces) == [UInt8](repeating: 0, count: 1_000_000))
    }

    @Test func filesThatAreCutOffOrDamagedAreRefused() throws {
        let parts = Array(try #require(Data(base64Encoded: Self.parts)))
        #expect(throws: ExportProblem.self) { try inflated(parts.dropLast(), pieces: 8) }
        var damaged = parts
        damaged[parts.count - 5] ^= 1
        #expect(throws: ExportProblem.self) { try inflated(damaged, pieces: 8) }
    }
}
