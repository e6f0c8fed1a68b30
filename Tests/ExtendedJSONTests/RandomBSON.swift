import Changesets
import ExtendedJSON
import SeededRandom

enum RandomBSON {
    static func value(_ random: inout SeededGenerator, depth: Int) -> BSONValue {
        switch random.below(depth > 0 ? 18 : 16) {
        case 0: return .null
        case 1: return .bool(random.below(2) == 0)
        case 2: return .int32(Int32(truncatingIfNeeded: random.next() >> UInt64(random.below(64))))
        case 3, 4: return .int64(Int64(truncatingIfNeeded: random.next()) >> Int64(random.below(64)))
        case 5: return .double(Double(bitPattern: random.next()))
        case 6:
            return .double(
                [0, -0.0, 1, 0.1, .infinity, 1e300, .leastNonzeroMagnitude, 1e16, 123_456_789_012_345_680][
                    random.below(9)])
        case 7: return .decimal128(decimal(&random))
        case 8, 9: return .string(text(&random))
        case 10:
            return .binary(
                (0..<random.below(20)).map { _ in UInt8(truncatingIfNeeded: random.next()) },
                subtype: [0, 2, 128, 255][random.below(4)])
        case 11: return .uuid(UUIDValue(high: random.next(), low: random.next()))
        case 12: return .date(Int64(truncatingIfNeeded: random.next()) >> Int64(random.below(64)))
        case 13: return .objectID(ObjectIDValue(high: random.next(), low: UInt32(truncatingIfNeeded: random.next())))
        case 14: return .regularExpression(pattern: text(&random).string, options: ["", "i", "im"][random.below(3)])
        case 15:
            return [.timestamp(seconds: UInt32(truncatingIfNeeded: random.next()), increment: 7), .minKey, .maxKey][
                random.below(3)]
        case 16: return .array((0..<random.below(5)).map { _ in value(&random, depth: depth - 1) })
        default:
            var document = BSONDocument()
            for _ in 0..<random.below(24) { document[text(&random)] = value(&random, depth: depth - 1) }
            return .document(document)
        }
    }

    static func decimal(_ random: inout SeededGenerator) -> Decimal128Value {
        let digits = (0..<random.below(35)).map { _ in UInt8(random.below(10)) }
        let exponent = random.below(2) == 0 ? random.below(20) - 10 : random.below(12_000) - 6_000
        return Decimal128Value(isNegative: random.below(2) == 0, digits: digits, exponent: exponent) ?? .nan
    }

    private static func text(_ random: inout SeededGenerator) -> ByteString {
        let parts = [
            "a", "B", "\"", "\\", "\n", "\u{0}", "\u{7F}", "é", "e\u{301}", "\u{1F600}", "$", ".", " ", "/", "ключ",
        ]
        return ByteString((0..<random.below(6)).map { _ in parts[random.below(parts.count)] }.joined())
    }
}
