import SyncModel
import TestSupport
import Testing

@testable import Rules

/// The roles of a flexible app that say what its partition rules said.
@Suite struct PartitionRolesTests {
    /// What a user may do with an object of a partition, by the roles that are made.
    private func rights(_ moved: RulesDocument, _ user: RuleUser, _ partition: String) throws -> PartitionRights {
        let role = try #require(moved.defaultRoles?.first)
        let scope = RuleScope(user: user, constants: moved.constants) { name in
            name == "_partition" ? .string(partition) : nil
        }
        expectTrue(role.applyWhen.holds(in: scope) && role.read == true && role.write == true)
        if role.writeFilter.holds(in: scope) { return .readWrite }
        return role.readFilter.holds(in: scope) ? .read : .none
    }

    @Test(arguments: [
        #"{"read":true,"write":false}"#, #""open""#, #""own""#, #""read""#, #""none""#, #""ownOrPublic""#, #""listed""#,
        #"{"read":{"%%partition":{"$in":["red","blue"]}},"write":{"$or":[{"%%partition":"red"},{"%%user.type":"server"}]}}"#,
        #"{"read":{"$not":{"%%partition":"red"}},"write":{"%%user.id":{"$eq":"%%partition"}}}"#,
    ])
    func objectsAreForThoseWhoseTheirPartitionWas(partition: String) throws {
        let rules = try document(#"{"partition":\#(partition)}"#)
        let source = try #require(rules.movedToFlexible(field: "_partition", makesRoles: true))
        let check = RulesCheck(source)
        expectTrue(check.errors.isEmpty, "\(check.errors)")
        let moved = try #require(check.document)
        expectTrue(moved.queryable.includes("_partition", of: "Item"))
        for who in [Someone.a1, .b1, .n1, .key] {
            for partition in ["red", "blue", "PUBLIC", "p1", who.user.id] {
                let before = rules.partitionRights(of: who.user, partition: "\"\(partition)\"")
                try expectEqual(rights(moved, who.user, partition), before, "\(partition) of \(who.user.id)")
            }
        }
        // The way back needs nothing: partition rules stay.
        expectTrue(moved.partition != nil)
    }

    @Test func rulesThatNoPropertyCanExpressAreRefused() throws {
        let rules = try document(#"{"partition":{"read":{"%%user.id":{"$in":["%%partition"]}},"write":false}}"#)
        expectTrue(rules.movedToFlexible(field: "_partition", makesRoles: true) == nil)
        try expectTrue(document("{}").movedToFlexible(field: "_partition", makesRoles: true) == nil)
    }

    @Test func ownRolesStayIfTheyAreWanted() throws {
        let rules = try document(#"{"partition":"open","defaultRoles":"readAll","queryable":{"global":["a"]}}"#)
        let source = try #require(rules.movedToFlexible(field: "_partition", makesRoles: false))
        let moved = try #require(RulesCheck(source).document)
        expectEqual(moved.defaultRoles?.map(\.name), ["readAll"])
        expectEqual(moved.queryable.global, ["a", "_partition"])
    }
}
