import Changesets
import Query
import RealmState
import TestSupport
import Testing

/// Every refusal names the place and what was expected there.
@Suite struct RefusalTests {
    @Test(arguments: [
        ("", 0, "expected a value"), ("owner", 0, "expected a comparison, found a value alone"),
        ("owner ==", 8, "found the end"),
        ("owner == 'a' and", 16, "expected a value"), ("(owner == 'a'", 13, "expected \")\""),
        ("owner == 'a')", 12, "expected and, or"), ("owner == 'a' owner", 13, "expected and, or"),
        ("owner == 'a", 9, "has no end"), ("owner == 'a\\x'", 11, "after a backslash"),
        ("owner ? 1", 6, "unexpected character"), ("owner # 1", 6, "a property's name after"),
        ("owner ==[d] 'a'", 6, "[d] is no part"), ("owner LIKE[d] 'a'", 10, "LIKE does not take [d]"),
        ("owner == @foo", 9, "expected @count"), ("priority -1 == 2", 9, "expected"), ("NOT", 3, "expected a value"),
        ("owner == B64\"???\"", 9, "base64"), ("at > T1:-2", 5, "of one sign"), ("at > 1850-01-01@00:00:00", 5, "1900"),
        ("priority < [c] 5", 11, "does not take [c]"), ("priority IN {1,}", 15, "expected a value"),
        ("priority BETWEEN 5", 17, "expected a list"), ("priority BETWEEN $0", 17, "expected a list"),
        ("ALL scores.@sum == 1", 10, "a quantifier"),
        ("tags[x] == 'a'", 5, "expected an index"),
        ("SUBQUERY(subtasks, x, done == true).@count > 0", 19, "begins with"),
        ("done == true LIMIT(x)", 19, "a number"), ("done == true SORT(owner)", 23, "ASC or DESC"),
        ("a == 1 == 2", 7, "found a condition"), ("owner == O5", 9, "obj("),
    ])
    func syntaxErrorsSayWhereAndWhat(text: String, offset: Int, message: String) throws {
        let error = try #require(TaskRealm.error(text))
        expectEqual(error.offset, offset, "\(error)")
        expectTrue(error.message.contains(message), "\(error)")
        expectTrue(error.kind == .syntax || error.kind == .query)
    }

    @Test(arguments: [
        ("nosuch == 1", 0, "no property \"nosuch\""), ("parent.nosuch == 1", 7, "no property \"nosuch\""),
        ("owner == 1", 6, "cannot be compared"), ("1 == 2", 2, "two constants"), ("'a' IN owner", 4, "after IN"),
        ("priority CONTAINS 5", 9, "to the right of CONTAINS"),
        ("ANY owner == 'a'", 0, "expected a collection after ANY"),
        ("tags == scores", 5, "two collections"), ("subtasks == null", 9, "cannot be compared with null"),
        ("parent > null", 7, "does not go with link"), ("tags.@max == 'a'", 0, "expected numbers"),
        ("priority.@count == 1", 0, "go with collections"), ("labels[0] == 'a'", 0, "does not take [FIRST]"),
        ("tags[0][1] == 'a'", 0, "does not take"), ("tags.x == 'a'", 0, "does not take"),
        ("priority == inf", 12, "infinity"), ("_id != +9999999999999999999999999999999999E+6111", 7, "infinity"),
        ("priority IN {1, 1E400}", 16, "infinity"),
        ("priority BETWEEN {1}", 17, "2 elements"), ("tags BETWEEN {'a', 'b'}", 5, "expected ALL"),
        ("SUBQUERY(parent, $x, $x.done == true).@count > 0", 9, "expected a list"),
        ("done.@type == 'bool'", 11, "two constants"),
        ("value.@type == 'nosuch'", 15, "name of no type"), ("owner + 1 == 2", 6, "expected numbers"),
        ("owner == $0", 9, "expected an argument"), ("parent == obj('Nope', 1)", 10, "no class \"Nope\""),
        ("owner TEXT 'a'", 6, "full-text"), ("parent GEOWITHIN geoCircle([0, 0], 1)", 7, "embedded"),
        ("address GEOWITHIN geoCircle([200.0, 0], 1)", 8, "longitudes"), ("@links.Task.owner == 1", 0, "links to"),
        ("done == true SORT(tags ASC)", 18, "single values"),
    ])
    func meaninglessQueriesSayWhy(text: String, offset: Int, message: String) throws {
        let error = try #require(TaskRealm.error(text))
        expectEqual(error.offset, offset, "\(error)")
        expectTrue(error.message.contains(message), "\(error)")
        expectTrue(error.kind != .syntax)
    }

    @Test func argumentsThatDoNotFitAreRefused() {
        expectEqual(TaskRealm.error("owner == $0", [.value(.int(1))])?.kind, .argument)
        expectEqual(TaskRealm.error("owner == ANY $0", [.value(.string("a"))])?.kind, .query)
        expectEqual(TaskRealm.error("owner IN {$0}", [.list([.string("a")])])?.kind, .argument)
        expectEqual(TaskRealm.error("owner == $0", [.value(.list([]))])?.kind, .argument)
        expectEqual(TaskRealm.error("$K0 == 1", [.value(.int(1))])?.kind, .argument)
        expectTrue(TaskRealm.error("owner IN $0", [.list([.string("a")])]) == nil)
        expectTrue(TaskRealm.error("$K0 == 1", [.value(.string("parent.priority"))]) == nil)
    }
}
