import Changesets
import RealmState
import SeededRandom
import TestSupport
import Testing

@testable import Query

/// The laws of the order of values, over random values of all types.
@Suite struct ValueOrderLawTests {
    /// Up to seven values of each type, many of which are equal, or nearly.
    private func values(_ random: inout SeededGenerator) -> [Value] {
        var values: [Value] = [
            .null, .bool(false), .bool(true), .list([]), .list([.int(1)]), .set([]), .dictionary([:]),
        ]
        for _ in 0..<7 {
            let number =
                [0, 1, 1 << 53, 1 << 62, .max, .min, 123_456_789_012_345][random.below(7)] &+ Int64(random.below(3))
            let double =
                random.below(6) == 0 ? [.nan, .infinity, -.infinity, -0.0][random.below(4)] : Double(number) + 0.5
            let bytes = (0..<random.below(4)).map { _ in [0x00, 0x61, 0x7F, 0x80, 0xFF][random.below(5)] as UInt8 }
            var decimal = random.below(4) == 0 ? random.decimalNumber() : DecimalNumber(number)
            if random.below(2) == 0 { decimal = random.neighbour(of: decimal) }
            values += [
                .int(number), .double(bits: double.bitPattern), .float(bits: Float(double).bitPattern),
                .decimal(decimal.value), .string(ByteString(bytes)), .binary(bytes),
                .timestamp(
                    TimestampValue(seconds: Int64(random.below(2)), nanoseconds: Int32(random.below(3)))),
                .objectID(ObjectIDValue(high: UInt64(random.below(2)) << 63, low: UInt32(random.below(2)))),
                .uuid(UUIDValue(high: UInt64(random.below(2)) << 63, low: UInt64(random.below(2)) << 63)),
                .link(ObjectAddress("A", .int(Int64(random.below(3))))), .link(ObjectAddress("B", .string("k"))),
            ]
        }
        return values
    }

    /// Binary numbers are compared with decimals by 15 or 7 digits, and among each other by all: then two of them may equal one decimal.
    private func isBinary(_ value: Value) -> Bool? {
        switch value {
        case .float, .double: true
        case .decimal: false
        default: nil
        }
    }

    @Test(arguments: 1...6) func theOrderIsTotal(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let values = values(&random)
        let orders = values.map { left in values.map { ValueOrder.total(left, $0).signum() } }
        for left in values.indices {
            for right in values.indices {
                guard orders[left][right] == -orders[right][left], left != right || orders[left][right] == 0 else {
                    Issue.record("seed \(seed): \(values[left]) and \(values[right]) both ways")
                    return
                }
                for third in values.indices where orders[left][right] <= 0 && orders[right][third] <= 0 {
                    // Less if one of both steps is.
                    if orders[left][third] == min(orders[left][right], orders[right][third]) { continue }
                    let kinds = Set([left, right, third].compactMap { isBinary(values[$0]) })
                    guard kinds.count < 2 else { continue }
                    Issue.record("seed \(seed): \(values[left]), \(values[right]) and \(values[third]) in a circle")
                    return
                }
            }
        }
    }

    @Test(arguments: 11...16) func equalValuesCompareAsEqualAndHashAlike(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let values = values(&random)
        for left in values {
            for right in values {
                let order = ValueOrder.compare(left, right)
                let isEqual = ValueOrder.equal(left, right)
                var problem: String?
                if isEqual != (left == .null && right == .null || order == 0) { problem = "equality is not order" }
                if order.map({ $0.signum() != ValueOrder.total(left, right).signum() }) ?? false {
                    problem = "the order of all types is another one"
                }
                switch (left, right) {
                case (.set, .set): continue
                case (.int, .int), (.bool, .bool), (.string, .string), (.binary, .binary), (.timestamp, .timestamp),
                    (.objectID, .objectID), (.uuid, .uuid), (.link, .link):
                    // Memberships of these types are looked up by hash.
                    if isEqual != (left == right) { problem = "one of the two equalities" }
                default: if left == right, !isEqual { problem = "the same bytes are not equal" }
                }
                if left == right, left.hashValue != right.hashValue { problem = "other hashes" }
                guard let problem else { continue }
                Issue.record("seed \(seed): \(left) and \(right): \(problem)")
                return
            }
        }
    }

    @Test func numbersAreComparedWithoutLoss() {
        for seed in UInt64(21)...3_000 {
            var random = SeededGenerator(seed: seed)
            let left = Int64(bitPattern: random.next()) >> Int64(random.below(64))
            let near = Double(left) + Double(random.below(17) - 8) / 8
            let double = random.below(8) == 0 ? [0x1p63, -0x1p63, 0x1p64, -0x1.1p63][random.below(4)] : near
            // Eighths of whole numbers, so that nothing is cut off.
            let (eighths, others) = (Int128(left) * 8, Int128(double * 8))
            let expected = eighths < others ? -1 : eighths == others ? 0 : 1
            let values: (Value, Value) = (.int(left), .double(bits: double.bitPattern))
            guard ValueOrder.compare(values.0, values.1) == expected,
                ValueOrder.compare(values.1, values.0) == -expected
            else {
                Issue.record("seed \(seed): \(left) and \(double), expected \(expected)")
                return
            }
        }
    }

    @Test func typesComeOneAfterAnother() {
        let types: [Value] = [
            .null, .bool(true), .int(.max), .string("a"), .binary([0]), .timestamp(.init(seconds: -1, nanoseconds: 0)),
            .objectID(.init(high: 0, low: 0)), .uuid(.init(high: 0, low: 0)), .link(.init("A", .int(1))), .list([]),
            .dictionary([:]),
        ]
        for (left, right) in zip(types, types.dropFirst()) { expectTrue(ValueOrder.total(left, right) < 0) }
    }
}
