import SyncModel
import TestSupport
import Testing

@testable import Rules

/// Everything that a check finds, and where.
@Suite struct RulesCheckTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var json: String
        var code: RulesFinding.Code
        var path: String

        init(_ json: String, _ code: RulesFinding.Code, _ path: String) {
            self.json = json
            self.code = code
            self.path = path
        }

        var testDescription: String { "\(code.rawValue) \(json.prefix(120))" }
    }

    /// A document with one role that is sound but for what is said of it.
    private static func role(_ members: String, filters: String = #"{"read":true,"write":true}"#) -> String {
        #"{"partition":"open","classes":{"Dog":[{"name":"r","apply_when":{},"document_filters":\#(filters)\#(members)}]},"#
            + #""queryable":{"global":["owner"],"classes":{"Dog":["age"]}}}"#
    }

    private static func partition(_ read: String) -> String { #"{"partition":{"read":\#(read),"write":false}}"# }

    private static let dog = "/classes/Dog/0"
    private static let read = "/partition/read"

    static let errors: [Case] = [
        Case("{", .syntax, ""), Case("", .syntax, ""), Case(#"{"a":1}x"#, .syntax, ""),
        Case(#"{"partition":"open","partition":"none"}"#, .repeatedKey, ""),
        Case("[]", .wrongType, ""), Case("7", .wrongType, ""), Case(#"{"version":1}"#, .unknownKey, "/version"),
        Case(#""wide open""#, .unknownTemplate, ""), Case(#"{"partition":"most"}"#, .unknownTemplate, "/partition"),
        Case(#"{"defaultRoles":"most"}"#, .unknownTemplate, "/defaultRoles"),
        Case(#"{"classes":{"Dog":{"template":"most"}}}"#, .unknownTemplate, "/classes/Dog"),
        Case(#"{"partition":{"template":"own","ownerField":"x"}}"#, .badParameter, "/partition/ownerField"),
        Case(#"{"defaultRoles":{"template":"team","teamField":7}}"#, .badParameter, "/defaultRoles/teamField"),
        Case(#"{"defaultRoles":{"template":"team","ownerField":"oid"}}"#, .reservedWord, "/defaultRoles/ownerField"),
        Case(#"{"classes":{"Dog":{"template":"team","teamField":"in"}}}"#, .reservedWord, "/classes/Dog/teamField"),
        Case(#"{"defaultRoles":{"template":"team","teamField":"%%user"}}"#, .badParameter, "/defaultRoles/teamField"),
        Case(#"{"generated":"me"}"#, .wrongType, "/generated"),
        Case(#"{"partition":7}"#, .wrongType, "/partition"),
        Case(#"{"partition":{"read":true}}"#, .missingKey, "/partition"),
        Case(#"{"partition":{"write":true}}"#, .missingKey, "/partition"),
        Case(#"{"partition":{"read":true,"write":true,"delete":true}}"#, .unknownKey, "/partition/delete"),
        Case(#"{"classes":[]}"#, .wrongType, "/classes"), Case(#"{"defaultRoles":{}}"#, .wrongType, "/defaultRoles"),
        Case(#"{"classes":{"Dog":[7]}}"#, .wrongType, "/classes/Dog/0"), Case(#"{"values":[]}"#, .wrongType, "/values"),
        Case(#"{"environment":{"tag":7}}"#, .wrongType, "/environment/tag"),
        Case(#"{"environment":{"label":""}}"#, .unknownKey, "/environment/label"),
        // Roles.
        Case(role(#","document_filter":{}"#), .unknownKey, dog + "/document_filter"),
        Case(role(#","read":{"owner":"%%user.id"}"#), .notLiteral, dog + "/read"),
        Case(role(#","write":1"#), .notLiteral, dog + "/write"),
        Case(role(#","fields":{"a":{"read":"yes"}}"#), .notLiteral, dog + "/fields/a/read"),
        Case(role(#","additional_fields":{"write":{}}"#), .notLiteral, dog + "/additional_fields/write"),
        Case(role(#","additional_fields":{"fields":{}}"#), .unknownKey, dog + "/additional_fields/fields"),
        Case(role(#","fields":{"_id":{"read":true}}"#), .idInFields, dog + "/fields/_id"),
        Case(role("", filters: #"{"read":true}"#), .missingFilter, dog + "/document_filters/write"),
        Case(role("", filters: #"{"write":true}"#), .missingFilter, dog + "/document_filters/read"),
        Case(
            role("", filters: #"{"read":true,"write":{"name":"x"}}"#), .notQueryable,
            dog + "/document_filters/write/name"),
        Case(
            role("", filters: #"{"read":true,"write":{"home.zip":1}}"#), .notQueryable,
            dog + "/document_filters/write/home.zip"),
        Case(role(#","delete":{"name":"x"}"#), .notQueryable, dog + "/delete/name"),
        Case(
            role("", filters: #"{"read":{"%%root.owner":1},"write":true}"#), .forbiddenExpansion,
            dog + "/document_filters/read/%%root.owner"),
        Case(
            role("", filters: #"{"read":{"%%partition":1},"write":true}"#), .forbiddenExpansion,
            dog + "/document_filters/read/%%partition"),
        Case(
            role("", filters: #"{"read":{"%function":{"name":"f"}},"write":true}"#), .function,
            dog + "/document_filters/read/%function"),
        Case(
            #"{"defaultRoles":[{"apply_when":{},"document_filters":{"read":true,"write":true}}]}"#, .missingKey,
            "/defaultRoles/0"),
        Case(
            #"{"defaultRoles":[{"name":"r","document_filters":{"read":true,"write":true}}]}"#, .missingKey,
            "/defaultRoles/0"),
        Case(
            #"{"defaultRoles":[{"name":"","apply_when":{},"document_filters":{"read":true,"write":true}}]}"#, .badName,
            "/defaultRoles/0/name"),
        Case(
            #"{"defaultRoles":[{"name":"r","apply_when":{"team":1},"document_filters":{"read":true,"write":true}}]}"#,
            .propertyOutsideObject, "/defaultRoles/0/apply_when/team"),
        Case(
            #"{"defaultRoles":[{"name":"r","apply_when":{"%%partition":1},"document_filters":{"read":true,"write":true}}]}"#,
            .forbiddenExpansion, "/defaultRoles/0/apply_when/%%partition"),
        Case(
            #"{"defaultRoles":[{"name":"r","apply_when":{"%%user.id":"x"},"document_filters":{"read":true,"write":true}},{"name":"r","apply_when":{},"document_filters":{"read":true,"write":true}}]}"#,
            .duplicateName, "/defaultRoles/1/name"),
        // Expressions.
        Case(partition("7"), .wrongType, read), Case(partition(#"{"name":1}"#), .propertyOutsideObject, read + "/name"),
        Case(partition(#"{"$regex":"x"}"#), .forbiddenOperator, read + "/$regex"),
        Case(partition(#"{"%%user.id":{"$regex":"x"}}"#), .forbiddenOperator, read + "/%%user.id/$regex"),
        Case(partition(#"{"$xor":[]}"#), .unknownOperator, read + "/$xor"),
        Case(partition(#"{"%%user.id":{"$equals":1}}"#), .unknownOperator, read + "/%%user.id/$equals"),
        Case(partition(#"{"$or":[]}"#), .badOperand, read + "/$or"),
        Case(partition(#"{"$and":{}}"#), .badOperand, read + "/$and"),
        Case(partition(#"{"$in":["a"]}"#), .badOperand, read + "/$in"),
        Case(partition(#"{"%%user.id":{"$in":"a"}}"#), .badOperand, read + "/%%user.id/$in"),
        Case(partition(#"{"%%user.id":{"$exists":1}}"#), .badOperand, read + "/%%user.id/$exists"),
        Case(partition(#"{"%%user.id":{}}"#), .badOperand, read + "/%%user.id"),
        Case(partition(#"{"%%user.id":{"a":1}}"#), .badOperand, read + "/%%user.id/a"),
        Case(partition(#"{"%%user.id":[{"a":1}]}"#), .badOperand, read + "/%%user.id/0"),
        Case(partition(#"{"%%user.id":{"$oid":"xyz"}}"#), .badOperand, read + "/%%user.id/$oid"),
        Case(partition(#"{"%%user.id":{"$numberInt":"3000000000"}}"#), .badOperand, read + "/%%user.id/$numberInt"),
        Case(partition(#"{"%%user.id":{"%stringToOid":"xyz"}}"#), .badOperand, read + "/%%user.id/%stringToOid"),
        Case(
            partition(#"{"%%user.id":{"%stringToOid":{"%oidToString":"%%user.id"}}}"#), .badOperand,
            read + "/%%user.id/%stringToOid"),
        Case(
            partition(#"{"%%user.id":{"%stringToOid":"%%user.id","$gt":1}}"#), .badOperand,
            read + "/%%user.id/%stringToOid"),
        Case(partition(#"{"%%usr.id":1}"#), .unknownExpansion, read + "/%%usr.id"),
        Case(partition(#"{"%%user":1}"#), .unknownExpansion, read + "/%%user"),
        Case(partition(#"{"%%user.custom_data.":1}"#), .unknownExpansion, read + "/%%user.custom_data."),
        Case(partition(#"{"%%environment.name":1}"#), .unknownExpansion, read + "/%%environment.name"),
        Case(partition(#"{"%%user.id":"%%root.x"}"#), .forbiddenExpansion, read + "/%%user.id"),
        Case(
            partition(#"{"%%request.remoteIPAddress":"x"}"#), .forbiddenExpansion, read + "/%%request.remoteIPAddress"),
        Case(partition(#"{"%%user.id":"%%values.boss"}"#), .unknownValue, read + "/%%user.id"),
        Case(
            partition(#"{"%%true":{"%function":{"name":"f","arguments":["%%partition"]}}}"#), .function,
            read + "/%%true/%function"),
        Case(partition(#"{"%function":{"name":"f"}}"#), .function, read + "/%function"),
        // What may be queried.
        Case(#"{"queryable":["a"]}"#, .wrongType, "/queryable"),
        Case(#"{"queryable":{"global":"a"}}"#, .wrongType, "/queryable/global"),
        Case(#"{"queryable":{"global":[1]}}"#, .wrongType, "/queryable/global/0"),
        Case(#"{"queryable":{"indexed":["a"]}}"#, .wrongType, "/queryable/indexed"),
        Case(#"{"queryable":{"all":["a"]}}"#, .unknownKey, "/queryable/all"),
        Case(#"{"queryable":{"global":["Limit"]}}"#, .reservedWord, "/queryable/global/0"),
        Case(#"{"queryable":{"indexed":"oid"}}"#, .reservedWord, "/queryable/indexed"),
        Case(#"{"queryable":{"classes":{"Dog":["home.zip"]}}}"#, .badQueryable, "/queryable/classes/Dog/0"),
    ]

    @Test(arguments: errors)
    func errorsAreFoundAtTheirPath(_ one: Case) {
        let check = RulesCheck(Array(one.json.utf8))
        expectTrue(check.document == nil)
        expectTrue(check.errors.map(\.code) == [one.code] && check.errors.first?.path == one.path, "\(check.errors)")
        expectTrue(check.errors.allSatisfy { !$0.message.isEmpty })
    }

    @Test func everyCodeIsTried() {
        let limits: Set<RulesFinding.Code> = [.tooLarge, .tooDeep, .tooManyFindings, .tooManyRoles]
        let warnings = RulesFinding.Code.allCases.filter { $0.severity == .warning }
        expectEqual(Set(Self.errors.map(\.code)).union(limits).union(warnings), Set(RulesFinding.Code.allCases))
    }

    @Test func everythingThatIsWrongIsSaidAtOnce() {
        let check = RulesCheck(
            Array(#"{"partition":{"read":{"a":1,"$or":[]},"write":"x"},"classes":{"Dog":"most"},"odd":1}"#.utf8))
        expectEqual(
            Set(check.errors.map(\.path)),
            [
                "/odd", "/partition/read/a", "/partition/read/$or", "/partition/write", "/classes/Dog",
            ])
    }

    @Test func namesInPathsAreEscaped() {
        let check = RulesCheck(Array(#"{"a/b~c":1}"#.utf8))
        expectEqual(check.errors.map(\.path), ["/a~1b~0c"])
    }

    // MARK: Warnings

    @Test func soundRulesMayDeserveAWarning() {
        let open = #""document_filters":{"read":true,"write":true}"#
        let check = RulesCheck(
            Array(
                #"{"defaultRoles":[{"name":"a","apply_when":{},\#(open)},{"name":"b","apply_when":{},\#(open),"write":false,"fields":{"x":{"write":true}}}]}"#
                    .utf8), app: .init(syncMode: .partition, emailsAreConfirmed: true))
        expectTrue(check.document != nil)
        expectEqual(Set(check.warnings.map(\.code)), [.noPartitionRules, .unreachableRole, .writeDenied])
        expectEqual(check.warnings.first { $0.code == .unreachableRole }?.path, "/defaultRoles/1")
        expectEqual(check.warnings.first { $0.code == .writeDenied }?.path, "/defaultRoles/1/write")
    }

    private static func warnings(_ json: String, _ mode: SyncMode?, confirmed: Bool = true) -> [RulesFinding] {
        RulesCheck(Array(json.utf8), app: .init(syncMode: mode, emailsAreConfirmed: confirmed)).warnings
    }

    @Test func missingRulesAreReportedForTheAppsModeOnly() {
        expectEqual(Self.warnings("{}", .partition).map(\.code), [.noPartitionRules])
        expectEqual(Self.warnings(#"{"classes":{"Dog":[]}}"#, .flexible).map(\.code), [.noRoles])
        expectTrue(Self.warnings(#"{"classes":{"Dog":"readAll"}}"#, .flexible).isEmpty)
        expectTrue(Self.warnings(#"{"partition":"open"}"#, .partition).isEmpty)
        expectTrue(Self.warnings("{}", nil).isEmpty && RulesCheck([:]).warnings.isEmpty)
    }

    /// An address that nobody has confirmed is what somebody has typed in.
    @Test(arguments: [
        #"{"partition":{"read":{"%%user.data.email":"a@b.c"},"write":false}}"#,
        #"{"partition":{"read":{"$or":[{"%%true":{"$not":{"%%user.identities.data.email":{"$in":["a@b.c"]}}}}]},"write":false}}"#,
        #"{"partition":{"read":{"%%values.boss":"%%user.data.email"},"write":false},"values":{"boss":"a@b.c"}}"#,
    ])
    func addressesThatNobodyConfirmsAreWarnedOf(_ rules: String) {
        expectEqual(Self.warnings(rules, .partition, confirmed: false).map(\.code), [.unconfirmedEmail])
        expectTrue(Self.warnings(rules, .partition).isEmpty && RulesCheck(Array(rules.utf8)).warnings.isEmpty)
    }

    @Test func rolesByAnAddressAreWarnedOfToo() {
        let roles =
            #"[{"name":"r","apply_when":{},"document_filters":{"read":{"owner":"%%user.data.email"},"write":false},"read":true}]"#
        let warnings = Self.warnings(
            #"{"classes":{"Dog":\#(roles)},"queryable":{"global":["owner"]}}"#, .flexible, confirmed: false)
        expectEqual(warnings.map(\.code), [.unconfirmedEmail])
        expectEqual(warnings.map(\.path), ["/classes/Dog/0/document_filters/read/owner"])
    }

    /// Accounts have ids of their own on every server.
    @Test(arguments: [
        (#"{"%%user.id":"62babea7438539ea5748d4b5"}"#, true), (#"{"%%user.id":{"$in":["a","b"]}}"#, true),
        (#"{"%%user.id":{"$ne":"62babea7438539ea5748d4b5"}}"#, true),
        (#"{"%%user.id":{"$in":"%%values.editors"}}"#, true),
        (#"{"%%values.editors":"%%user.id"}"#, true), (#"{"%%user.identities.id":"x"}"#, true),
        (#"{"%%user.id":"%%partition"}"#, false), (#"{"%%user.id":{"$exists":true}}"#, false),
        (#"{"%%user.custom_data.team":"red"}"#, false), (#"{"%%values.limit":"%%user.id"}"#, false),
        (#"{"%%user.id":{"$in":"%%user.custom_data.friends"}}"#, false),
    ])
    func idsOfUsersInRulesAreWarnedOf(_ rule: String, _ isWarned: Bool) {
        let warnings = Self.warnings(
            #"{"partition":{"read":\#(rule),"write":false},"values":{"editors":["a"],"limit":7}}"#, .partition)
        expectEqual(warnings.map(\.code), (isWarned ? [.literalUserID] : []))
    }

    @Test func rulesAreHeldBesideTheSchema() {
        let schema = RulesSchema(classes: [
            "Dog": ["_id": "objectId", "owner_id": "objectId?", "born": "date", "vets": "list<uuid>"],
            "News": ["_id": "int"],
        ])
        let filters = #"{"owner_id":"%%user.id","born":{"$gt":"2020"},"vets":"x"}"#
        let json =
            #"{"partition":"open","defaultRoles":[{"name":"r","apply_when":{},"document_filters":{"read":\#(filters),"write":true}}],"#
            + #""queryable":{"global":["owner_id","born"],"classes":{"Dog":["vets"]}}}"#
        let check = RulesCheck(Array(json.utf8), schema: schema)
        expectTrue(check.document != nil)
        let mismatches = check.warnings.filter { $0.code == .typeMismatch }.map(\.path)
        expectEqual(
            Set(mismatches),
            Set(["owner_id", "born/$gt", "vets"].map { "/defaultRoles/0/document_filters/read/\($0)" }))
        let missing = check.warnings.filter { $0.code == .missingProperty }
        expectTrue(missing.count == 4 && missing.allSatisfy { $0.message.contains("News") })
        expectTrue(missing.contains { $0.message.contains("shuts") })
        // A converted id is of the right type.
        let converted = json.replacing(#""%%user.id""#, with: #"{"%stringToOid":"%%user.id"}"#)
        let second = RulesCheck(Array(converted.utf8), schema: schema)
        expectTrue(!second.warnings.contains { $0.path.hasSuffix("owner_id") })
    }

    // MARK: Hostile documents

    @Test func depthHasABound() throws {
        func nested(_ levels: Int) -> String {
            String(repeating: #"{"$not":"#, count: levels) + "true" + String(repeating: "}", count: levels)
        }
        // The document and its partition rules are two levels.
        expectTrue(RulesCheck(Array(Self.partition(nested(14)).utf8)).document != nil)
        let deep = RulesCheck(Array(Self.partition(nested(15)).utf8))
        expectTrue(deep.errors.map(\.code) == [.tooDeep] && deep.errors[0].path.hasPrefix("/partition/read/$not"))
        for levels in [40, 100_000] {
            expectTrue(
                RulesCheck(Array(Self.partition(nested(levels)).utf8)).errors.map(\.code).allSatisfy {
                    $0 == .tooDeep || $0 == .tooLarge
                })
        }
    }

    @Test func sizeHasABound() {
        func values(_ bytes: Int) -> [UInt8] {
            let frame = #"{"partition":"open","values":{"x":""}}"#.utf8.count
            return Array(
                #"{"partition":"open","values":{"x":"\#(String(repeating: "x", count: bytes - frame))"}}"#.utf8)
        }
        expectEqual(values(RulesLimits.bytes).count, RulesLimits.bytes)
        expectEqual(RulesCheck(values(RulesLimits.bytes + 1)).errors.map(\.code), [.tooLarge])
        // What the template stands for counts as well.
        expectEqual(RulesCheck(values(RulesLimits.bytes)).errors.map(\.code), [.tooLarge])
        expectTrue(RulesCheck(values(RulesLimits.bytes - 100)).document != nil)
        let keys = "{" + (0..<1_000_000).map { "\"k\($0)\":1" }.joined(separator: ",") + "}"
        expectEqual(RulesCheck(Array(keys.utf8)).errors.map(\.code), [.tooLarge])
    }

    @Test func findingsHaveABound() {
        let keys = "{" + (0..<20_000).map { "\"k\($0)\":1" }.joined(separator: ",") + "}"
        let check = RulesCheck(Array(keys.utf8))
        expectTrue(check.errors.count == RulesFindings.most + 1 && check.errors.last?.code == .tooManyFindings)
        let long = RulesCheck(Array(#"{"\#(String(repeating: "k", count: 100_000))":1}"#.utf8))
        expectTrue(
            long.errors.count == 1 && long.errors[0].path.utf8.count < 200 && long.errors[0].message.utf8.count < 300)
    }

    @Test func aListOfRolesHasABound() {
        func roles(_ count: Int) -> [UInt8] {
            let roles = (0..<count).map {
                #"{"name":"r\#($0)","apply_when":{"%%user.id":"x"},"document_filters":{"read":true,"write":true}}"#
            }
            return Array(#"{"classes":{"Dog":[\#(roles.joined(separator: ","))]}}"#.utf8)
        }
        expectTrue(RulesCheck(roles(64)).document != nil)
        expectEqual(RulesCheck(roles(65)).errors.map(\.code), [.tooManyRoles])
    }

    @Test func noPrefixOfADocumentTraps() throws {
        let whole = Array(
            #"{"partition":{"read":{"$or":[{"%%user.id":{"$in":["a",{"$oid":"65f0c0ffee65f0c0ffee65f0"}]}}]},"write":false},"classes":{"Dog":"team"}}"#
                .utf8)
        for length in 0..<whole.count {
            expectTrue(RulesCheck(Array(whole[..<length])).document == nil)
            var damaged = whole
            damaged[length] = UInt8(ascii: "9")
            _ = RulesCheck(damaged)
        }
        expectTrue(RulesCheck(whole).document != nil)
    }
}
