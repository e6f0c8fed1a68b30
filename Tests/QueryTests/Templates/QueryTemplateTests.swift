import Changesets
import Query
import RealmState
import TestSupport
import Testing

@Suite struct QueryTemplateTests {
    private func normalized(_ text: String) throws -> NormalizedQuery { NormalizedQuery(try TaskRealm.query(text)) }

    @Test(arguments: [
        ("owner == 'a' and done == true", "done == true && owner == 'a'"),
        ("owner IN {'a', 'b'}", "owner == 'b' or owner == 'a'"),
        ("NOT NOT owner == 'a'", "owner == 'a' and TRUEPREDICATE"), ("owner == 'a' or owner == 'a'", "owner IN {'a'}"),
        ("(done == true and owner == 'a') and priority > 3", "priority > 3 and (owner == 'a' and done == true)"),
        ("FALSEPREDICATE and owner == 'a'", "FALSEPREDICATE"), ("owner == 'a' or TRUEPREDICATE", "TRUEPREDICATE"),
        // Clients' text for both operands is the same.
        ("value < 1 and value < 1.0", "value < 1.0 and value < 1"),
        ("progress < 0.10000001 or progress < 0.10000002", "progress < 0.10000002 or progress < 0.10000001"),
        ("parent IN subtasks and parent == subtasks", "parent == subtasks and parent IN subtasks"),
    ])
    func queriesThatSayTheSameAreOne(left: String, right: String) throws {
        try expectEqual(normalized(left), normalized(right))
    }

    @Test(arguments: [
        ("progress == 0.1", "progress == 0.10000000000000002"),
        ("value IN {1.00000001, 2.0}", "value IN {1.00000002, 2.0}"),
        ("rating == 0.1", "rating == '0.1000001'"), ("value == 1", "value == 1.0"),
        ("value == null", "value == 'null'"),
        ("owner == 'a'", "owner ==[c] 'a'"), ("scores == {1, 2}", "ANY scores == {1, 2}"),
        ("subtasks == {obj('Task', 1), obj('Task', 2)}", "subtasks IN {obj('Task', 1), obj('Task', 2)}"),
        ("address GEOWITHIN geoCircle([1.00000001, 0], 1)", "address GEOWITHIN geoCircle([1.00000002, 0], 1)"),
        ("value IN {'a', 1.00000001}", "value IN {'a', 1.00000002}"),
    ])
    func queriesThatDifferAreTwo(left: String, right: String) throws {
        try expectTrue(normalized(left) != normalized(right))
    }

    @Test func constantsAreTakenOut() throws {
        let first = try normalized("owner == 'u1' and priority > 3 and tags.@count < 5")
        let second = try normalized("priority > 7 and owner == 'u2' and tags.@count < 9")
        expectEqual(first.template, second.template)
        expectTrue(first != second)
        expectEqual(first.constants, [.list([.string("u1")]), .int(3), .int(5)])
        expectEqual(second.constants, [.list([.string("u2")]), .int(7), .int(9)])
        // However many members a list has.
        try expectEqual(normalized("owner IN {'a', 'b', 'c'}").template, normalized("owner == 'u2'").template)
        try expectTrue(normalized("owner == 'a'").template != normalized("team == 'a'").template)
    }

    @Test func equalitiesAreFound() throws {
        let query = try normalized(
            "(owner == 'b' or owner == 'a') and done == false and progress == 1.5 and value == 'x'")
        expectEqual(query.equalities.map(\.property.name), ["done", "owner"])
        expectEqual(query.equalities.map(\.values), [[.bool(false)], [.string("a"), .string("b")]])
        try expectEqual(normalized("_id == 5").equalities.map(\.property.slot), [.key])
        // An alternative binds nothing.
        try expectTrue(normalized("owner == 'a' or done == true").equalities.isEmpty)
        try expectTrue(normalized("NOT owner == 'a'").equalities.isEmpty)
        try expectEqual(normalized("team == null").equalities.map(\.values), [[.null]])
    }
}
