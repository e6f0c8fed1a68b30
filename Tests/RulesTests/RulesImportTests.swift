import SyncModel
import Testing

@testable import Rules

/// Rules of exported App Services apps.
@Suite struct RulesImportTests {
    private static let user = RuleUser(id: "65f0c0ffee65f0c0ffee65f0")

    private static func json(_ text: String) throws -> JSONValue { try JSONParser.parse(text) }

    @Test func partitionRulesAreKept() throws {
        var export = ExportedRules()
        export.sync = try Self.json(
            #"""
            {"type":"partition","state":"enabled","partition":{"key":"_partition","type":"string",
             "permissions":{"read":true,"write":{"%%partition":"%%user.id"}}}}
            """#)
        let made = RulesImport(export, denyingIncompatible: false)
        let document = try #require(RulesCheck(made.document).document)
        #expect(made.isUsable && made.denied.isEmpty)
        #expect(document.partitionRights(of: Self.user, partition: "\"red\"") == .read)
        #expect(document.partitionRights(of: Self.user, partition: "\"\(Self.user.id)\"") == .readWrite)
    }

    @Test func rolesValuesAndQueryableFieldsAreKept() throws {
        var export = ExportedRules()
        export.sync = try Self.json(
            #"""
            {"type":"flexible","queryable_fields_names":["owner_id","_id"],"indexed_queryable_fields_names":["owner_id"],
             "collection_queryable_fields_names":{"News":["topic"]}}
            """#)
        export.defaultRule = try Self.json(
            #"""
            {"roles":[{"_id":"65f0","name":"readAll","apply_when":{},"document_filters":{"read":true,"write":false},
             "read":true,"write":false,"insert":false,"delete":false,"search":true}],"filters":[]}
            """#)
        export.classes["Item"] = try Self.json(
            #"""
            {"database":"todo","collection":"items","roles":[{"name":"own","apply_when":{"%%user.id":"%%values.owner"},
             "document_filters":{"read":true,"write":{"owner_id":"%%user.id"}},"read":true,"write":true}]}
            """#)
        export.values["owner"] = .string(Self.user.id)
        export.environment = ("production", ["limit": .integer(7)])
        let made = RulesImport(export, denyingIncompatible: false)
        let document = try #require(RulesCheck(made.document).document, "\(made.findings)")
        #expect(document.roleChoice(ofClass: "Item", for: Self.user).role?.name == "own")
        #expect(document.roleChoice(ofClass: "Item", for: RuleUser(id: "other")).role == nil)
        #expect(document.roleChoice(ofClass: "News", for: Self.user).role?.name == "readAll")
        #expect(document.queryable.indexed == "owner_id" && document.queryable.includes("topic", of: "News"))
        #expect(document.constants.environmentTag == "production")
    }

    /// Both forms of the same rules choose alike.
    @Test func theOlderFormIsConverted() throws {
        var export = ExportedRules()
        export.sync = try Self.json(
            #"""
            {"type":"flexible","queryable_fields_names":["owner_id"],"permissions":{
             "defaultRoles":[{"name":"all","applyWhen":{},"read":true,"write":{"owner_id":"%%user.id"}}],
             "rules":{"Secret":[{"name":"some","applyWhen":{},"read":true,"write":false,
              "fields":{"text":{"read":true}},"additional_fields":{}}]}}}
            """#)
        let document = try #require(RulesCheck(RulesImport(export, denyingIncompatible: false).document).document)
        let all = try #require(document.roleChoice(ofClass: "Item", for: Self.user).role)
        #expect(all.name == "all" && all.read == true && all.write == true)
        let some = try #require(document.roleChoice(ofClass: "Secret", for: Self.user).role)
        // With `read` beside them its fields would decide nothing.
        #expect(some.read == nil && some.fields["text"]?.read == true)
    }

    private static func withFunctions() throws -> ExportedRules {
        var export = ExportedRules()
        export.sync = try json(
            #"""
            {"partition":{"permissions":{"read":true,
             "write":{"%%true":{"%function":{"name":"mayWrite","arguments":["%%partition"]}}}}}}
            """#)
        export.defaultRule = try json(
            #"""
            {"roles":[
             {"name":"hooked","apply_when":{"%%true":{"%function":{"name":"isAdmin"}}},
              "document_filters":{"read":true,"write":true},"read":true,"write":true},
             {"name":"rest","apply_when":{},"document_filters":{"read":true,"write":true},"read":true,"write":true}]}
            """#)
        export.classes["Dog"] = try json(
            #"""
            {"roles":[{"name":"mine","apply_when":{"%%user.type":"server"},"document_filters":{"read":{"a":1},"write":true}}]}
            """#)
        return export
    }

    @Test func whatCannotBeEnforcedIsRefusedPlaceByPlace() throws {
        let made = RulesImport(try Self.withFunctions(), denyingIncompatible: false)
        #expect(!made.isUsable && made.denied.isEmpty)
        let errors = made.findings.filter { $0.severity == .error }
        #expect(errors.contains { $0.path.hasPrefix("/partition/write") && $0.code == .function })
        #expect(errors.contains { $0.path.hasPrefix("/defaultRoles/0/apply_when") && $0.code == .function })
        #expect(errors.contains { $0.path.hasPrefix("/classes/Dog/0/document_filters/read") })
    }

    @Test func orItDeniesOnRequest() throws {
        let made = RulesImport(try Self.withFunctions(), denyingIncompatible: true)
        let document = try #require(RulesCheck(made.document).document, "\(made.findings)")
        #expect(made.isUsable && made.denied.count == 3)
        #expect(document.partitionRights(of: Self.user, partition: "\"red\"") == .read)
        // Whom a function would have chosen is not known, so the roles behind it are for nobody.
        let chosen = try #require(document.roleChoice(ofClass: "Cat", for: Self.user).role)
        #expect(chosen.name == "hooked" && chosen.read == false && chosen.write == false)
        // A condition that can be read stays.
        #expect(document.roleChoice(ofClass: "Dog", for: Self.user).role == nil)
        let server = RuleUser(id: "1", kind: .server)
        #expect(document.roleChoice(ofClass: "Dog", for: server).role?.read == false)
    }

    @Test func whatIsWrongElsewhereStaysAnError() throws {
        var export = ExportedRules()
        export.sync = try Self.json(#"{"queryable_fields_names":[7]}"#)
        let made = RulesImport(export, denyingIncompatible: true)
        #expect(!made.isUsable && made.denied.isEmpty)
    }
}
