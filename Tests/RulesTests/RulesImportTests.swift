import SyncModel
import TestSupport
import Testing

@testable import Rules

/// Rules of exported App Services apps.
@Suite struct RulesImportTests {
    private static let user = RuleUser(id: "65f0c0ffee65f0c0ffee65f0")

    /// An export of these files, each a JSON text.
    private static func export(
        _ files: [String: String], environment: String? = nil, databases: [String] = []
    ) throws -> ExportedRules {
        try ExportedRules(
            ExportFiles(files.mapValues { Array($0.utf8) }), environment: environment, databases: databases)
    }

    private static let source = "data_sources/mongodb-atlas"

    @Test func partitionRulesAreKept() throws {
        let export = try Self.export([
            "sync/config.json": #"""
            {"type":"partition","state":"enabled","partition":{"key":"_partition","type":"string",
             "permissions":{"read":true,"write":{"%%partition":"%%user.id"}}}}
            """#
        ])
        let made = RulesImport(export, denyingIncompatible: false)
        let document = try #require(RulesCheck(made.document).document)
        expectTrue(made.isUsable && made.denied.isEmpty)
        expectEqual(document.partitionRights(of: Self.user, partition: "\"red\""), .read)
        expectEqual(document.partitionRights(of: Self.user, partition: "\"\(Self.user.id)\""), .readWrite)
    }

    @Test func rolesValuesAndQueryableFieldsAreKept() throws {
        let export = try Self.export([
            "realm_config.json": #"{"config_version":20210101,"environment":"production"}"#,
            "sync/config.json": #"""
            {"type":"flexible","service_name":"mongodb-atlas","queryable_fields_names":["owner_id","_id"],
             "indexed_queryable_fields_names":["owner_id"],"collection_queryable_fields_names":{"news":["topic"]},
             "permissions":{"rules":{},"defaultRoles":[]}}
            """#,
            "\(Self.source)/default_rule.json": #"""
            {"id":"7","roles":[{"_id":"65f0","name":"readAll","apply_when":{},"document_filters":{"read":true,"write":false},
             "read":true,"write":false,"insert":false,"delete":false,"search":true}],"filters":[]}
            """#,
            "\(Self.source)/todo/items/rules.json": #"""
            {"database":"todo","collection":"items","roles":[{"name":"own","apply_when":{"%%user.custom_data.team":"%%values.team"},
             "document_filters":{"read":true,"write":{"owner_id":"%%user.id"}},"read":true,"write":true}]}
            """#,
            "\(Self.source)/todo/items/schema.json": #"{"title":"Item","properties":{"_id":{"bsonType":"objectId"}}}"#,
            "\(Self.source)/todo/news/schema.json": #"{"title":"News","properties":{"_id":{"bsonType":"int"}}}"#,
            "values/team.json": #"{"name":"team","value":"red","from_secret":false}"#,
            "values/page.json": #"{"name":"page","value":"<html>"}"#,
            "values/key.json": #"{"name":"key","value":"key_secret","from_secret":true}"#,
            "environments/production.json": #"{"values":{"limit":7}}"#,
            "auth/providers.json": #"{"anon-user":{"type":"anon-user","disabled":false},"api-key":{"disabled":true}}"#,
            "auth/custom_user_data.json": #"{"enabled":true,"database_name":"todo","collection_name":"people"}"#,
        ])
        let made = RulesImport(export, denyingIncompatible: false)
        let document = try #require(RulesCheck(made.document).document, "\(made.findings)")
        let user = RuleUser(id: Self.user.id, customData: ["team": .string("red")])
        expectEqual(document.roleChoice(ofClass: "Item", for: user).role?.name, "own")
        expectTrue(document.roleChoice(ofClass: "Item", for: RuleUser(id: "other")).role == nil)
        expectEqual(document.roleChoice(ofClass: "News", for: Self.user).role?.name, "readAll")
        expectTrue(document.queryable.indexed == "owner_id" && document.queryable.includes("topic", of: "News"))
        expectEqual(document.constants.environmentTag, "production")
        // What no rule looks at stays out, secrets among it.
        expectTrue(document.constants.values.keys.sorted() == ["team"] && document.constants.environmentValues.isEmpty)
        expectTrue(made.notes.contains { $0.contains("--sync-mode flexible") })
        expectTrue(made.notes.contains { $0.contains("anon-user") && !$0.contains("api-key") })
        expectTrue(made.notes.contains { $0.contains("todo.people") })
        expectTrue(!made.findings.contains { $0.code == .noPartitionRules })
    }

    private static let openRole =
        #"{"name":"all","apply_when":{},"document_filters":{"read":true,"write":true},"read":true,"write":true}"#

    /// Roles of the sync configuration are all that sync went by: an open rule of the data source was for MongoDB.
    @Test func rolesOfTheSyncConfigurationStandAlone() throws {
        let export = try Self.export([
            "sync/config.json": #"""
            {"type":"flexible","queryable_fields_names":["owner_id"],"permissions":{"rules":{},
             "defaultRoles":[{"name":"own","applyWhen":{},"read":{"owner_id":"%%user.id"},"write":{"owner_id":"%%user.id"}}]}}
            """#,
            "\(Self.source)/default_rule.json": #"{"roles":[\#(Self.openRole)]}"#,
            // The rule could not be enforced, and need not be.
            "\(Self.source)/todo/Item/rules.json":
                #"{"roles":[{"name":"all","apply_when":{"%%request.x":1},"read":true}]}"#,
            "\(Self.source)/todo/Item/schema.json": #"{"title":"Item","properties":{"_id":{"bsonType":"int"}}}"#,
        ])
        let made = RulesImport(export, denyingIncompatible: false)
        let document = try #require(RulesCheck(made.document).document, "\(made.findings)")
        expectTrue(document.roleChoice(ofClass: "Item", for: Self.user).role?.name == "own" && document.classes.isEmpty)
        expectTrue(made.notes.contains { $0.contains("left out") })
        // In development mode clients' queries may add to the queryable properties, as they did there.
        expectTrue(document.queryable.global == ["owner_id"] && !document.queryable.isComplete)
    }

    @Test func partitionAppsAreNotHeldToRulesOfCollections() throws {
        let export = try Self.export([
            "sync/config.json": #"""
            {"service_name":"gone","partition":{"key":"_p","permissions":{"read":{"%%partition":"%%user.id"},"write":false}}}
            """#,
            "data_sources/a/default_rule.json": #"{"roles":[\#(Self.openRole)]}"#,
            "data_sources/a/todo/Item/rules.json":
                #"{"roles":[{"name":"default","apply_when":{},"additional_fields":{}}]}"#,
            "data_sources/b/config.json": #"{"name":"b","type":"mongodb-atlas"}"#,
        ])
        let made = RulesImport(export, denyingIncompatible: false)
        expectTrue(made.isUsable && made.document.objectValue?.keys.sorted() == ["partition"])
        expectTrue(made.notes.contains { $0.contains("--sync-mode partition") })
    }

    private static func twice(_ first: String, _ second: String, title: String = "Item") -> [String: String] {
        func roles(_ filter: String) -> String {
            #"{"roles":[{"name":"r","apply_when":{},"document_filters":{"read":\#(filter),"write":false},"read":true}]}"#
        }
        let schema = #"{"title":"\#(title)","properties":{"_id":{"bsonType":"int"}}}"#
        return [
            "sync/config.json": #"{"type":"flexible","service_name":"mongodb-atlas"}"#,
            "\(source)/live/Item/rules.json": roles(first), "\(source)/live/Item/schema.json": schema,
            "\(source)/test/Item/rules.json": roles(second),
            "\(source)/test/Item/schema.json": schema.replacing(title, with: "Item"),
        ]
    }

    @Test func aClassOfTwoDatabasesIsAskedAbout() throws {
        let files = Self.twice("false", "true")
        do {
            _ = try Self.export(files)
            Issue.record("the last database was taken")
        } catch let problem as ExportProblem {
            expectTrue(problem.description.contains("--database") && problem.description.contains(#""live", "test""#))
        }
        for (database, mayRead) in [("live", false), ("test", true)] {
            let made = RulesImport(try Self.export(files, databases: [database]), denyingIncompatible: false)
            let document = try #require(RulesCheck(made.document).document)
            let role = try #require(document.roleChoice(ofClass: "Item", for: Self.user).role)
            expectEqual((role.readFilter.source == true), mayRead)
        }
        do {
            _ = try Self.export(files, databases: ["lost"])
            Issue.record("a database that is not there was taken")
        } catch let problem as ExportProblem {
            expectTrue(problem.description.contains(#""lost""#))
        }
        // Where both say the same, nothing is to be asked; nor where they are two classes.
        expectTrue(RulesImport(try Self.export(Self.twice("true", "true")), denyingIncompatible: false).isUsable)
        try expectEqual(Self.export(Self.twice("false", "true", title: "Other")).classes.count, 2)
    }

    @Test func aClassWithoutASchemaIsNoReasonToRefuse() throws {
        let export = try Self.export([
            "sync/config.json": #"{"type":"flexible","service_name":"mongodb-atlas"}"#,
            "\(Self.source)/default_rule.json": #"{"roles":[\#(Self.openRole)]}"#,
            "\(Self.source)/todo/Old/rules.json":
                #"{"roles":[{"name":"own","apply_when":{"_id":"%%user.id"},"read":true}]}"#,
            "\(Self.source)/todo/Kept/rules.json": #"{"roles":[\#(Self.openRole)]}"#,
        ])
        let made = RulesImport(export, denyingIncompatible: false)
        let document = try #require(RulesCheck(made.document).document, "\(made.findings)")
        // Nobody gets more than they had: not by the open default rule either.
        expectTrue(document.roleChoice(ofClass: "Old", for: Self.user).role == nil)
        expectEqual(document.roleChoice(ofClass: "Kept", for: Self.user).role?.name, "all")
        expectTrue(made.notes.contains { $0.contains(#""Old" had no schema"#) } && made.denied.isEmpty)
    }

    @Test(arguments: ["config.json", "stitch.json"]) func theLayoutBefore2021IsRead(root: String) throws {
        let files = [
            root: #"""
            {"app_id":"a-x","config_version":20180301,"environment":"none",
             "custom_user_data_config":{"enabled":true,"database_name":"todo","collection_name":"people"}}
            """#,
            "services/push/config.json": #"{"name":"push","type":"gcm"}"#,
            "services/atlas/config.json": #"""
            {"name":"atlas","type":"mongodb-atlas","config":{"clusterName":"c","sync":{"state":"enabled","partition":{"key":"_p",
             "type":"string","permissions":{"read":{"%%user.custom_data.all":"%%values.word"},"write":{"%%partition":"%%user.id"}}}}}}
            """#,
            "services/atlas/rules/todo.Item.json":
                #"{"database":"todo","collection":"Item","roles":[{"name":"d","apply_when":{}}],"schema":{"title":"Item"}}"#,
            "values/value0.json": #"{"id":"1","name":"word","value":"yes"}"#,
            "auth_providers/local-userpass.json":
                #"{"name":"local-userpass","type":"local-userpass","disabled":false}"#,
        ]
        // An archive may have it all in one folder.
        for files in [files, Dictionary(uniqueKeysWithValues: files.map { ("app-export/\($0)", $1) })] {
            let made = RulesImport(try Self.export(files), denyingIncompatible: false)
            let document = try #require(RulesCheck(made.document).document, "\(made.findings)")
            expectEqual(document.partitionRights(of: Self.user, partition: "\"\(Self.user.id)\""), .readWrite)
            let all = RuleUser(id: "x", customData: ["all": .string("yes")])
            expectEqual(document.partitionRights(of: all, partition: "\"red\""), .read)
            expectTrue(
                made.notes.contains { $0.contains("local-userpass") }
                    && made.notes.contains { $0.contains("todo.people") })
        }
    }

    @Test func filesThatAreNoExportAreRefused() throws {
        for files in [
            [:], ["config.json": "{}"], ["readme.json": "{}", "other/x.json": "{}"],
            ["sync/config.json": #"{"timezone":"x"}"#],
        ] {
            #expect(throws: ExportProblem.self) { try Self.export(files) }
        }
        #expect(throws: ExportProblem("sync/config.json: expected a JSON object")) {
            try Self.export(["sync/config.json": "[]"])
        }
        let two = ["a", "b"].map { ("data_sources/\($0)/config.json", #"{"name":"\#($0)","type":"mongodb-atlas"}"#) }
        #expect(throws: ExportProblem.self) {
            try Self.export(
                Dictionary(uniqueKeysWithValues: two + [("sync/config.json", #"{"type":"flexible"}"#)]))
        }
        for path in ["functions/a.json", "hosting/files/x.json", "sync/config.yaml", "a/b/c/d/e/f/g.json"] {
            expectTrue(!ExportFiles.isWanted(path), "\(path)")
        }
        for path in ["sync/config.json", "x/sync/config.json", "x/data_sources/s/d/c/rules.json", "stitch.json"] {
            expectTrue(ExportFiles.isWanted(path), "\(path)")
        }
    }

    private static func tutorial(_ write: String) throws -> ExportedRules {
        func call(_ name: String) -> String {
            #"{"%%true":{"%function":{"arguments":["%%partition"],"name":"\#(name)"}}}"#
        }
        return try export([
            "sync/config.json":
                #"{"partition":{"permissions":{"read":\#(call("canReadPartition")),"write":\#(call(write))}}}"#
        ])
    }

    @Test func theTutorialsFunctionsAreListsOnRequest() throws {
        let asked = RulesImport(try Self.tutorial("canWritePartition"), denyingIncompatible: false)
        expectTrue(!asked.isUsable)
        let found = asked.findings.filter { $0.code == .function }
        expectTrue(found.count == 2 && found.allSatisfy { $0.hint?.contains("--listed") == true })
        expectTrue(found.contains { $0.message.contains(#""canWritePartition""#) })
        let made = RulesImport(try Self.tutorial("canWritePartition"), denyingIncompatible: false, listing: true)
        let listed = try #require(
            RulesCheck(
                [
                    "partition": [
                        "template": "listed", "readList": "canReadPartitions", "writeList": "canWritePartitions",
                    ]
                ]
            ).document)
        expectTrue(made.isUsable && made.document == listed.source && made.notes.count > 1)
        // Another function is still none that can be called.
        let other = RulesImport(try Self.tutorial("mayWrite"), denyingIncompatible: false, listing: true)
        let errors = other.findings.filter { $0.severity == .error }
        expectTrue(
            errors.count == 1 && errors[0].path.hasPrefix("/partition/write")
                && errors[0].hint?.contains("--listed") == false)
    }

    @Test func anImportWarnsOfWhatItCannotKnow() throws {
        let export = try Self.export([
            "sync/config.json":
                #"{"partition":{"permissions":{"read":{"%%user.data.email":"a@b.c"},"write":{"%%user.id":{"$in":["62babea7"]}}}}}"#
        ])
        let codes = RulesImport(export, denyingIncompatible: false).findings.map(\.code)
        expectEqual(Set(codes), [.unconfirmedEmail, .literalUserID])
    }

    /// Both forms of the same rules choose alike.
    @Test func theOlderFormIsConverted() throws {
        let export = try Self.export([
            "sync/config.json": #"""
            {"type":"flexible","queryable_fields_names":["owner_id"],"permissions":{
             "defaultRoles":[{"name":"all","applyWhen":{},"read":true,"write":{"owner_id":"%%user.id"}}],
             "rules":{"Secret":[{"name":"some","applyWhen":{},"read":true,"write":false,
              "fields":{"text":{"read":true}},"additional_fields":{}}]}}}
            """#
        ])
        let document = try #require(RulesCheck(RulesImport(export, denyingIncompatible: false).document).document)
        let all = try #require(document.roleChoice(ofClass: "Item", for: Self.user).role)
        expectTrue(all.name == "all" && all.read == true && all.write == true)
        let some = try #require(document.roleChoice(ofClass: "Secret", for: Self.user).role)
        // With `read` beside them its fields would decide nothing.
        expectTrue(some.read == nil && some.fields["text"]?.read == true)
    }

    private static func withFunctions() throws -> ExportedRules {
        try export([
            "sync/config.json": #"{"type":"flexible"}"#,
            "\(source)/default_rule.json": #"""
            {"roles":[
             {"name":"hooked","apply_when":{"%%true":{"%function":{"name":"isAdmin"}}},
              "document_filters":{"read":true,"write":true},"read":true,"write":true},
             {"name":"rest","apply_when":{},"document_filters":{"read":true,"write":true},"read":true,"write":true}]}
            """#,
            "\(source)/todo/Dog/rules.json": #"""
            {"roles":[{"name":"mine","apply_when":{"%%user.type":"server"},"document_filters":{"read":{"a":1},"write":true}}]}
            """#,
            "\(source)/todo/Dog/schema.json": #"{"title":"Dog","properties":{"_id":{"bsonType":"int"}}}"#,
        ])
    }

    private static func withPartitionFunction() throws -> ExportedRules {
        try export([
            "sync/config.json": #"""
            {"partition":{"permissions":{"read":true,
             "write":{"%%true":{"%function":{"name":"mayWrite","arguments":["%%partition"]}}}}}}
            """#
        ])
    }

    @Test func unenforceableConditionsAreRefusedPlaceByPlace() throws {
        let made = RulesImport(try Self.withFunctions(), denyingIncompatible: false)
        expectTrue(!made.isUsable && made.denied.isEmpty)
        let errors = made.findings.filter { $0.severity == .error }
        expectTrue(errors.contains { $0.path.hasPrefix("/defaultRoles/0/apply_when") && $0.code == .function })
        expectTrue(errors.contains { $0.path.hasPrefix("/classes/Dog/0/document_filters/read") })
        let partition = RulesImport(try Self.withPartitionFunction(), denyingIncompatible: false)
        expectTrue(!partition.isUsable && partition.findings.first?.path.hasPrefix("/partition/write") == true)
        expectEqual(partition.findings.first?.code, .function)
    }

    @Test func orItDeniesOnRequest() throws {
        let made = RulesImport(try Self.withFunctions(), denyingIncompatible: true)
        let document = try #require(RulesCheck(made.document).document, "\(made.findings)")
        expectTrue(made.isUsable && made.denied.count == 2)
        let partition = RulesImport(try Self.withPartitionFunction(), denyingIncompatible: true)
        let partitions = try #require(RulesCheck(partition.document).document)
        expectEqual(partitions.partitionRights(of: Self.user, partition: "\"red\""), .read)
        // The users whom a function would have chosen are not known, so the roles behind it are for nobody.
        let chosen = try #require(document.roleChoice(ofClass: "Cat", for: Self.user).role)
        expectTrue(chosen.name == "hooked" && chosen.read == false && chosen.write == false)
        // A condition that can be read stays.
        expectTrue(document.roleChoice(ofClass: "Dog", for: Self.user).role == nil)
        let server = RuleUser(id: "1", kind: .server)
        expectEqual(document.roleChoice(ofClass: "Dog", for: server).role?.read, false)
    }

    @Test func otherErrorsStayErrorsWhenDenyingIncompatibleConditions() throws {
        let export = try Self.export(["sync/config.json": #"{"type":"flexible","queryable_fields_names":[7]}"#])
        let made = RulesImport(export, denyingIncompatible: true)
        expectTrue(!made.isUsable && made.denied.isEmpty)
    }
}
