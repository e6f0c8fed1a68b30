import Changesets
import RealmState
import SeededRandom
import TestSupport
import Testing

@Suite struct ValueTests {
    private func decimal(_ digits: UInt64, _ exponent: Int, negative: Bool = false) -> Value {
        .decimal(Decimal128Value(high: UInt64(exponent + 6176) << 49 | (negative ? 1 << 63 : 0), low: digits))
    }

    private func double(_ value: Double) -> Value { .double(bits: value.bitPattern) }

    @Test func setMembersHaveOneOrder() {
        let ordered: [Value] = [
            .null, .bool(false), .bool(true), double(.nan), double(-.infinity), .int(.min), double(-0x1p62),
            decimal(15, -1, negative: true), .int(-1), .int(0), decimal(1, -3), double(0.25),
            .float(bits: Float(0.5).bitPattern),
            .int(1), decimal(100_001, -5), .int(.max - 1), .int(.max), double(0x1p63), decimal(1, 30),
            double(.infinity),
            .string(""), .string("a"), .string("b"), .binary([]), .binary([0]),
            .timestamp(.init(seconds: -1, nanoseconds: -1)), .timestamp(.init(seconds: 0, nanoseconds: 0)),
            .objectID(.init(high: 0, low: 1)), .uuid(.init(high: 0, low: 1)),
            .link(ObjectAddress("A", .int(2))), .link(ObjectAddress("B", .int(1))),
            .link(ObjectAddress("B", .string(""))),
        ]
        for (i, left) in ordered.enumerated() {
            for (j, right) in ordered.enumerated() {
                expectEqual(Value.compare(left, right).signum(), (i - j).signum(), "\(left) \(right)")
            }
        }
    }

    @Test func equalNumbersOfDifferentTypesAreOneMember() {
        let ones: [Value] = [.int(1), double(1), .float(bits: Float(1).bitPattern), decimal(1, 0), decimal(1000, -3)]
        for left in ones {
            for right in ones {
                expectEqual(Value.compare(left, right), 0)
            }
        }
        expectEqual(Value.compare(double(0), double(-0.0)), 0)
        expectEqual(Value.compare(decimal(0, 5), decimal(0, -5, negative: true)), 0)
        expectEqual(Value.compare(double(0.1), decimal(1, -1)), 0)
        expectEqual(Value.compare(double(.nan), double(-.nan)), 0)
    }

    @Test func storedBytesThatAreDamagedAreRefusedOrRead() throws {
        let object = StoredObject([
            ColumnID(rawValue: 0): .list([.int(1), .string("x"), .dictionary(["k": .null])]),
            ColumnID(rawValue: 7): .embedded(StoredObject([ColumnID(rawValue: 1): .link(SampleRealm.target)])),
            ColumnID(rawValue: 2): .set([decimal(5, 2), .binary([1, 2, 3])]),
            ColumnID(rawValue: 3): .timestamp(.init(seconds: 5, nanoseconds: 5)),
            ColumnID(rawValue: 4): .uuid(.init(high: 1, low: 2)),
        ])
        let bytes = object.encoded()
        try expectEqual(StoredObject(decoding: bytes), object)
        var random = SeededGenerator(seed: 3)
        for position in bytes.indices {
            for _ in 0..<40 {
                var damaged = bytes
                damaged[position] = UInt8.random(in: 0...255, using: &random)
                guard let read = try? StoredObject(decoding: damaged) else { continue }
                try expectEqual(StoredObject(decoding: read.encoded()), read)
            }
        }
        #expect(throws: RealmStateError.self) { try StoredObject(decoding: bytes + [0]) }
    }

    @Test func endlessNestingInStoredBytesIsRefused() {
        // One column whose value is a list of a list of a list ...
        let bytes: [UInt8] = [1, 0] + Array(repeating: [0x44, 1] as [UInt8], count: 20_000).flatMap { $0 }
        #expect(throws: RealmStateError.self) { try StoredObject(decoding: bytes) }
    }

    @Test func damagedSchemasAreRefusedOrRead() throws {
        let schema = try SampleRealm.make().schema
        let bytes = schema.encoded()
        try expectEqual(Schema(decoding: bytes), schema)
        var random = SeededGenerator(seed: 4)
        for position in bytes.indices {
            #expect(throws: RealmStateError.self) { try Schema(decoding: Array(bytes.prefix(position))) }
            for _ in 0..<10 {
                var damaged = bytes
                damaged[position] = UInt8.random(in: 0...255, using: &random)
                guard let read = try? Schema(decoding: damaged) else { continue }
                try expectEqual(Schema(decoding: read.encoded()), read)
            }
        }
    }
}
