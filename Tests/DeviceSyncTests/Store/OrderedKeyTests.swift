import Changesets
import Foundation
import RealmState
import SeededRandom
import TestSupport
import Testing

@testable import DeviceSync

struct OrderedKeyTests {
    private static func keys() -> [ObjectKey] {
        var random = SeededGenerator(seed: 5)
        var keys: [ObjectKey] = [
            .null, .int(0), .int(-1), .int(1), .int(.min), .int(.max), .int(255), .int(256), .int(-256), .string(""),
            .string("a"), .string("ab"), .string("b"), .string(ByteString([0])), .string(ByteString([0, 0])),
            .string(ByteString([255])), .globalKey(high: 0, low: 0), .globalKey(high: 1, low: .max),
            .globalKey(high: .max, low: 0), .objectID(ObjectIDValue(high: 1, low: .max)),
            .objectID(ObjectIDValue(high: 2, low: 0)), .uuid(UUIDValue(high: .max, low: 1)),
            .uuid(UUIDValue(high: 0, low: .max)),
        ]
        for _ in 0..<40 {
            keys.append(.int(Int64(bitPattern: random.next())))
            keys.append(.string(ByteString((0..<random.below(6)).map { _ in UInt8(random.below(256)) })))
            keys.append(.uuid(UUIDValue(high: random.next(), low: random.next())))
        }
        return keys
    }

    @Test func theBytesHaveTheOrderOfTheKeys() throws {
        let keys = Self.keys()
        for left in keys {
            let bytes = left.orderedEncoding()
            try expectEqual(ObjectKey(ordered: bytes), left)
            for right in keys {
                expectEqual(bytes.lexicographicallyPrecedes(right.orderedEncoding()), (left < right))
            }
            // Neither form is taken for the other.
            #expect(throws: (any Error).self) { try ObjectKey(parsingDetached: [UInt8](bytes)) }
            #expect(throws: DamagedRow.self) { try ObjectKey(ordered: Data(left.detachedEncoding())) }
        }
    }

    @Test func rowsHaveTheOrderOfTheirKeys() {
        let keys = Self.keys().map { $0.orderedBytes() }
        let places = keys.indices.map { RowPlace($0, table: TableID(rawValue: UInt32($0 % 2)), keys[$0]) }
        let sorted = places.sorted { $0.precedes($1, keys) }.map(\.position)
        let expected = keys.indices.sorted {
            $0 % 2 == $1 % 2 ? keys[$0].lexicographicallyPrecedes(keys[$1]) : $0 % 2 < $1 % 2
        }
        expectEqual(sorted.map { keys[$0] }, expected.map { keys[$0] })
        expectEqual(sorted.map { $0 % 2 }, expected.map { $0 % 2 })
    }

    @Test func damagedKeysAreRefused() {
        let full = ObjectKey.uuid(UUIDValue(high: 1, low: 2)).orderedEncoding()
        for count in 0..<full.count {
            #expect(throws: DamagedRow.self) { try ObjectKey(ordered: full.prefix(count)) }
        }
        #expect(throws: DamagedRow.self) { try ObjectKey(ordered: full + [0]) }
        #expect(throws: DamagedRow.self) { try ObjectKey(ordered: Data([0x66])) }
    }
}
