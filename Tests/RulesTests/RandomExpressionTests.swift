import SeededRandom
import SyncModel
import TestSupport
import Testing

@testable import Rules

/// The laws of three-valued logic on random conditions as rules write them.
@Suite struct RandomExpressionTests {
    /// Conditions that are true, false and unknown for the user of the tests.
    private static let leaves: [JSONValue] = [
        ["%%user.id": "u"], ["%%user.id": "v"], ["%%user.custom_data.none": "%%user.id"], ["owner_id": "u"],
        ["owner_id": ["$ne": "%%user.custom_data.none"]], ["team": ["$in": ["a", "b"]]], true, false, [:],
        ["tags": ["$all": ["x", "%%user.custom_data.none"]]], ["%%user.custom_data.none": ["$exists": false]],
    ]

    private func condition(_ random: inout SeededGenerator, depth: Int) -> JSONValue {
        guard depth > 0, random.below(4) > 0 else { return Self.leaves[random.below(Self.leaves.count)] }
        switch random.below(4) {
        case 0: return ["$not": condition(&random, depth: depth - 1)]
        case 1: return ["%and": .array(conditions(&random, depth))]
        case 2: return ["$or": .array(conditions(&random, depth))]
        default: return ["$nor": .array(conditions(&random, depth))]
        }
    }

    private func conditions(_ random: inout SeededGenerator, _ depth: Int) -> [JSONValue] {
        (0...random.below(3)).map { _ in condition(&random, depth: depth - 1) }
    }

    private func truth(_ json: JSONValue) throws -> Truth {
        let expression = try filter(JSONWriter.text(of: json))
        let scope = RuleScope(
            user: RuleUser(id: "u"), property: { ["owner_id": .string("u"), "team": .string("c")][$0] })
        let truth = expression.truth(in: scope)
        // An explanation comes to the same verdict by the same parts.
        expectEqual(expression.trace(in: scope).verdict, truth)
        expectEqual(expression.holds(in: scope), (truth == .true))
        if let constant = expression.root.constantTruth { expectEqual(constant, truth) }
        return truth
    }

    @Test(arguments: 0..<20) func lawsHold(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var seen: Set<Truth> = []
        for _ in 0..<50 {
            let (one, other) = (condition(&random, depth: 3), condition(&random, depth: 3))
            let (left, right) = (try truth(one), try truth(other))
            seen.formUnion([left, right])
            try expectEqual(truth(["$not": ["$not": one]]), left)
            try expectEqual(truth(["$and": [one, other]]), (left && right))
            try expectEqual(truth(["$or": [one, other]]), (left || right))
            try expectEqual(truth(["$nor": [one, other]]), truth(["$and": [["$not": one], ["$not": other]]]))
            try expectEqual(truth(["$not": ["$and": [one, other]]]), truth(["$or": [["$not": one], ["$not": other]]]))
        }
        expectEqual(seen, Set(Truth.allCases))
    }

    /// Learning more about a user never turns a known verdict round, where what is unset is not compared with literals.
    @Test(arguments: 0..<20) func anUnsetValueNeverDecides(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<50 {
            let expression = try filter(JSONWriter.text(of: condition(&random, depth: 3).withoutPresence))
            let unset = expression.truth(in: RuleScope(user: RuleUser(id: "u")))
            guard unset != .unknown else { continue }
            for value in ["x", "u", "a"] {
                let user = RuleUser(id: "u", customData: ["none": .string(value)])
                expectEqual(expression.truth(in: RuleScope(user: user)), unset)
            }
        }
    }
}

extension JSONValue {
    /// The condition without `$exists`, which asks whether something is set.
    fileprivate var withoutPresence: JSONValue {
        switch self {
        case .object(let members):
            members.values.contains { $0.objectValue?["$exists"] != nil }
                ? true : .object(members.mapValues(\.withoutPresence))
        case .array(let elements): .array(elements.map(\.withoutPresence))
        default: self
        }
    }
}
