import Changesets
import RealmState
import Rules
import SyncModel
import TestSupport
import Testing

@testable import Views

/// Views by subscriptions and roles, and the forms in which they are kept.
@Suite struct ViewTests {
    static let schema: Schema = {
        var state = RealmState()
        var changeset = Changeset()
        let item = changeset.strings.intern("Item")
        changeset.instructions.append(
            .addTable(
                .init(
                    table: item,
                    kind: .topLevel(
                        keyField: changeset.strings.intern("_id"), keyType: .int, keyNullable: false, asymmetric: false)
                )))
        for (name, type) in [("owner_id", PayloadType.string), ("team", .string), ("done", .bool), ("secret", .string)]
        {
            changeset.instructions.append(
                .addColumn(
                    .init(
                        table: item, field: changeset.strings.intern(ByteString(name)), type: type, nullable: true,
                        collection: .single)))
        }
        try? state.apply(changeset)
        return state.schema
    }()

    static func roles(_ roles: String, user: String = "a1", team: String? = "red") throws -> String {
        let text = #"{"queryable": {"global": ["owner_id", "team", "done"]}, "defaultRoles": [\#(roles)]}"#
        let check = RulesCheck(Array(text.utf8))
        let document = try #require(check.document, "\(check.findings)")
        let data: [String: RuleValue] = team.map { ["team": .string($0)] } ?? [:]
        return document.closedRoles(of: RuleUser(id: user, customData: data)).text
    }

    static func item(_ values: [String: Value]) -> StoredObject {
        var object = StoredObject()
        guard let table = schema.table("Item") else { return object }
        for (name, value) in values { if let column = table.column(ByteString(name)) { object[column.id] = value } }
        return object
    }

    private func view(_ query: String, _ roles: String) throws -> View {
        try View(
            ViewDefinition(version: 1, queries: #"{"Item": "\#(query)"}"#, roles: roles), schema: Self.schema)
    }

    static let own = #"""
        {"name": "own", "apply_when": {}, "read": true, "write": true,
         "document_filters": {"read": {"owner_id": "%%user.id"}, "write": {"owner_id": "%%user.id"}}}
        """#

    @Test func anObjectIsInTheViewByQueryAndRole() throws {
        let view = try view("done == false", try Self.roles(Self.own))
        let item = try #require(view["Item"])
        expectTrue(item.contains(Self.item(["owner_id": .string("a1"), "done": .bool(false)]), .int(1)))
        expectTrue(!item.contains(Self.item(["owner_id": .string("a1"), "done": .bool(true)]), .int(1)))
        expectTrue(!item.contains(Self.item(["owner_id": .string("b1"), "done": .bool(false)]), .int(1)))
        expectEqual(item.columns.count, 2)
    }

    @Test func anUnsetExpansionMatchesNothing() throws {
        let roles = try Self.roles(
            #"""
            {"name": "t", "apply_when": {}, "read": true, "write": true, "document_filters":
             {"read": {"team": "%%user.custom_data.team"}, "write": {"team": {"$ne": "%%user.custom_data.team"}}}}
            """#, team: nil)
        let item = try #require(try view("TRUEPREDICATE", roles)["Item"])
        expectTrue(!item.contains(Self.item(["team": .null]), .int(1)))
        expectTrue(!item.contains(Self.item(["team": .string("red")]), .int(1)))
    }

    @Test func aUsersTextIsNoExpansion() throws {
        let roles = try Self.roles(
            #"""
            {"name": "t", "apply_when": {}, "read": true, "write": true, "document_filters":
             {"read": {"team": "%%user.custom_data.team"}, "write": false}}
            """#, team: "%%true")
        let item = try #require(try view("TRUEPREDICATE", roles)["Item"])
        expectTrue(item.contains(Self.item(["team": .string("%%true")]), .int(1)))
        expectTrue(!item.contains(Self.item(["team": .string("red")]), .int(1)))
    }

    @Test func fieldsThatMayNotBeReadAreHiddenAndNotQueried() throws {
        let roles = try Self.roles(
            #"""
            {"name": "f", "apply_when": {}, "document_filters": {"read": true, "write": true},
             "fields": {"done": {"read": true, "write": true}}, "additional_fields": {"read": false, "write": false}}
            """#)
        let role = try #require(try view("done == true", roles)["Item"]?.role)
        expectEqual(role.hiddenColumns.count, 3)
        expectTrue(role.mayWrite(["done"]) && role.mayWrite([]))
        expectTrue(!role.mayWrite(["done", "team"]))
        #expect(throws: ViewError.self) { try view("team == 'red'", roles) }
    }

    @Test func writesAreJudgedBeforeAndAfter() throws {
        let role = try #require(try view("TRUEPREDICATE", try Self.roles(Self.own))["Item"]?.role)
        let (mine, others) = (Self.item(["owner_id": .string("a1")]), Self.item(["owner_id": .string("b1")]))
        for stays in [true, false] {
            expectTrue(
                role.allows(.make(mine, stays: stays), .int(1)) && !role.allows(.make(others, stays: stays), .int(1)))
        }
        expectTrue(role.allows(.erase(mine), .int(1)) && !role.allows(.erase(others), .int(1)))
        expectTrue(role.allows(.change(from: mine, to: mine), .int(1)))
        expectTrue(!role.allows(.change(from: mine, to: others), .int(1)))
        expectTrue(!role.allows(.change(from: others, to: mine), .int(1)))
        // What an object was decides if it is not there any more.
        expectTrue(
            role.allows(.eraseNothing, .int(1), last: mine) && !role.allows(.eraseNothing, .int(1), last: others))
    }

    /// However often an object is changed, its role is asked anew only about what it looks at.
    @Test func aRoleIsAskedOnceAboutWhatStaysAsItIs() throws {
        let role = try #require(try view("TRUEPREDICATE", try Self.roles(Self.own))["Item"]?.role)
        var memo = TableRole.FilterMemo()
        var object = Self.item(["owner_id": .string("a1")])
        for _ in 0..<100 {
            var next = object
            next[ColumnID(rawValue: 1_000)] = .int(1)
            expectTrue(role.allows(.change(from: object, to: next), .int(1), memo: &memo))
            object = next
        }
        expectEqual(memo.asked, 1)
        expectTrue(
            !role.allows(.change(from: object, to: Self.item(["owner_id": .string("b1")])), .int(1), memo: &memo))
        expectEqual(memo.asked, 2)
        expectTrue(role.allows(.change(from: object, to: object), .int(1), memo: &memo))
    }

    @Test(arguments: [
        (#""write": true"#, true), (#""write": false, "fields": {"done": {"write": true}}"#, false),
        (#""fields": {"done": {"write": true}}"#, true),
        (#""additional_fields": {"read": true, "write": false}"#, false),
        (#""fields": {"elsewhere": {"write": true}}"#, false),
    ])
    func roleWithoutWriteAccessMakesAndErasesNoObjects(role: (access: String, writes: Bool)) throws {
        let roles = try Self.roles(
            #"{"name": "w", "apply_when": {}, "document_filters": {"read": true, "write": true}, \#(role.access)}"#)
        let found = try #require(try view("TRUEPREDICATE", roles)["Item"]?.role)
        expectEqual(found.mayWrite([]), role.writes)
    }

    @Test(arguments: [
        (#"{"Nothing": "a == 1"}"#, "Nothing"), (#"{"Item": "nothing == 1"}"#, "Item"),
        (#"{"Item": "done =="}"#, "Item"),
        (#"{"Item": "TRUEPREDICATE SORT(team ASC)"}"#, "Item"), (#"{"Item": 1}"#, "Item"), ("[]", ""), ("{", ""),
    ])
    func badSetsAreRefusedWithTheirClass(_ set: (text: String, className: String)) throws {
        let roles = try Self.roles(Self.own)
        let error = #expect(throws: ViewError.self) {
            try View(ViewDefinition(version: 1, queries: set.text, roles: roles), schema: Self.schema)
        }
        expectEqual((error?.className?.string ?? ""), set.className, "\(String(describing: error))")
    }

    @Test func aSetThatIsTooLongIsRefusedUnread() throws {
        let text = #"{"Item": "\#(String(repeating: " ", count: 257 << 10))"}"#
        #expect(throws: ViewError.self) {
            try View(ViewDefinition(version: 1, queries: text, roles: ClosedRoles.none.text), schema: Self.schema)
        }
    }

    @Test func rolesAreTheSameFromTheirText() throws {
        let text = try Self.roles(
            #"""
            {"name": "x", "apply_when": {}, "insert": {"team": "red"}, "delete": false, "document_filters":
             {"read": {"$or": [{"owner_id": {"$in": ["%%user.id", null, "%%user.custom_data.none"]}},
                               {"$not": {"team": "%%user.custom_data.none"}}]}, "write": {"done": {"$exists": true}}},
             "fields": {"team": {"read": true, "write": false}}, "additional_fields": {"read": true, "write": true}}
            """#)
        expectEqual(ClosedRoles(text: text)?.text, text)
        expectTrue(ClosedRoles(text: "{}") == nil && ClosedRoles(text: "") == nil)
    }

    @Test func keptColumnsImagesAndViewsAreReadBack() throws {
        let roles = try Self.roles(Self.own)
        let view = try view("done == false", roles)
        var columns = ImagedColumns()
        expectTrue(columns.start(of: view) == nil)
        expectEqual(columns.add(view, since: 7), .columns)
        expectEqual(columns.add(view, since: 9), .nothing)
        expectEqual(columns.start(of: view), 7)
        try expectEqual(ImagedColumns(decoding: columns.encoded()), columns)
        let table = try #require(Self.schema.table("Item"))
        let object = Self.item(["owner_id": .string("a1"), "secret": .string("s"), "done": .bool(true)])
        let image = columns.image(of: object, in: table.id)
        expectEqual(image, Self.item(["owner_id": .string("a1"), "done": .bool(true)]))
        let images = BeforeImages([
            .init(ObjectSlot(table.id, .int(1)), before: image), .init(ObjectSlot(table.id, .string("k")), before: nil),
        ])
        try expectEqual(BeforeImages(decoding: images.encoded()), images)
        var views = ClientViews(views: ViewHistory([.init(start: 3, view: view.definition)]), roles: roles)
        views.add(
            CompensatingWrite(
                version: 9, clientVersion: 4, timestamp: 5,
                refused: [RefusedWrite(className: "Item", key: .int(1), reason: .view)],
                objects: [ObjectAddress("Item", .int(1))]))
        views.add(Self.renewal(10, of: [2, 3]))
        let read = try ClientViews(decoding: views.encoded())
        expectTrue(read.encoded() == views.encoded() && read.compensations == views.compensations)
        for count in 0..<views.encoded().count {
            #expect(throws: ChangesetError.self) { try ClientViews(decoding: Array(views.encoded().prefix(count))) }
        }
    }

    private static func renewal(_ version: ServerVersion, of keys: [Int64]) -> CompensatingWrite {
        CompensatingWrite(
            version: version, clientVersion: 4, timestamp: 5, refused: [],
            objects: keys.map { ObjectAddress("Item", .int($0)) })
    }

    /// A client that was away for long has written to many objects of which it is sent the present state.
    @Test func laterRenewalsReplaceEarlierOnes() {
        var views = ClientViews()
        for version in 1...3_000 { views.add(Self.renewal(ServerVersion(UInt64(version)), of: [Int64(version % 2)])) }
        expectTrue(views.compensations.map(\.version) == [2_999, 3_000] && !views.isFull)
        views.add(Self.renewal(3_001, of: [0, 1]))
        expectEqual(views.compensations.map(\.version), [3_001])
        for key in 0..<1_000 { views.add(Self.renewal(ServerVersion(4_000 + UInt64(key)), of: [Int64(key), -1])) }
        expectTrue(!views.isFull)
        let first = views
        let long = ObjectKey.string(ByteString(String(repeating: "k", count: 3_000)))
        for key in 1_000..<1_700 {
            var renewal = Self.renewal(ServerVersion(4_000 + UInt64(key)), of: [Int64(key)])
            renewal.objects.append(ObjectAddress("Item", long))
            views.add(renewal)
        }
        expectTrue(views.isFull)
        views = first
        let putRight = PutRight(views.compensations)
        expectEqual(putRight.standing(of: ObjectAddress("Item", .int(7)), for: 4_006), .renewed)
        expectTrue(putRight.standing(of: ObjectAddress("Item", .int(7)), for: 4_007) == nil)
        views.settle(4_998)
        expectEqual(views.compensations.map(\.version), [4_999])
    }

    @Test func reasonsNameClassAndKey() {
        func text(_ key: ObjectKey, _ reason: RefusedWrite.Reason = .permission) -> String {
            RefusedWrite(className: "Item", key: key, reason: reason).text
        }
        expectEqual(text(.int(9)), #"write to 9 in table "Item" not allowed"#)
        expectEqual(
            text(.string("a"), .view),
            #"write to "a" in table "Item" not allowed; object is outside of the current query view"#)
        expectEqual(
            text(.objectID(ObjectIDValue(high: 0x0102, low: 3))),
            #"write to ObjectID("000000000000010200000003") in table "Item" not allowed"#)
        expectEqual(
            text(.uuid(UUIDValue(high: 0x0011_2233_4455_6677, low: 0x8899_aabb_ccdd_eeff))),
            #"write to UUID(00112233-4455-6677-8899-aabbccddeeff) in table "Item" not allowed"#)
    }
}
