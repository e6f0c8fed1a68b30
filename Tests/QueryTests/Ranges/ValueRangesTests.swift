import Changesets
import Query
import RealmState
import TestSupport
import Testing

/// Where the values of a property are that a query may select.
@Suite struct ValueRangesTests {
    private static let texts: [Value] = ["", "a", "ab", "b", "\u{0}", "é", "a\u{0}"].map { .string(ByteString($0)) }
    private static let values: [ByteString: [Value]] = [
        "owner": texts, "team": texts + [.null],
        "priority": [.min, -300, -1, 0, 1, 3, 4, 7, 255, 256, .max].map { .int($0) },
        "estimate": [.null, .int(-5), .int(0), .int(5)],
        "progress": [-.infinity, -1.5, -0.0, 0.0, .leastNonzeroMagnitude, 0.5, 1, 1e300, .infinity, .nan].map {
            .double(bits: $0.bitPattern)
        },
        "done": [.bool(false), .bool(true)],
        "at": [
            .null, .timestamp(.init(seconds: -2, nanoseconds: -5)), .timestamp(.init(seconds: -2, nanoseconds: 0)),
            .timestamp(.init(seconds: 0, nanoseconds: -1)), .timestamp(.init(seconds: 0, nanoseconds: 0)),
            .timestamp(.init(seconds: 3, nanoseconds: 7)),
        ],
        "rating": [.null] + [-1, 0, 0.5, 3].map { .float(bits: Float($0).bitPattern) },
    ]

    static let queries: [String] = [
        "owner == 'a'", "owner IN {'a', 'b'}", "owner > 'a'", "owner >= 'ab' and owner < 'b'", "owner < 'a'",
        "team == null", "team < 'b'", "team <= ''", "team IN {'a', null}", "team != null", "team >= null",
        "priority > 3", "priority >= 3 and priority < 255", "priority < 3 or priority == 256",
        "priority BETWEEN {0, 4}",
        "priority IN {1, 7}", "NOT priority > 3", "priority > 3 and priority < 2", "3 < priority",
        "priority == 3 or owner == 'a'", "(priority > 3 and done == true) or (priority < 0 and done == false)",
        "estimate == null", "estimate < 5", "estimate <= 0", "estimate != 5", "progress > 0", "progress <= 0",
        "progress == 0", "progress == -0.0", "progress >= 1 and progress < 1e300", "progress > -1e10",
        "done == true", "done != true", "at > T0:0", "at <= T-2:0", "at == null", "rating > 0", "rating <= 0.5",
        "priority == 3 and (owner == 'a' or owner == 'b') and TRUEPREDICATE", "owner ==[c] 'A'", "owner BEGINSWITH 'a'",
        "value == 1", "tags == 'a'", "priority > 3.5", "owner == 'a' or TRUEPREDICATE",
    ]

    private func isInside(_ value: Value, _ ranges: ValueRanges) throws -> Bool {
        let bytes = try #require(OrderedBytes.of(value, maxCount: 4))
        return ranges.ranges.contains {
            !bytes.lexicographicallyPrecedes($0.low) && !$0.high.lexicographicallyPrecedes(bytes)
        }
    }

    @Test(arguments: queries) func selectedValuesAreWithinTheQuerysRanges(_ text: String) throws {
        let query = try TaskRealm.query(text)
        let ranges = query.valueRanges(maxCount: 4)
        for (name, values) in Self.values {
            guard let column = TaskRealm.column(name), let found = ranges[column] else { continue }
            for (low, high) in zip(found.ranges, found.ranges.dropFirst()) {
                expectTrue(low.high.lexicographicallyPrecedes(high.low))
            }
            for value in values {
                for other in [Value.string("a"), .string("b"), .bool(true), .int(3)] {
                    // Another property may decide, too.
                    var object = TaskRealm.object([name: value])
                    switch other {
                    case .string where name != "owner": object[try #require(TaskRealm.column("owner"))] = other
                    case .bool where name != "done": object[try #require(TaskRealm.column("done"))] = other
                    case .int where name != "priority": object[try #require(TaskRealm.column("priority"))] = other
                    default: break
                    }
                    guard query.matches(object, key: .int(1)) else { continue }
                    try expectTrue(isInside(value, found), "\(name): \(value)")
                }
            }
        }
    }

    @Test func rangesAreAsNarrowAsTheQuery() throws {
        func ranges(_ text: String, _ column: ByteString) throws -> ValueRanges? {
            try TaskRealm.query(text).valueRanges(maxCount: 256)[try #require(TaskRealm.column(column))]
        }
        try expectEqual(ranges("owner == 'a'", "owner")?.arePoints, true)
        try expectEqual(ranges("owner IN {'a', 'b', 'c'}", "owner")?.ranges.count, 3)
        try expectEqual(ranges("owner == 'a' or owner == 'b' or owner == 'a'", "owner")?.ranges.count, 2)
        try expectEqual(ranges("priority > 3 and priority < 2", "priority")?.ranges.isEmpty, true)
        try expectEqual(ranges("priority > 3 and priority < 9", "priority")?.ranges.count, 1)
        let low = try #require(OrderedBytes.of(.int(3), maxCount: 9))
        try expectEqual(ranges("priority > 3", "priority")?.ranges.first?.low, low)
        // Null is not less than a number, as it is than a string.
        let (number, text) = (
            try #require(try ranges("estimate < 5", "estimate")), try #require(try ranges("team < 'b'", "team"))
        )
        try expectTrue(!isInside(.null, number) && isInside(.null, text))
        for (text, column) in [
            ("NOT owner == 'a'", "owner"), ("owner == 'a' or priority == 3", "owner"), ("owner ==[c] 'a'", "owner"),
            ("owner != 'a'", "owner"), ("cost > 3", "cost"), ("value == 3", "value"),
        ] as [(String, ByteString)] {
            try expectTrue(ranges(text, column) == nil, "\(text)")
        }
    }

    @Test func bytesAreInTheOrderOfValues() throws {
        for (name, values) in Self.values where name != "progress" {
            // As listed they ascend, but for texts.
            let bytes = try values.map { try #require(OrderedBytes.of($0, maxCount: 256)) }
            let sorted = bytes.sorted { $0.lexicographicallyPrecedes($1) }
            if name == "owner" || name == "team" { continue }
            expectEqual(bytes, sorted, "\(name)")
            expectEqual(Set(bytes).count, bytes.count)
        }
        func bytes(_ number: Double) -> [UInt8]? { OrderedBytes.of(.double(bits: number.bitPattern), maxCount: 256) }
        expectEqual(bytes(0), bytes(-0.0))
        expectEqual(bytes(.nan), bytes(-.nan))
        let numbers = [.nan, -.infinity, -1e300, -1, -1e-300, 0, 1e-300, 1, 1e300, .infinity].map(bytes).compactMap(
            \.self)
        expectEqual(numbers, numbers.sorted { $0.lexicographicallyPrecedes($1) })
        expectTrue(OrderedBytes.of(.decimal(.init(high: 0, low: 0)), maxCount: 256) == nil)
    }

    /// A set of subscriptions may be 256 kB.
    @Test func longQueriesAreReadInTimeThatFollowsTheirLength() throws {
        let or = (0..<4_000).map { "priority == \($0)" }.joined(separator: " or ")
        let and = (0..<4_000).map { "priority > \(-$0)" }.joined(separator: " and ")
        let limits = QueryLimits()
        let query = try TaskRealm.query("(\(or)) and \(and)", limits: limits)
        let column = try #require(TaskRealm.column("priority"))
        expectEqual(query.valueRanges(maxCount: 256)[column]?.ranges.count, 4_000)
    }
}
