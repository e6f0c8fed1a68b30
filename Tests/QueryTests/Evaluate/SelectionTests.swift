import Changesets
import Query
import RealmState
import TestSupport
import Testing

/// The objects that queries select among a few, by their keys.
@Suite struct SelectionTests {
    private static let objects: [(key: Int64, object: StoredObject)] = [
        (
            1,
            TaskRealm.object([
                "owner": .string("u1"), "priority": .int(1), "done": .bool(true),
                "progress": .double(bits: 0.5.bitPattern),
                "tags": .list([.string("red"), .string("Blue")]), "scores": .list([.int(1), .int(2)]),
                "meta": .dictionary(["color": .string("red"), "size": .int(5)]), "value": .int(5),
                "address": .embedded(
                    StoredObject([
                        ColumnID(rawValue: 0): .string("Oslo"), ColumnID(rawValue: 1): .string("Point"),
                        ColumnID(rawValue: 2): .list([.double(bits: 10.75.bitPattern), .double(bits: 59.9.bitPattern)]),
                    ])),
                "parent": .link(ObjectAddress("Task", .int(2))),
                "at": .timestamp(TimestampValue(seconds: 100, nanoseconds: 5)),
            ])
        ),
        (
            2,
            TaskRealm.object([
                "owner": .string("u2"), "team": .string("a"), "priority": .int(2), "estimate": .int(8),
                "progress": .double(bits: Double.nan.bitPattern), "labels": .set([.string("x")]),
                "value": .dictionary(["a": .list([.int(1), .string("z")])]),
                "cost": .decimal(Decimal128Value(high: 0x303E_0000_0000_0000, low: 15)),
                "rating": .float(bits: Float(0.1).bitPattern),
            ])
        ),
        (3, StoredObject()),
    ]

    @Test(arguments: [
        ("TRUEPREDICATE", [1, 2, 3]), ("FALSEPREDICATE", []), ("_id == 2", [2]), ("_id IN {1, 3, 'x'}", [1, 3]),
        ("owner == 'u1'", [1]), ("owner ==[c] 'U1'", [1]), ("owner != 'u1'", [2, 3]), ("NOT owner BEGINSWITH 'u'", [3]),
        ("owner LIKE 'u?'", [1, 2]), ("owner ENDSWITH '2'", [2]), ("owner CONTAINS ''", [1, 2, 3]),
        // Null.
        ("team == null", [1, 3]), ("team != null", [2]), ("team < 'b'", [1, 2, 3]), ("team > null", [2]),
        ("team CONTAINS null", [1, 2, 3]), ("team LIKE '*'", [2]), ("estimate < 9", [2]), ("estimate != 8", [1, 3]),
        ("estimate + 1 == null", [1, 3]), ("estimate IN {8, null}", [1, 2, 3]), ("estimate >= null", [1, 3]),
        // Numbers.
        ("priority >= 1 AND priority < 2", [1]), ("priority BETWEEN {1, 2}", [1, 2]), ("priority == '2'", [2]),
        ("progress == nan", []), ("progress != nan", [1, 2, 3]), ("progress < 1", [1, 2, 3]),
        ("progress < 1.0", [1, 3]),
        ("1.0 > progress", [1, 2, 3]), ("cost == 1.5", [2]), ("rating == 0.1", [2]), ("rating == cost", [1, 3]),
        ("priority * 2 == 4", [2]), ("priority / 0 > 5", [1, 2, 3]), ("7 / 2 == priority + 1", [2]),
        // Collections.
        ("ANY tags == 'red'", [1]), ("'red' IN tags", [1]), ("ALL tags == 'red'", [2, 3]),
        ("NONE tags ==[c] 'BLUE'", [2, 3]),
        ("tags.@count == 0", [2, 3]), ("tags[LAST] == 'Blue'", [1]), ("tags.length > 3", [1]),
        ("scores == {1, 2}", [1]),
        ("scores != {1, 2}", [2, 3]), ("ANY scores IN {2, 9}", [1]), ("ALL scores < 5", [1, 2, 3]),
        ("scores.@sum == 3", [1]),
        ("scores.@min == null", [2, 3]), ("scores.@avg > 1", [1]), ("labels == 'x'", [2]), ("tags == {}", [2, 3]),
        ("meta.color == 'red'", [1]), ("meta['size'] > 4", [1]), ("meta.@keys == 'color'", [1]),
        ("meta.nothing == null", [1]),
        ("meta.color != null", [1]), ("meta.@count == 0", [2, 3]),
        // Mixed.
        ("value == 5.0", [1]), ("value.@type == 'int'", [1]), ("value.@type == 'numeric'", [1]),
        ("value.a[1] == 'z'", [2]),
        ("value[*][*] == 1", [2]), ("value.@type == 'null'", [3]), ("value == null", [3]), ("value.@keys == 'a'", [2]),
        // Embedded objects and links, of which only the address is known.
        ("address.city == 'Oslo'", [1]), ("address == null", [2, 3]), ("address.city == null", [2, 3]),
        ("address GEOWITHIN geoBox([10.0, 59.0], [11.0, 60.0])", [1]), ("address GEOWITHIN geoCircle([0, 0], 0.1)", []),
        ("parent == obj('Task', 2)", [1]), ("parent != null", [1]), ("parent IN {obj('Task', 2), null}", [1, 2, 3]),
        ("subtasks.@count == 0", [1, 2, 3]), ("at > T100:4", [1]), ("at == 1970-01-01@00:01:40:5", [1]),
        ("owner == 'u1' OR owner == 'u2' AND priority == 9", [1]),
        ("(owner == 'u1' OR owner == 'u2') AND priority == 2", [2]),
    ])
    func selects(text: String, keys: [Int64]) throws {
        let query = try TaskRealm.query(text)
        let found = Self.objects.filter { query.matches($0.object, key: .int($0.key)) }.map(\.key)
        expectEqual(found, keys)
        // By the way that follows links, too, where the query needs none.
        let others = Self.objects.filter { query.matches($0.object as any QueryObject, key: .int($0.key)) }
        expectEqual(others.map(\.key), keys)
        // As a store keeps them, decoded as far as the query looks.
        let rows = try Self.objects.filter { try query.matches(row: $0.object.encoded(), key: .int($0.key)) }.map(\.key)
        expectEqual(rows, keys)
        // The same in other words.
        let normal = ObjectQuery(
            className: TaskRealm.className, condition: NormalizedQuery(query).condition, schema: TaskRealm.schema)
        expectEqual(Self.objects.filter { normal.matches($0.object, key: .int($0.key)) }.map(\.key), keys)
        let canonical = try TaskRealm.query(query.canonicalText)
        expectEqual(canonical.canonicalText, (try TaskRealm.query(canonical.canonicalText)).canonicalText)
    }

    /// A row is read only as far as the query looks, and what is damaged there is an error.
    @Test func damagedRowsAreErrors() throws {
        let bytes = Self.objects[0].object.encoded()
        let query = try TaskRealm.query("owner == 'u1'")
        let damaged = Array(bytes.prefix(8)) + [UInt8](repeating: 0xFF, count: bytes.count - 8)
        try expectTrue(query.matches(row: damaged, key: .int(1)))
        for length in 0..<bytes.count {
            let all = try TaskRealm.query("at == T1:1 and address.city == 'x' and meta.color == 'y'")
            #expect(throws: RealmStateError.self) { try all.matches(row: Array(bytes.prefix(length)), key: .int(1)) }
        }
    }

    @Test func columnsAreThoseThatTheQueryLooksAt() throws {
        let query = try TaskRealm.query(
            "_id == 1 and (address.city == 'x' or ANY tags == 'y') and SUBQUERY(subtasks, $x, $x.done == true).@count == 0"
        )
        expectEqual(query.columns, ["tags", "subtasks", "address"].compactMap { TaskRealm.column($0) })
    }
}
