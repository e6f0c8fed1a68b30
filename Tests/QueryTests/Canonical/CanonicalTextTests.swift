import Changesets
import Query
import RealmState
import TestSupport
import Testing

@Suite struct CanonicalTextTests {
    @Test(arguments: [
        ("owner = 'u1'", "owner == \"u1\""), ("owner == 'it\\'s'", "owner == B64\"aXRcJ3M=\""),
        ("team IN {'red'}", "team IN {\"red\"}"), ("priority >= 2 && priority < 4", "priority > 1 and priority < 4"),
        ("priority BETWEEN {1, 4}", "priority between {1, 4}"),
        ("progress BETWEEN {0.25, 0.75}", "progress >= 0.25 and progress <= 0.75"), ("cost <= 20.50", "cost <= 20.50"),
        ("at >= 2024-01-01T00:00:00", "at >= T1704067200:0"), ("done != TRUE", "done != true"),
        ("SOME tags == 'x'", "ANY tags == \"x\""), ("NOT 'x' IN tags", "!(\"x\" == tags)"),
        ("tags.@count == 0", "tags.@size == 0"),
        ("meta.color == 'x'", "meta['color'] == \"x\""), ("value.@type == 'Decimal'", "value.@type == \"decimal128\""),
        ("priority == 1 OR priority == 2 OR priority == 3", "(priority == 3 or priority == 1 or priority == 2)"),
        ("done == true and (done == false and priority == 1)", "done == true and done == false and priority == 1"),
        ("!(done == true or done == false or priority == 1)", "!(((done == true or done == false) or priority == 1))"),
        ("'3' == priority", "3 == priority"), ("parent == obj('Task', 5)", "parent == obj(\"class_Task\",5)"),
        ("priority + 1 * 2 == 3", "(priority + 2) == 3"), ("progress < 0.1", "progress < 0.10000000000000001"),
        ("value == 0.1", "value == 0.1"), ("value == nil", "value == null"), ("team == nil", "team == NULL"),
        ("priority >= -9223372036854775808 and done == true", "done == true"),
        ("estimate IN {1, 1, 2}", "estimate IN {1, 2}"),
        (
            "done == true SORT(owner ASC) SORT(team DESC) LIMIT(2)",
            "done == true SORT(team DESC, owner ASC) LIMIT(2)"
        ),
        (
            "SUBQUERY(subtasks, $t, $t.done == true and SUBQUERY($t.subtasks, $u, done == false).@count > 1).@count == 0",
            "SUBQUERY(subtasks, $x, $x.done == true and SUBQUERY($x.subtasks, $y, $y.done == false).@count > 1).@count == 0"
        ),
    ])
    func queriesAreWrittenAsClientsDo(text: String, canonical: String) throws {
        let query = try TaskRealm.query(text)
        expectEqual(query.canonicalText, canonical)
    }

    /// A binary number that had to be rounded keeps all fifteen digits.
    @Test(arguments: [
        (0.1, "1.00000000000000E-1"), (1.1, "1.10000000000000"), (0.3, "3.00000000000000E-1"),
        (-0.7, "-7.00000000000000E-1"),
        (1.5, "1.5"), (0.25, "2.5E-1"), (0, "0"), (100, "100"), (1_234_567.5, "1234567.5"),
        (1e20, "1.00000000000000E20"),
        (9_007_199_254_740_992, "9.00719925474099E15"), (1e-7, "1.00000000000000E-7"),
        (0.1 + 0.2, "3.00000000000000E-1"),
    ])
    func binaryArgumentsBecomeDecimals(value: Double, text: String) throws {
        let query = try TaskRealm.query("cost == $0", [.value(.double(bits: value.bitPattern))])
        expectEqual(query.canonicalText, "cost == \(text)")
    }

    /// Clients leave such conditions out, or write another one. Nothing is selected by them all the same.
    @Test(
        arguments: [
            ("_id IN $0", [.null], "_id == -1"), ("priority IN $0", [.string("x")], "priority == -1"),
            ("estimate IN $0", [.double(bits: 2.5.bitPattern)], "estimate == -1"),
            ("owner IN $0", [.int(1)], "FALSEPREDICATE"),
            ("done IN $0", [.int(1)], "TRUEPREDICATE"), ("progress IN $0", [.string("x")], "TRUEPREDICATE"),
            ("cost IN $0", [.bool(true)], "TRUEPREDICATE"), ("at IN $0", [.int(5)], "TRUEPREDICATE"),
            ("owner == 'a' and done IN $0", [.int(1)], "owner == \"a\""),
            ("(owner == 'a' or done == true) and progress IN $0", [.null], "(owner == \"a\" or done == true)"),
        ] as [(String, [Value], String)])
    func listsWithNothingUsable(text: String, elements: [Value], canonical: String) throws {
        let query = try TaskRealm.query(text, [.list(elements)])
        expectEqual(query.canonicalText, canonical)
        let object = TaskRealm.object(["owner": .string("a"), "priority": .int(-1), "done": .bool(true)])
        expectTrue(!query.matches(object, key: .int(-1)))
        expectEqual(NormalizedQuery(query).condition, .constant(false))
        // What is sent says so.
        let sent = try TaskRealm.query(query.exactText)
        expectTrue(!sent.matches(object, key: .int(-1)))
    }

    @Test(arguments: [
        ("NOT done IN {1}", "TRUEPREDICATE"), ("owner == 'a' or done IN {1}", "owner == \"a\""),
        ("owner == 'a' or done IN {1} or team == 'b'", "(team == \"b\" or owner == \"a\")"),
        ("NOT (owner == 'a' or done IN {1} or team == 'b')", "!((owner == \"a\" or team == \"b\"))"),
        ("NOT (NOT (estimate >= -9223372036854775808)) or owner == 'a'", "owner == \"a\""),
        ("estimate <= 9223372036854775807 and owner == 'a'", "owner == \"a\""),
    ])
    func conditionsThatClientsLeaveOut(text: String, canonical: String) throws {
        try expectEqual(TaskRealm.query(text).canonicalText, canonical)
    }

    /// What is sent loses neither digits nor conditions.
    @Test(arguments: [
        ("value == 0.123456789", "value == 0.123456789"), ("value IN {0.123456789, 2}", "value == {0.123456789, 2}"),
        ("value == 0.1f", "value == 0.10000000149011612"), ("rating == 0.1", "rating == 0.100000001"),
        ("done IN {1}", "FALSEPREDICATE"), ("priority IN {'x'}", "FALSEPREDICATE"),
        ("NOT priority >= -9223372036854775808", "!(priority >= -9223372036854775808)"),
        ("owner IN {'b', 'a'} and priority >= 2", "owner IN {\"b\", \"a\"} and priority > 1"),
        (
            "address GEOWITHIN geoCircle([0.123456789, 0], 0.123456789)",
            "address GEOWITHIN GeoCircle([0.123456789, 0], 0.123456789)"
        ),
    ])
    func exactTexts(text: String, exact: String) throws {
        let query = try TaskRealm.query(text)
        expectEqual(query.exactText, exact)
        try expectEqual(TaskRealm.query(exact).exactText, exact)
    }
}
