import Changesets
import Query
import RealmState
import TestSupport
import Testing

@Suite struct SubscriptionCheckTests {
    @Test(arguments: [
        "owner == 'a' and ANY tags == 'x'", "tags.@count > 1 and scores.@max > 3", "address.city == 'Oslo'",
        "parent == null",
        "parent == obj('Task', 1)", "subtasks.@count == 0", "ANY subtasks == obj('Task', 2)", "value.a[0] == 1",
        "value.@type == 'int'", "priority + estimate > 3", "priority BETWEEN {1, 2}", "TRUEPREDICATE", "FALSEPREDICATE",
        "address GEOWITHIN geoCircle([0, 0], 1)", "NOT (owner IN {'a', 'b'})",
    ])
    func queriesOnOneObjectAloneMayStandInSubscriptions(text: String) throws {
        try TaskRealm.query(text).checkSubscription()
    }

    @Test(arguments: [
        ("parent.owner == 'a'", 0, "linked objects"),
        ("done == true and ANY subtasks.done == true", 17, "linked objects"),
        ("@links.@count > 0", 0, "@links"), ("@links.Task.parent.done == true", 0, "@links"),
        ("subtasks.@max.priority > 3", 0, "@max"), ("parent.tags.@count > 3", 0, "linked objects"),
        ("SUBQUERY(subtasks, $x, $x.done == true).@count > 0", 9, "SUBQUERY"),
        ("done == true SORT(owner ASC)", 0, "SORT"),
        ("done == true LIMIT(5)", 0, "LIMIT"), ("NOT (priority + parent.priority > 3)", 16, "linked objects"),
        ("subtasks[0].done == true", 0, "linked objects"), ("parent.parent == null", 0, "linked objects"),
    ])
    func queriesDependingOnOtherObjectsAreRefused(text: String, offset: Int, construct: String) throws {
        let query = try TaskRealm.query(text)
        let error = try #require(throws: QueryError.self) { try query.checkSubscription() }
        expectEqual(error.kind, .subscription)
        expectEqual(error.offset, offset)
        expectTrue(error.message.contains(construct) && error.message.contains("\"Task\""), "\(error)")
    }
}
