import Changesets
import Query
import RealmState
import TestSupport
import Testing

/// What is too large is refused with its place, and neither recursion nor quadratic work comes before.
@Suite(.hangGuard) struct LimitTests {
    private func limitError(_ text: String) throws -> QueryError {
        let error = try #require(TaskRealm.error(text))
        expectEqual(error.kind, .limit, "\(error)")
        return error
    }

    @Test func textsHaveABound() throws {
        let text = "owner == '" + String(repeating: "a", count: 257 * 1024) + "'"
        try expectEqual(limitError(text).offset, 256 * 1024)
    }

    @Test func aMillionTermsAreRefusedAtOnce() throws {
        let text = Array(repeating: "done==1", count: 1_000_000).joined(separator: "||")
        try expectTrue(limitError(text).message.contains("bytes"))
        var limits = QueryLimits()
        limits.bytes = .max
        #expect(throws: QueryError.self) { try TaskRealm.query(text, limits: limits) }
    }

    @Test(arguments: ["(", "!", "NOT ", "!("])
    func nestingHasABound(opening: String) throws {
        for depth in [101, 5_000, 60_000] {
            let text = String(repeating: opening, count: depth) + "done == true"
            try expectTrue(limitError(text).message.contains("100 levels"))
        }
    }

    @Test func arithmeticHasABound() throws {
        try expectTrue(
            limitError(Array(repeating: "priority", count: 20_000).joined(separator: "+") + "== 1").message
                .contains("100"))
        let deep = String(repeating: "(", count: 5_000) + "priority" + String(repeating: "+ 1)", count: 5_000) + " == 1"
        try expectEqual(limitError(deep).offset, 100)
    }

    @Test func subqueriesHaveABound() throws {
        let text = String(repeating: "SUBQUERY(subtasks, $x, ", count: 1_000)
        try expectTrue(limitError(text).message.contains("subqueries"))
    }

    @Test func pathsHaveABound() throws {
        try expectTrue(limitError(String(repeating: "parent.", count: 1_000) + "done == true").message.contains("path"))
    }

    @Test func queriesWithinTheBoundsAreEvaluated() throws {
        let nested = String(repeating: "!(", count: 50) + "done == true" + String(repeating: ")", count: 50)
        try expectTrue(TaskRealm.query(nested).matches(TaskRealm.object(["done": .bool(true)]), key: .int(1)))
        let chain = (0..<15_000).map { "priority == \($0)" }.joined(separator: " or ")
        var limits = QueryLimits()
        limits.bytes = .max
        let query = try TaskRealm.query(chain, limits: limits)
        expectTrue(query.matches(TaskRealm.object(["priority": .int(14_999)]), key: .int(1)))
        expectTrue(!query.matches(TaskRealm.object(["priority": .int(15_000)]), key: .int(1)))
        let again = try TaskRealm.query(query.canonicalText, limits: limits)
        expectTrue(again.matches(TaskRealm.object(["priority": .int(0)]), key: .int(1)))
        let groups = (0..<5_000).map { "(priority == \($0) or done == true)" }.joined(separator: " or ")
        try expectTrue(TaskRealm.query(groups, limits: limits).canonicalText.utf8.count > 100_000)
    }
}
