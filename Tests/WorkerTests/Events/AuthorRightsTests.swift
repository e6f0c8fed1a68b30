import Changesets
import ExtendedJSON
import Messages
import Rules
import Storage
import StorageSupport
import SyncModel
import TestSupport
import Testing

@testable import Worker

/// Documents that are written for a user, as far as the user may write them.
@Suite(.hangGuard) struct AuthorRightsTests {
    private static func writes(_ json: String) throws -> BSONValue {
        try ExtendedJSONParser.parse(Array("[\(json)]".utf8))
    }

    /// A realm with the tasks 1 of title "mine" and 2 of title "theirs", made by nobody.
    private func harness(flexible: Bool) async throws -> OwnerHarness {
        let realm =
            flexible
            ? RealmName(flexible: OwnerHarness.app) : RealmName(app: OwnerHarness.app, partition: "\"store\"")
        let harness = try await OwnerHarness.make(realm: realm)
        try await harness.send(
            ChangesetMessage(
                realm: realm, upload: nil, entries: [.init(timestamp: 1, changeset: Changes.schema())]))
        _ = try await harness.control.updateApp(OwnerHarness.app) { $0.developmentMode = false }
        try await harness.send(
            WriteMessage(
                realm: realm,
                writes: try Self.writes(
                    #"{"insert": "Task", "document": {"_id": 1, "title": "mine", "tags": ["a"]}}, "#
                        + #"{"insert": "Task", "document": {"_id": 2, "title": "theirs", "tags": ["secret"]}}"#)))
        return harness
    }

    /// Roles that let a user see and write the tasks of title "mine" and "new", read all but `hidden` of them, and set all but `fixed`.
    private static func roles(hidden: String? = nil, fixed: String? = nil, delete: Bool = true) throws -> String {
        let mine = #"{"title": {"$in": ["mine", "new"]}}"#
        var fields: [String: String] = [:]
        if let hidden { fields[hidden] = #"{"read": false, "write": false}"# }
        if let fixed { fields[fixed] = #"{"read": true, "write": false}"# }
        let named = fields.map { "\"\($0)\": \($1)" }.joined(separator: ", ")
        let text = #"""
            {"queryable": {"global": ["title"]}, "defaultRoles": [{"name": "r", "apply_when": {}, "insert": true,
             "delete": \#(delete), "document_filters": {"read": \#(mine), "write": \#(mine)},
             "fields": {\#(named)}, "additional_fields": {"read": true, "write": true}}]}
            """#
        let check = RulesCheck(Array(text.utf8))
        return try #require(check.document, "\(check.findings)").closedRoles(of: RuleUser(id: "ann")).text
    }

    private func write(
        _ json: String, for roles: String?, rights: PartitionRights = .readWrite, rulesVersion: UInt64 = 0,
        usersVersion: UInt64? = nil, in harness: OwnerHarness
    ) async throws -> Published {
        let author = WriteAuthor(
            user: "ann", rights: SessionRights(rights, rulesVersion: rulesVersion, usersVersion: usersVersion),
            roles: roles)
        return try await harness.send(
            WriteMessage(realm: harness.realm, writes: try Self.writes(json), author: author))
    }

    // MARK: Partition mode

    @Test func whoMayOnlyReadAPartitionWritesNothingThere() async throws {
        let harness = try await harness(flexible: false)
        for rights in [PartitionRights.none, .read] {
            let refusal = try await write(
                #"{"update": "Task", "id": 1, "set": {"title": "x"}}"#, for: nil, rights: rights, in: harness
            ).one(WriteRefusedAnswer.self)
            expectEqual(refusal.code, "forbidden")
            expectTrue(refusal.reason.contains("ann"), "\(refusal.reason)")
        }
        try await expectEqual(harness.titles(), [1: "mine", 2: "theirs"])
        let answer = try await write(#"{"update": "Task", "id": 1, "set": {"title": "x"}}"#, for: nil, in: harness)
        expectEqual(try answer.one(WrittenAnswer.self).results.map(\.modified), [1])
    }

    @Test func rightsThatWereDecidedByOlderRulesAreRefusedAsStale() async throws {
        let harness = try await harness(flexible: false)
        try await harness.control.setRules(TestRules.open, of: OwnerHarness.app)
        let write = #"{"delete": "Task", "id": 1}"#
        let refusal = try await self.write(write, for: nil, rulesVersion: 0, in: harness).one(WriteRefusedAnswer.self)
        expectEqual(refusal.code, "stale")
        try await expectEqual(harness.titles(), [1: "mine", 2: "theirs"])
        _ = try await self.write(write, for: nil, rulesVersion: 1, in: harness).one(WrittenAnswer.self)
    }

    @Test func rightsOfAUserWhoHasChangedSinceAreStale() async throws {
        let harness = try await harness(flexible: false)
        try await harness.control.insert(
            UserRecord(app: OwnerHarness.app, id: "ann", identities: [], email: nil, isDisabled: false, createdAt: 0))
        try await harness.control.setDisabled(true, app: OwnerHarness.app, user: "ann")
        let write = #"{"delete": "Task", "id": 1}"#
        let refusal = try await self.write(write, for: nil, usersVersion: 0, in: harness).one(WriteRefusedAnswer.self)
        expectEqual(refusal.code, "stale")
        try await expectEqual(harness.titles(), [1: "mine", 2: "theirs"])
    }

    /// Development mode apart, a user adds nothing to the app's schema.
    @Test func whatAUserWritesAddsToTheSchemaInDevelopmentModeAlone() async throws {
        let harness = try await harness(flexible: false)
        let write = #"{"insert": "Note", "document": {"_id": 1, "text": "x"}}"#
        expectEqual(
            try await self.write(write, for: nil, in: harness).one(WriteRefusedAnswer.self).code, "unknown_class")
        _ = try await harness.control.updateApp(OwnerHarness.app) { $0.developmentMode = true }
        _ = try await self.write(write, for: nil, in: harness).one(WrittenAnswer.self)
    }

    // MARK: Flexible mode

    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var write: String
        var hidden: String?
        var fixed: String?
        var delete = true
        /// Nil: it is written.
        var code: String?
        var testDescription: String { name }

        init(
            _ name: String, _ write: String, hidden: String? = nil, fixed: String? = nil, delete: Bool = true,
            _ code: String? = nil
        ) {
            self.name = name
            self.write = write
            self.hidden = hidden
            self.fixed = fixed
            self.delete = delete
            self.code = code
        }
    }

    static let cases: [Case] = [
        Case("an object that the role shows is written", #"{"update": "Task", "id": 1, "set": {"title": "new"}}"#),
        Case(
            "an object is made that the role lets be made",
            #"{"insert": "Task", "document": {"_id": 3, "title": "new", "tags": []}}"#),
        Case(
            "no object is made that the role forbids",
            #"{"insert": "Task", "document": {"_id": 3, "title": "theirs", "tags": []}}"#, "forbidden"),
        Case(
            "no object is written that the role hides", #"{"update": "Task", "id": 2, "set": {"title": "new"}}"#,
            "forbidden"),
        Case(
            "no condition tells of what the role hides", #"{"delete": "Task", "id": 2, "onlyIf": {"title": "theirs"}}"#,
            "forbidden"),
        Case(
            "no object is put out of the role's reach", #"{"update": "Task", "id": 1, "set": {"title": "theirs"}}"#,
            "forbidden"),
        Case("what may be deleted is", #"{"delete": "Task", "id": 1}"#),
        Case("what may not be deleted is not", #"{"delete": "Task", "id": 1}"#, delete: false, "forbidden"),
        Case(
            "a property that may not be set is not", #"{"update": "Task", "id": 1, "apply": {"$push": {"tags": "b"}}}"#,
            fixed: "tags", "forbidden"),
        Case(
            "beside a property that may not be set others are",
            #"{"update": "Task", "id": 1, "set": {"title": "new"}}"#, fixed: "tags"),
        Case(
            "no filter looks at a hidden property",
            #"{"update": "Task", "filter": {"tags": "a"}, "set": {"title": "new"}}"#, hidden: "tags", "unreadable_field"
        ),
        Case(
            "no condition looks at a hidden property",
            #"{"update": "Task", "id": 1, "onlyIf": {"tags": "a"}, "set": {"title": "new"}}"#, hidden: "tags",
            "unreadable_field"),
        Case(
            "a batch is refused for one of its writes",
            #"{"update": "Task", "id": 1, "set": {"title": "new"}}, {"update": "Task", "id": 2, "set": {"title": "new"}}"#,
            "forbidden"),
    ]

    @Test(arguments: cases) func rolesDecideOnEachObject(_ given: Case) async throws {
        let harness = try await harness(flexible: true)
        let before = try await harness.titles()
        let published = try await write(
            given.write, for: try Self.roles(hidden: given.hidden, fixed: given.fixed, delete: given.delete),
            in: harness)
        guard let code = given.code else {
            _ = try published.one(WrittenAnswer.self)
            return
        }
        let refusal = try published.one(WriteRefusedAnswer.self)
        expectEqual(refusal.code, code, "\(refusal.reason)")
        expectEqual(refusal.write, given.write.contains("}}, {") ? 1 : 0, "\(refusal.reason)")
        expectTrue(try published.dead.isEmpty && published.every(IntegratedNotice.self).isEmpty)
        try await expectEqual(harness.titles(), before)
    }

    @Test func aFilterSelectsWhatItsAuthorMaySee() async throws {
        let harness = try await harness(flexible: true)
        let answer = try await write(
            #"{"update": "Task", "filter": {"_id": {"$gt": 0}}, "many": true, "set": {"title": "new"}}"#,
            for: try Self.roles(), in: harness
        ).one(WrittenAnswer.self)
        expectEqual(answer.results.map(\.matched), [1])
        try await expectEqual(harness.titles(), [1: "new", 2: "theirs"])
    }

    @Test func whoHasNoRoleWritesNothing() async throws {
        let harness = try await harness(flexible: true)
        let refusal = try await write(
            #"{"insert": "Task", "document": {"_id": 3, "title": "new", "tags": []}}"#, for: nil, in: harness
        ).one(WriteRefusedAnswer.self)
        expectEqual(refusal.code, "forbidden")
        try await expectEqual(harness.titles(), [1: "mine", 2: "theirs"])
    }

    // MARK: The message

    @Test func anAuthorIsInTheMessageAsItWas() throws {
        let author = WriteAuthor(
            user: "ann", rights: SessionRights(.read, rulesVersion: 7, usersVersion: 9), roles: "{}")
        let message = WriteMessage(realm: RealmName(app: "tasks", partition: "\"s\""), writes: [], author: author)
        expectEqual(try WriteMessage(jsonBody: message.jsonBody()), message)
        // A worker that knows no authors puts it back, and does not write it as an operator would.
        expectEqual(message.messageVersion, MessageVersion.authors)
    }

    @Test func anAuthorWithoutRightsIsNotTakenForAnOperator() async throws {
        let harness = try await harness(flexible: false)
        let body = #"{"realm": {"app": "tasks", "partition": "store"}, "author": {"user": "ann"}, "writes": []}"#
        let error = #expect(throws: MessageError.self) { try WriteMessage(jsonBody: Array(body.utf8)) }
        expectTrue(error?.reason.contains("coordinator") == true, "\(error.map { "\($0)" } ?? "")")
        try await expectEqual(harness.titles(), [1: "mine", 2: "theirs"])
    }
}
