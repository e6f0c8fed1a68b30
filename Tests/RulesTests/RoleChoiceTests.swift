import SyncModel
import Testing

@testable import Rules

/// Which role is a user's.
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
        guard case .noRoles = choice.outcome else { return #expect(Bool(false), "\(choice.outcome)") }
        #expect(choice.role == nil)
    }

    @Test func defaultRolesAreOfClassesWithoutTheirOwn() throws {
        let rules = #"{"defaultRoles":[\#(Self.own)],"classes":{"News":"readAll"},"queryable":{"global":["owner_id"]}}"#
        #expect(try picked(rules, .a1).role?.name == "own")
        #expect(try picked(rules, .a1, "News").role?.name == "readAll")
    }

    @Test func aClassWithAListOfItsOwnIsDecidedByItAlone() throws {
        let admins = role("admins", when: #"{"%%user.custom_data.isAdmin":true}"#)
        let rules = #"{"defaultRoles":"readAndWriteAll","classes":{"Item":[\#(admins)],"Empty":[]}}"#
        let choice = try picked(rules, .a1)
        guard case .noneApplies = choice.outcome else { return #expect(Bool(false), "\(choice.outcome)") }
        #expect(choice.tried.map(\.verdict) == [.unknown])
        #expect(try picked(rules, .b1).role?.name == "admins")
        let empty = try picked(rules, .b1, "Empty")
        guard case .noneApplies = empty.outcome else { return #expect(Bool(false), "\(empty.outcome)") }
        #expect(empty.tried.isEmpty)
    }

    @Test func theFirstRoleThatAppliesIsTaken() throws {
        let rules = #"{"defaultRoles":"ownOrAdmin"}"#
        #expect(try picked(rules, .b1).role?.name == "admin")
        #expect(try picked(rules, .a1).role?.name == "owner")
        // Without custom data the first one is unknown, hence passed over.
        let choice = try picked(rules, .n1)
        #expect(choice.role?.name == "owner" && choice.tried.map(\.verdict) == [.unknown, .true])
    }

    @Test func aProgramHasATypeOfItsOwn() throws {
        let rules = #"{"defaultRoles":[\#(role("programs", when: #"{"%%user.type":"server"}"#))]}"#
        #expect(try picked(rules, .key).role?.name == "programs")
        #expect(try picked(rules, .a1).role == nil)
    }

    @Test func aRoleThatCannotBeUsedEndsTheSearch() throws {
        let rules =
            #"{"defaultRoles":[\#(Self.own),\#(role("all"))],"queryable":{"classes":{"Item":["owner_id"]}}}"#
        #expect(try picked(rules, .a1).role?.name == "own")
        let choice = try picked(rules, .a1, "News")
        guard case .incompatible(let role, let reason) = choice.outcome else {
            return #expect(Bool(false), "\(choice.outcome)")
        }
        #expect(role.name == "own" && reason.contains("owner_id") && choice.role == nil && choice.tried.count == 1)
    }

    @Test func rolesSayWhatTheyAllow() throws {
        let json =
            #"{"name":"r","apply_when":{},"document_filters":{"read":true,"write":{"owner_id":"%%user.id"}},"read":true,"#
            + #""insert":false,"fields":{"salary":{"read":true},"address":{"fields":{"zip":{"write":true}}}},"#
            + #""additional_fields":{"read":true,"write":true}}"#
        let rules = try document(#"{"defaultRoles":[\#(json)],"queryable":{"global":["owner_id"]}}"#)
        let role = try #require(rules.roleChoice(ofClass: "Item", for: Someone.a1.user).role)
        #expect(role.read == true && role.write == nil && role.insert.isUnconditional == false)
        #expect(role.insert.source == false && role.delete.source == true)
        #expect(role.fields["salary"]?.read == true && role.fields["salary"]?.write == false)
        #expect(role.fields["address"]?.fields["zip"]?.write == true && role.additionalFields.write)
        #expect(try role.writeFilter.truth(of: #"{"owner_id":"a1"}"#, for: Someone.a1.user) == .true)
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
        #expect(picked.name == role)
        #expect(try picked.readFilter.truth(of: object, for: who.user) == read)
        #expect(try picked.writeFilter.truth(of: object, for: who.user) == write)
    }

    @Test func aTemplatesParametersBecomeQueryable() throws {
        let rules = try document(
            #"{"defaultRoles":{"template":"ownOrAdmin","ownerField":"_owner","adminFlag":"boss"},"classes":{"Item":{"template":"team","teamField":"group"}}}"#
        )
        #expect(rules.queryable.global == ["_owner"] && rules.queryable.classes == ["Item": ["owner_id", "group"]])
        let boss = RuleUser(id: "u", customData: ["boss": .bool(true)])
        #expect(rules.roleChoice(ofClass: "Any", for: boss).role?.name == "admin")
        #expect(try #require(RulesCheck(rules.bytes).document).bytes == rules.bytes)
    }

    @Test func anExplanationNamesEveryRoleThatWasTried() throws {
        let rules = try document(#"{"defaultRoles":"ownOrAdmin"}"#)
        let explained = rules.explainRole(ofClass: "Item", for: Someone.n1.user)
        #expect(explained.outcome == .role && explained.role == "owner" && explained.list == "/defaultRoles")
        #expect(explained.tried.map(\.role) == ["admin", "owner"])
        let first = try #require(explained.tried.first?.applyWhen)
        #expect(first.verdict == .unknown && first.subject == nil && first.operand == true)
        #expect(first.condition == #"{"%%user.custom_data.isAdmin":true}"#)
        #expect(first.path == "/defaultRoles/0/apply_when/%%user.custom_data.isAdmin")
        let shut = try document(#"{"classes":{"Item":[]}}"#).explainRole(ofClass: "Item", for: Someone.a1.user)
        #expect(shut.outcome == .noneApplies && shut.reason.contains("empty") && shut.list == "/classes/Item")
    }
}
