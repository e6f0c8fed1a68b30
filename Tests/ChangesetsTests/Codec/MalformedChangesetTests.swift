import Changesets
import MergeConformance
import SeededRandom
import TestSupport
import Testing

@Suite(.hangGuard) struct MalformedChangesetTests {
    /// Bytes, and what the error must say.
    static let malformed: [(String, String)] = [
        ("3E", "Unknown instruction type"),
        ("80 04", "Unknown instruction type"),
        ("3F", "integer decoding failure"),
        ("3F 01", "Unexpected intern index"),
        ("3F 00 40", "integer decoding failure"),
        ("3F 00 01", "truncated input"),
        ("3F 00 01 61 3F 00 01 62", "Unexpected intern index"),
        ("3F 00 01 61 3F 01 01 61", "Unexpected intern string"),
        ("3F 00 FF FF FF FF FF FF FF FF FF 00", "string too long"),
        ("02 00", "Invalid interned string"),
        ("3F 00 01 61 02 01 01 00", "Invalid interned string"),
        ("3F 00 01 61 02 00 05", "Unsupported object key type"),
        ("3F 00 01 61 02 00 40 FF FF FF FF 0F 00", "global key out of range"),
        ("3F 00 01 61 00 00 03", "unknown table type"),
        ("3F 00 01 61 00 00 00 00 02 00", "Invalid primary key type in AddTable"),
        ("3F 00 01 61 06 00 00 0C 00 00", "Unsupported data type"),
        ("3F 00 01 61 06 00 00 44 00 00", "Unsupported data type"),
        ("3F 00 01 61 06 00 00 01 00 04", "Unsupported collection type"),
        ("3F 00 01 61 0B 00 01 00 00 00 04", "Unsupported collection type"),
        ("3F 00 01 61 04 00 01 00 00 00 40 00", "Unsupported payload data type"),
        ("3F 00 01 61 04 00 01 00 00 00 46 00", "Unsupported data type"),
        ("3F 00 01 61 04 00 01 00 00 00 80 02 00", "Unsupported data type"),
        ("3F 00 01 61 08 00 01 00 00 00 00 00", "ArrayInsert without an index"),
        ("3F 00 01 61 09 00 01 00 00 01 40 00 00 00", "ArrayMove without an index"),
        ("3F 00 01 61 0A 00 01 00 00 00 00", "ArrayErase without an index"),
        ("3F 00 01 61 0B 00 01 00 00 01 41 00 00", "path element"),
        ("3F 00 01 61 0B 00 01 00 00 01 FF FF FF FF 1F 00", "path element"),
        ("3F 00 01 61 0B 00 01 00 00 FF FF FF FF 0F 00", "path of"),
        ("3F 00 01 61 04 00 01 00 00 00 05 00 80 A8 D6 B9 07 00", "timestamp out of range"),
        ("3F 00 01 61 04 00 01 00 00 00 05 01 40 00", "timestamp out of range"),
        (
            "3F 00 01 61 04 00 01 00 00 00 08 FF FF FF FF FF FF FF FF FF FF FF FF FF FF FF FF FF 00",
            "decimal decoding failure"
        ),
        ("3F 00 01 61 04 00 01 00 00 00 08 01 FF FF 3F 00 00", "decimal decoding failure"),
        ("3F 00 01 61 04 00 01 00 00 00 03 FF FF 3F 00", "truncated input"),
        ("3F 00 01 61 04 00 01 00 00 00 04 FF FF FF FF 0F 00", "binary too long"),
    ]

    @Test(arguments: malformed)
    func malformedBytesAreRefusedWithTheReason(bytes: String, reason: String) {
        #expect {
            try Changeset(parsing: hex(bytes))
        } throws: { error in
            guard let error = error as? ChangesetError else { return false }
            return error.code == .malformed && error.message.contains(reason)
        }
    }

    @Test func everyTruncationIsAnErrorOrAnEarlierEnd() throws {
        for example in ExampleTests.examples {
            let bytes = hex(example.hex)
            for length in 0..<bytes.count {
                guard let part = try? Changeset(parsing: Array(bytes.prefix(length))) else { continue }
                expectTrue(part.instructions.count < example.changeset.instructions.count, "\(example.name) \(length)")
            }
        }
    }

    @Test func randomBytesAreReadOrRefused() throws {
        var generator = SeededGenerator(seed: 20_260_101)
        var accepted = 0
        for _ in 0..<20_000 {
            let count = Int.random(in: 0...40, using: &generator)
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...0x45, using: &generator) }
            let prefix = hex("3F 00 01 61 3F 01 00")
            guard let changeset = try? Changeset(parsing: prefix + bytes) else { continue }
            accepted += 1
            try expectEqual(Changeset(parsing: changeset.encoded()).instructions, changeset.instructions)
        }
        expectTrue(accepted > 0)
    }

    @Test func damagedExamplesAreReadOrRefused() throws {
        var generator = SeededGenerator(seed: 7)
        for example in ExampleTests.examples {
            let bytes = hex(example.hex)
            for position in bytes.indices {
                for _ in 0..<16 {
                    var damaged = bytes
                    damaged[position] = UInt8.random(in: 0...255, using: &generator)
                    guard let changeset = try? Changeset(parsing: damaged) else { continue }
                    try expectEqual(Changeset(parsing: changeset.encoded()).instructions, changeset.instructions)
                }
            }
        }
    }

    @Test func limitsAreKept() throws {
        let erase = hex("01 00")
        let bytes = hex("3F 00 01 61") + Array(repeating: erase, count: 10).flatMap { $0 }
        let limits = ChangesetLimits(maxBytes: 24, maxInstructions: 10, maxPathElements: 3)
        try expectEqual(Changeset(parsing: bytes, limits: limits).instructions.count, 10)
        expectLimit {
            try Changeset(parsing: bytes + erase, limits: .init(maxBytes: 99, maxInstructions: 10, maxPathElements: 3))
        }
        expectLimit { try Changeset(parsing: bytes + erase, limits: limits) }
        let path = hex("3F 00 01 61 0B 00 01 00 00 04 00 00 00 00 01")
        expectLimit { try Changeset(parsing: path, limits: limits) }
        try expectEqual(Changeset(parsing: path).instructions.count, 1)
    }

    @Test func partsAreSplitWhereStringZeroComesAgain() throws {
        let first = hex("3F 00 01 61 02 00 01 3F")
        let second = hex("3F 00 01 62 3F 01 01 63 01 01")
        try expectEqual(ConcatenatedChangesets.split(first + second + first), [first, second, first])
        try expectTrue(ConcatenatedChangesets.split([]).isEmpty)
        #expect(throws: ChangesetError.self) { try ConcatenatedChangesets.split(first + [0x3F]) }
        #expect(throws: ChangesetError.self) { try Changeset(parsing: first + second) }
    }

    private func expectLimit(_ body: () throws -> Changeset) {
        #expect {
            try body()
        } throws: { ($0 as? ChangesetError)?.code == .limitExceeded }
    }
}
