import SyncModel
import TestSupport
import Testing

@testable import Rules

/// The users of the table of cases.
enum Someone: String, CaseIterable, Sendable {
    /// A member of team red; an admin of team red; nobody in particular; a program with an API key.
    case a1, b1, n1, key

    var user: RuleUser {
        switch self {
        case .a1:
            RuleUser(
                id: "a1",
                customData: [
                    "team": .string("red"), "ids": .array([.string("a1"), .string("b1")]),
                    "readPartitions": .array([.string("p1")]), "nothing": .null,
                ])
        case .b1:
            RuleUser(id: "b1", customData: ["team": .string("red"), "isAdmin": .bool(true), "ids": .string("a1")])
        case .n1: RuleUser(id: "n1")
        case .key: RuleUser(id: "k1", kind: .server)
        }
    }
}

/// Reads a document that must be sound.
func document(_ json: String) throws -> RulesDocument {
    let check = RulesCheck(Array(json.utf8))
    expectTrue(check.errors.isEmpty, "\(check.errors)")
    return try #require(check.document)
}

/// Reads an expression as a filter of objects whose properties are all queryable.
func filter(_ json: String) throws -> RuleExpression {
    var findings = RulesFindings()
    var queryable = Queryable()
    queryable.global = ["owner_id", "team", "tags", "done", "ref", "count", "at", "uuid"]
    let expression = findings.expression(
        try JSONParser.parse(json), .filter(.init(queryable: queryable, className: "Item")), RuleConstants(),
        at: .root)
    expectTrue(findings.errors.isEmpty, "\(json): \(findings.errors)")
    return expression
}

extension RuleExpression {
    /// The verdict of one object, given in extended JSON.
    func truth(of object: String, for user: RuleUser) throws -> Truth {
        let members = try #require(JSONParser.parse(object).objectValue).mapValues { RuleValue($0) }
        return truth(in: RuleScope(user: user, property: { members[$0] }))
    }
}
