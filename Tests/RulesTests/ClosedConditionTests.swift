import SeededRandom
import SyncModel
import TestSupport
import Testing

@testable import Rules

/// Closed conditions: they say what the rule says, and take no more than the object and the rule call for.
@Suite struct ClosedConditionTests {
    private static let values: [JSONValue] = [
        "a", "b", "u", .integer(1), .integer(2), .number(1.5), true, false, .null, ["a", "b"], ["a", ["b"]], [],
    ]

    private func value(_ random: inout SeededGenerator) -> JSONValue { Self.values[random.below(Self.values.count)] }

    private func condition(_ random: inout SeededGenerator) -> JSONValue {
        let operand: JSONValue = random.below(5) == 0 ? "%%user.custom_data.none" : value(&random)
        let list = (0..<random.below(24)).map { _ in random.below(9) == 0 ? "%%user.custom_data.none" : value(&random) }
        let field = ["owner_id", "tags", "team"][random.below(3)]
        return switch random.below(8) {
        case 0: [field: ["$in": .array(list)]]
        case 1: [field: ["$nin": .array(list)]]
        case 2: [field: ["$all": .array(list)]]
        case 3: [field: ["$ne": operand]]
        case 4: [field: ["$lt": "b"]]
        case 5: [field: ["$gte": .integer(2)]]
        case 6: [field: ["$exists": .bool(random.below(2) == 0)]]
        default: [field: operand]
        }
    }

    @Test(arguments: 0..<20) func theySayWhatTheRuleSays(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var seen: Set<Truth> = []
        for _ in 0..<200 {
            let json = condition(&random)
            let expression = try filter(JSONWriter.text(of: json))
            let many = (0..<random.below(20)).map { _ in value(&random) }
            let object: [String: RuleValue] = [
                "owner_id": RuleValue(value(&random)), "tags": RuleValue(.array(many)),
            ]
            let user = RuleUser(id: "u")
            let wanted = expression.truth(in: RuleScope(user: user, property: { object[$0] }))
            let closed = expression.root.closed(in: RuleScope(user: user))
            let found = closed.truth { object[$0] }
            seen.insert(found)
            guard found != wanted else { continue }
            Issue.record("seed \(seed): \(JSONWriter.text(of: json)) of \(object) is \(wanted), closed \(found)")
            return
        }
        expectEqual(seen, Set(Truth.allCases))
    }

    /// Lists of both sides are not gone over one for each element of the other.
    @Test(arguments: ["$in", "$nin", "$all"]) func listsTakeTheirSumAndNotTheirProduct(_ comparison: String) throws {
        let wanted = JSONValue.array((0..<5_000).map { .string("wanted \($0)") })
        let closed = try filter(JSONWriter.text(of: ["tags": .object([comparison: wanted])])).root.closed(
            in: RuleScope(user: RuleUser(id: "u")))
        let tags = RuleValue.array((0..<5_000).map { .string("found \($0)") })
        var steps = RuleSteps(10_000_000)
        let holds = closed.holds({ _ in tags }, &steps)
        expectEqual(holds, comparison == "$nin")
        expectTrue(10_000_000 - steps.left < 50 * 10_000, "\(10_000_000 - steps.left)")
    }

    @Test func evaluationStopsWhenItsStepsAreUsedUp() throws {
        let parts = JSONValue.array((0..<1_000).map { ["owner_id": .string("\($0)")] })
        let closed = try filter(JSONWriter.text(of: ["$or": parts])).root.closed(
            in: RuleScope(user: RuleUser(id: "u")))
        var steps = RuleSteps(1_000)
        var looks = 0
        _ = closed.holds(
            { _ in
                looks += 1
                return .string("x")
            }, &steps)
        expectTrue(steps.isSpent && looks < 100, "\(looks)")
    }
}
