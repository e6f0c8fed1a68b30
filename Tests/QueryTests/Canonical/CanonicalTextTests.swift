import Changesets
import Query
import RealmState
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
        #expect(query.canonicalText == canonical)
    }
}
