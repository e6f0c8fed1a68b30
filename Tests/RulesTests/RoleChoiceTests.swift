import SyncModel
import TestSupport
import Testing

@testable import Rules

/// The choice of a user's role.
@Suite struct RoleChoiceTests {
    private static let own =
        #"{"name":"own","apply_when":{},"document_filters":{"read":{"owner_id":"%%user.id"},"write":{"owner_id":"%%user.id"}},"#
        + #""read":true,"write":true}"#

    private func role(_ name: String, when: String = "{}") -> String {
        #"{"name":"\#(name)","apply_when":\#(when),"document_filters":{"read":true,"write":true},"read":true,"write":true}"#
    }

    private func picked(_ rules: String, _ who: Someone, _ className: String = "Item") throws -> RoleChoice {
        try document(rules).roleChoice(ofClass: className, for: who.user)
    }

    @Test func withoutRolesNobodyHasAny() throws {
        let choice = try picked("{}", .a1)
        guard case .noRoles = choice.outcome else { return expectTrue(Bool(false), "\(choice.outcome)") }
        expectTrue(choice.role == nil)
    }

    @Test func defaultRolesAreOfClassesWithoutTheirOwn() throws {
        let rules = #"{"defaultRoles":[\#(Self.own)],"classes":{"News":"readAll"},"queryable":{"global":["owner_id"]}}"#
        try expectEqual(picked(rules, .a1).role?.name, "own")
        try expectEqual(picked(rules, .a1, "News").role?.name, "readAll")
    }

    @Test func aClassWithAListOfItsOwnIsDecidedByItAlone() throws {
        let admins = role("admins", when: #"{"%%user.custom_data.isAdmin":true}"#)
        let rules = #"{"defaultRoles":"readAndWriteAll","classes":{"Item":[\#(admins)],"Empty":[]}}"#
        let choice = try picked(rules, .a1)
        guard case .noneApplies = choice.outcome else { return expectTrue(Bool(false), "\(choice.outcome)") }
        expectEqual(choice.tried.map(\.verdict), [.false])
        try expectEqual(picked(rules, .b1).role?.name, "admins")
        let empty = try picked(rules, .b1, "Empty")
        guard case .noneApplies = empty.outcome else { return expectTrue(Bool(false), "\(empty.outcome)") }
        expectTrue(empty.tried.isEmpty)
    }

    @Test func theFirstRoleThatAppliesIsTaken() throws {
        let rules = #"{"defaultRoles":"ownOrAdmin"}"#
        try expectEqual(picked(rules, .b1).role?.name, "admin")
        try expectEqual(picked(rules, .a1).role?.name, "owner")
        // Without custom data nobody is an admin.
        let choice = try picked(rules, .n1)
        expectTrue(choice.role?.name == "owner" && choice.tried.map(\.verdict) == [.false, .true])
    }

    /// A role that shuts out whoever lacks something is not passed over for the open one behind it.
    @Test(arguments: [
        #"{"%%user.custom_data.team":null}"#, #"{"%%user.custom_data.verified":{"$ne":true}}"#,
        #"{"$not":{"%%user.custom_data.verified":true}}"#, #"{"%%user.custom_data.level":{"$in":[null,0]}}"#,
    ])
    func rolesDenyingUsersThatLackAValueApplyToThem(_ condition: String) throws {
        let denial =
            #"{"name":"strangers","apply_when":\#(condition),"document_filters":{"read":false,"write":false}}"#
        let rules = try document(#"{"defaultRoles":[\#(denial),\#(role("all"))]}"#)
        expectEqual(rules.roleChoice(ofClass: "Item", for: Someone.n1.user).role?.name, "strangers")
        expectEqual(rules.closedRoles(of: Someone.n1.user).role(ofClass: "Item")?.name, "strangers")
        let known = RuleUser(
            id: "u",
            customData: ["team": .string("red"), "verified": .bool(true), "level": .number(RuleNumber(1))])
        expectEqual(rules.roleChoice(ofClass: "Item", for: known).role?.name, "all")
    }

    private static let ownTeam = #"{"%%user.custom_data.team":"%%user.id"}"#

    /// A role with a filter, by its name.
    private func filtered(_ name: String, when: String = "{}", _ read: String, _ write: String) -> String {
        #"{"name":"\#(name)","apply_when":\#(when),"document_filters":{"read":\#(read),"write":\#(write)},"read":true,"write":true}"#
    }

    @Test func nobodyGetsMoreByWhatIsUnset() throws {
        let own = #"{"owner_id":"%%user.id"}"#
        let team = #"{"$or":[{"owner_id":"%%user.id"},{"team":"red"}]}"#
        for (first, second, opens) in [
            // The second gives more, or something else.
            (filtered("a", when: Self.ownTeam, own, own), role("b"), true),
            (filtered("a", when: Self.ownTeam, own, own), filtered("b", "true", own), true),
            (filtered("a", when: Self.ownTeam, own, own), filtered("b", team, own), true),
            (filtered("a", when: Self.ownTeam, own, own), filtered("b", #"{"team":"red"}"#, own), true),
            // The same, or less.
            (role("a", when: Self.ownTeam), filtered("b", own, own), false),
            (filtered("a", when: Self.ownTeam, own, own), filtered("b", own, own), false),
            (filtered("a", when: Self.ownTeam, team, team), filtered("b", own, own), false),
            (
                filtered("a", when: Self.ownTeam, team, own),
                filtered("b", #"{"owner_id":"%%user.id","team":"red"}"#, own), false
            ),
            (filtered("a", when: Self.ownTeam, own, own), filtered("b", "false", "false"), false),
        ] as [(String, String, Bool)] {
            let rules = #"{"defaultRoles":[\#(first),\#(second)],"queryable":{"global":["owner_id","team"]}}"#
            let checked = RulesCheck(try JSONParser.parse(rules))
            let choice = try picked(rules, .n1)
            expectEqual(choice.tried.map(\.verdict), [.unknown, .true])
            expectEqual(choice.role?.name, (opens ? nil : "b"), "\(rules)")
            let closed = try document(rules).closedRoles(of: Someone.n1.user)
            expectEqual(closed.role(ofClass: "Item")?.name, choice.role?.name)
            expectEqual(checked.warnings.contains { $0.code == .unsetOpens }, opens, "\(checked.warnings)")
            // A user who has a team gets what the second role gives.
            try expectEqual(picked(rules, .a1).role?.name, "b")
        }
    }

    @Test func fieldsAndChangesAreComparedToo() throws {
        func role(_ name: String, _ members: String, when: String = "{}") -> String {
            #"{"name":"\#(name)","apply_when":\#(when),"document_filters":{"read":true,"write":true},\#(members)}"#
        }
        for (first, second, opens) in [
            (#""read":true"#, #""read":true,"write":true"#, true),
            (#""read":true,"write":true,"insert":false"#, #""read":true,"write":true"#, true),
            (#""read":true,"write":true,"delete":false"#, #""read":true,"write":true"#, true),
            (#""fields":{"a":{"read":true}}"#, #""additional_fields":{"read":true}"#, true),
            (#""fields":{"a":{"read":true}}"#, #""fields":{"a":{"read":true,"write":true}}"#, true),
            (#""fields":{"a":{"read":true}}"#, #""fields":{"a":{"read":true,"fields":{"b":{"write":true}}}}"#, true),
            (#""read":true,"write":true"#, #""read":true"#, false),
            (#""read":true"#, #""fields":{"a":{"read":true}}"#, false),
            (
                #""fields":{"a":{"fields":{"b":{"read":true}}}}"#, #""fields":{"a":{"fields":{"b":{"read":true}}}}"#,
                false
            ),
        ] as [(String, String, Bool)] {
            let rules =
                #"{"defaultRoles":[\#(role("a", first, when: Self.ownTeam)),\#(role("b", second))]}"#
            try expectEqual(picked(rules, .n1).role?.name, (opens ? nil : "b"), "\(rules)")
        }
    }

    @Test func conditionsThatCanBeComparedInManyWaysAreGivenUp() throws {
        func alternatives(_ letter: String) -> String {
            ((0..<110).map { #"{"team":"\#(letter)\#($0)"}"# } + [#"{"team":"same"}"#]).joined(separator: ",")
        }
        func chosen(_ condition: String) throws -> String? {
            let first = filtered("a", when: Self.ownTeam, #"{"$or":[\#(alternatives("a"))]}"#, "false")
            let second = filtered("b", condition, "false")
            let rules = #"{"defaultRoles":[\#(first),\#(second)],"queryable":{"global":["team"]}}"#
            return try picked(rules, .n1).role?.name
        }
        try expectEqual(chosen(#"{"team":"same"}"#), "b")
        try expectTrue(chosen(#"{"$and":[\#(alternatives("b"))]}"#) == nil)
    }

    @Test func aProgramHasATypeOfItsOwn() throws {
        let rules = #"{"defaultRoles":[\#(role("programs", when: #"{"%%user.type":"server"}"#))]}"#
        try expectEqual(picked(rules, .key).role?.name, "programs")
        try expectTrue(picked(rules, .a1).role == nil)
    }

    @Test func aRoleThatCannotBeUsedEndsTheSearch() throws {
        let rules =
            #"{"defaultRoles":[\#(Self.own),\#(role("all"))],"queryable":{"classes":{"Item":["owner_id"]}}}"#
        try expectEqual(picked(rules, .a1).role?.name, "own")
        let choice = try picked(rules, .a1, "News")
        guard case .incompatible(let role, let reason) = choice.outcome else {
            return expectTrue(Bool(false), "\(choice.outcome)")
        }
        expectTrue(role.name == "own" && reason.contains("owner_id") && choice.role == nil && choice.tried.count == 1)
    }

    @Test func rolesSayWhatTheyAllow() throws {
        let json =
            #"{"name":"r","apply_when":{},"document_filters":{"read":true,"write":{"owner_id":"%%user.id"}},"read":true,"#
            + #""insert":false,"fields":{"salary":{"read":true},"address":{"fields":{"zip":{"write":true}}}},"#
            + #""additional_fields":{"read":true,"write":true}}"#
        let rules = try document(#"{"defaultRoles":[\#(json)],"queryable":{"global":["owner_id"]}}"#)
        let role = try #require(rules.roleChoice(ofClass: "Item", for: Someone.a1.user).role)
        expectTrue(role.read == true && role.write == nil && role.insert.isUnconditional == false)
        expectTrue(role.insert.source == false && role.delete.source == true)
        expectTrue(role.fields["salary"]?.read == true && role.fields["salary"]?.write == false)
        expectTrue(role.fields["address"]?.fields["zip"]?.write == true && role.additionalFields.write)
        try expectEqual(role.writeFilter.truth(of: #"{"owner_id":"a1"}"#, for: Someone.a1.user), .true)
    }

    @Test(arguments: [
        ("denyAll", Someone.a1, "denyAll", Truth.false, Truth.false),
        ("readAll", .a1, "readAll", .true, .false), ("readAndWriteAll", .a1, "readAndWriteAll", .true, .true),
        ("readAllWriteOwn", .a1, "readAllWriteOwn", .true, .true),
        ("readAllWriteOwn", .b1, "readAllWriteOwn", .true, .false),
        ("readOwnWriteOwn", .b1, "readOwnWriteOwn", .false, .false), ("ownOrAdmin", .b1, "admin", .true, .true),
        ("ownOrAdmin", .n1, "owner", .false, .false), ("collaborators", .b1, "collaborator", .true, .true),
        ("collaborators", .n1, "collaborator", .false, .false), ("team", .b1, "teamAdmin", .true, .true),
        ("team", .a1, "teamMember", .true, .true), ("team", .n1, "teamMember", .unknown, .false),
    ])
    func templatesStandForRoles(_ name: String, _ who: Someone, _ role: String, _ read: Truth, _ write: Truth) throws {
        // An object of a1's, of team red, shared with b1.
        let object = #"{"owner_id":"a1","team":"red","collaborators":["b1"]}"#
        let rules = try document(#"{"classes":{"Item":"\#(name)"}}"#)
        let picked = try #require(rules.roleChoice(ofClass: "Item", for: who.user).role)
        expectEqual(picked.name, role)
        try expectEqual(picked.readFilter.truth(of: object, for: who.user), read)
        try expectEqual(picked.writeFilter.truth(of: object, for: who.user), write)
    }

    @Test func aTemplatesParametersBecomeQueryable() throws {
        let rules = try document(
            #"{"defaultRoles":{"template":"ownOrAdmin","ownerField":"_owner","adminFlag":"boss"},"classes":{"Item":{"template":"team","teamField":"group"}}}"#
        )
        expectTrue(rules.queryable.global == ["_owner"] && rules.queryable.classes == ["Item": ["owner_id", "group"]])
        let boss = RuleUser(id: "u", customData: ["boss": .bool(true)])
        expectEqual(rules.roleChoice(ofClass: "Any", for: boss).role?.name, "admin")
        try expectEqual(#require(RulesCheck(rules.bytes).document).bytes, rules.bytes)
    }

    @Test func anExplanationNamesEveryRoleThatWasTried() throws {
        let rules = try document(#"{"defaultRoles":"ownOrAdmin"}"#)
        let explained = rules.explainRole(ofClass: "Item", for: Someone.n1.user)
        expectTrue(explained.outcome == .role && explained.role == "owner" && explained.list == "/defaultRoles")
        expectEqual(explained.tried.map(\.role), ["admin", "owner"])
        let first = try #require(explained.tried.first?.applyWhen)
        expectTrue(first.verdict == .false && first.subject == nil && first.operand == true)
        expectEqual(first.condition, #"{"%%user.custom_data.isAdmin":true}"#)
        expectEqual(first.path, "/defaultRoles/0/apply_when/%%user.custom_data.isAdmin")
        let doubtful = try document(
            #"{"defaultRoles":[\#(filtered("a", when: Self.ownTeam, "false", "false")),\#(role("b"))]}"#
        )
        .explainRole(ofClass: "Item", for: Someone.n1.user)
        expectTrue(
            doubtful.outcome == .noneApplies && doubtful.role == nil
                && doubtful.reason.contains(#""b" behind it would give more"#))
        let shut = try document(#"{"classes":{"Item":[]}}"#).explainRole(ofClass: "Item", for: Someone.a1.user)
        expectTrue(shut.outcome == .noneApplies && shut.reason.contains("empty") && shut.list == "/classes/Item")
    }
}
