import SyncModel
import TestSupport
import Testing

@testable import Rules

/// What filters and conditions say of users and objects.
@Suite struct ExpressionTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var filter: String
        var who: Someone
        var object: String
        var truth: Truth

        init(_ filter: String, _ who: Someone, _ object: String, _ truth: Truth) {
            self.filter = filter
            self.who = who
            self.object = object
            self.truth = truth
        }

        var testDescription: String { "\(filter) \(who) \(object)" }
    }

    private static let team = #"{"team":"%%user.custom_data.team"}"#
    private static let ownOrTeam = #"{"$or":[{"owner_id":"%%user.id"},{"team":"%%user.custom_data.team"}]}"#
    private static let otherTeam = #"{"team":{"$ne":"%%user.custom_data.team"}}"#
    private static let ids = #"{"owner_id":{"$in":"%%user.custom_data.ids"}}"#

    @Test(arguments: [
        // What is unset matches nothing, not even what has no value.
        Case(team, .a1, #"{"team":"red"}"#, .true), Case(team, .a1, #"{"team":"blue"}"#, .false),
        Case(team, .n1, #"{"team":null}"#, .unknown), Case(team, .n1, "{}", .unknown),
        Case(ownOrTeam, .n1, #"{"owner_id":"n1","team":"red"}"#, .true),
        Case(ownOrTeam, .n1, #"{"owner_id":"a1","team":"red"}"#, .unknown),
        Case(otherTeam, .n1, #"{"team":"red"}"#, .unknown), Case(otherTeam, .a1, #"{"team":"blue"}"#, .true),
        Case(#"{"$not":{"team":"%%user.custom_data.team"}}"#, .n1, #"{"team":"red"}"#, .unknown),
        Case(#"{"team":"%%user.custom_data.nothing"}"#, .a1, #"{"team":null}"#, .unknown),
        // Lists, from both sides.
        Case(#"{"tags":"%%user.id"}"#, .a1, #"{"tags":["a1","x"]}"#, .true),
        Case(#"{"tags":"%%user.id"}"#, .a1, #"{"tags":["x"]}"#, .false),
        Case(#"{"tags":{"$all":["a1","x"]}}"#, .a1, #"{"tags":["a1","x","y"]}"#, .true),
        Case(#"{"tags":{"$all":["a1","z"]}}"#, .a1, #"{"tags":["a1","x","y"]}"#, .false),
        Case(#"{"tags":{"$all":["a1","%%user.custom_data.team"]}}"#, .n1, #"{"tags":["a1"]}"#, .unknown),
        Case(#"{"tags":{"$in":["a","b"]}}"#, .a1, #"{"tags":["b"]}"#, .true),
        Case(#"{"tags":{"$nin":["a","b"]}}"#, .a1, #"{"tags":["b"]}"#, .false),
        Case(#"{"tags":["x"]}"#, .a1, #"{"tags":["x"]}"#, .true),
        Case(ids, .a1, #"{"owner_id":"b1"}"#, .true), Case(ids, .a1, #"{"owner_id":"n1"}"#, .false),
        // b1's ids are no list, n1 has none.
        Case(ids, .b1, #"{"owner_id":"a1"}"#, .unknown), Case(ids, .n1, #"{"owner_id":"a1"}"#, .unknown),
        // An explicit null matches null and missing; an element that is unset may be anything.
        Case(#"{"owner_id":{"$in":[null,"%%user.id"]}}"#, .a1, "{}", .true),
        Case(#"{"owner_id":{"$in":[null,"%%user.id"]}}"#, .a1, #"{"owner_id":"b1"}"#, .false),
        Case(#"{"owner_id":{"$in":["b1","%%user.custom_data.team"]}}"#, .n1, #"{"owner_id":"b1"}"#, .true),
        Case(#"{"owner_id":{"$in":["b1","%%user.custom_data.team"]}}"#, .n1, #"{"owner_id":"c1"}"#, .unknown),
        Case(#"{"owner_id":{"$nin":["b1","%%user.custom_data.team"]}}"#, .n1, #"{"owner_id":"c1"}"#, .unknown),
        Case(#"{"owner_id":null}"#, .a1, #"{"owner_id":null}"#, .true), Case(#"{"owner_id":null}"#, .a1, "{}", .true),
        Case(#"{"owner_id":{"$ne":null}}"#, .a1, "{}", .false),
        // Kinds of value.
        Case(#"{"count":5}"#, .a1, #"{"count":{"$numberLong":"5"}}"#, .true),
        Case(#"{"count":5}"#, .a1, #"{"count":5.0}"#, .true), Case(#"{"count":"5"}"#, .a1, #"{"count":5}"#, .false),
        Case(#"{"count":{"$numberDecimal":"5.00"}}"#, .a1, #"{"count":5}"#, .true),
        Case(#"{"count":{"$gt":4.5}}"#, .a1, #"{"count":5}"#, .true),
        Case(#"{"count":{"$gt":-3,"$lt":-1}}"#, .a1, #"{"count":-2}"#, .true),
        Case(#"{"count":{"$gte":5}}"#, .a1, #"{"count":5}"#, .true),
        Case(#"{"count":{"$lte":4}}"#, .a1, #"{"count":5}"#, .false),
        Case(#"{"count":{"$gt":"a"}}"#, .a1, #"{"count":5}"#, .false),
        Case(#"{"count":{"$not":{"$gt":4}}}"#, .a1, #"{"count":5}"#, .false),
        Case(#"{"done":true}"#, .a1, #"{"done":true}"#, .true), Case(#"{"done":true}"#, .a1, #"{"done":1}"#, .false),
        Case(
            #"{"at":{"$lt":{"$date":"2024-01-02T00:00:00Z"}}}"#, .a1,
            #"{"at":{"$date":{"$numberLong":"1704067200000"}}}"#,
            .true),
        Case(#"{"done":{"$gt":false}}"#, .a1, #"{"done":true}"#, .true),
        Case(#"{"done":{"$gte":true}}"#, .a1, #"{"done":false}"#, .false),
        // No list has all of nothing; every value is in none of nothing.
        Case(#"{"tags":{"$all":[]}}"#, .a1, #"{"tags":["x"]}"#, .false),
        Case(#"{"tags":{"$in":[]}}"#, .a1, #"{"tags":["x"]}"#, .false),
        Case(#"{"tags":{"$nin":[]}}"#, .a1, #"{"tags":["x"]}"#, .true),
        // Beside a literal, what a user lacks is what a missing field is in MongoDB.
        Case(#"{"%%user.custom_data.team":null}"#, .n1, "{}", .true),
        Case(#"{"%%user.custom_data.team":null}"#, .a1, "{}", .false),
        Case(#"{"%%user.custom_data.nothing":null}"#, .a1, "{}", .true),
        Case(#"{"%%user.custom_data.team":"red"}"#, .n1, "{}", .false),
        Case(#"{"%%user.custom_data.team":{"$ne":"red"}}"#, .n1, "{}", .true),
        Case(#"{"%%user.custom_data.team":{"$ne":null}}"#, .n1, "{}", .false),
        Case(#"{"%%user.custom_data.team":{"%nin":["red","blue"]}}"#, .n1, "{}", .true),
        Case(#"{"%%user.custom_data.team":{"$nin":["red",null]}}"#, .n1, "{}", .false),
        Case(#"{"%%user.custom_data.team":{"%in":["red",null]}}"#, .n1, "{}", .true),
        Case(#"{"%%user.custom_data.team":{"$in":["red"]}}"#, .n1, "{}", .false),
        Case(#"{"%%user.custom_data.ids":{"$all":["a1"]}}"#, .n1, "{}", .false),
        Case(#"{"%%user.custom_data.ids":{"$all":[null]}}"#, .n1, "{}", .true),
        Case(#"{"%%user.custom_data.level":{"$lt":3}}"#, .n1, "{}", .false),
        Case(#"{"%%user.custom_data.level":{"$gte":3}}"#, .n1, "{}", .false),
        Case(#"{"%%user.custom_data.level":{"$not":{"$gte":3}}}"#, .n1, "{}", .true),
        Case(#"{"$not":{"%%user.custom_data.isAdmin":true}}"#, .n1, "{}", .true),
        Case(#"{"%nor":[{"%%user.custom_data.isAdmin":true},{"done":true}]}"#, .n1, "{}", .true),
        Case(#"{"%%user.custom_data.a.b":{"$ne":1}}"#, .n1, "{}", .true),
        Case(#"{"%%user.custom_data.team":{"%oidToString":{"$oid":"65f0c0ffee65f0c0ffee65f0"}}}"#, .n1, "{}", .false),
        Case(#"{"%%true":"%%user.custom_data.isAdmin"}"#, .n1, "{}", .false),
        Case(#"{"%%true":{"$ne":"%%user.custom_data.isAdmin"}}"#, .n1, "{}", .true),
        Case(#"{"%%user.custom_data.isAdmin":{"$ne":"%%true"}}"#, .n1, "{}", .true),
        // Beside another expansion, or a null of the user's own, it stays unknown.
        Case(#"{"%%user.custom_data.team":"%%user.id"}"#, .n1, "{}", .unknown),
        Case(#"{"%%user.custom_data.team":{"$ne":"%%user.id"}}"#, .n1, "{}", .unknown),
        Case(#"{"%%user.custom_data.nothing":{"$ne":"%%user.id"}}"#, .a1, "{}", .unknown),
        Case(#"{"%%user.id":{"$nin":"%%user.custom_data.banned"}}"#, .n1, "{}", .unknown),
        Case(#"{"%%user.custom_data.team":{"$in":["red","%%user.id"]}}"#, .n1, "{}", .unknown),
        Case(#"{"%%user.custom_data.team":{"$in":[null,"%%user.id"]}}"#, .n1, "{}", .true),
        Case(#"{"%%user.custom_data.team":{"$nin":["red","%%user.id"]}}"#, .n1, "{}", .unknown),
        Case(#"{"%%true":{"$in":"%%user.custom_data.flags"}}"#, .n1, "{}", .unknown),
        // Presence is always known.
        Case(#"{"owner_id":{"$exists":true}}"#, .a1, #"{"owner_id":null}"#, .true),
        Case(#"{"owner_id":{"$exists":true}}"#, .a1, "{}", .false),
        Case(#"{"%%user.custom_data.team":{"$exists":false}}"#, .n1, "{}", .true),
        Case(#"{"%%user.custom_data.team":{"$exists":false}}"#, .a1, "{}", .false),
        // Logic.
        Case("{}", .n1, "{}", .true), Case("true", .n1, "{}", .true), Case("false", .n1, "{}", .false),
        Case(#"{"owner_id":"a1","done":true}"#, .n1, #"{"owner_id":"a1","done":false}"#, .false),
        Case(#"{"%and":[{"owner_id":"a1"},{"done":true}]}"#, .n1, #"{"owner_id":"a1","done":true}"#, .true),
        Case(#"{"$nor":[{"owner_id":"a1"},{"done":true}]}"#, .n1, #"{"owner_id":"b1","done":false}"#, .true),
        Case(#"{"%%true":{"%or":[{"owner_id":"a1"},{"done":true}]}}"#, .n1, #"{"owner_id":"b1","done":true}"#, .true),
        Case(#"{"%%false":{"done":true}}"#, .n1, #"{"done":true}"#, .false),
        Case(#"{"%%true":{"%eq":false}}"#, .n1, "{}", .false),
        // Conversions.
        Case(
            #"{"ref":{"%stringToOid":"65f0c0ffee65f0c0ffee65f0"}}"#, .a1,
            #"{"ref":{"$oid":"65f0c0ffee65f0c0ffee65f0"}}"#, .true),
        Case(#"{"ref":{"%stringToOid":"%%user.id"}}"#, .a1, #"{"ref":{"$oid":"65f0c0ffee65f0c0ffee65f0"}}"#, .unknown),
        Case(
            #"{"owner_id":{"%oidToString":{"$oid":"65f0c0ffee65f0c0ffee65f0"}}}"#, .a1,
            #"{"owner_id":"65f0c0ffee65f0c0ffee65f0"}"#, .true),
        Case(
            #"{"uuid":{"%stringToUuid":"00010203-0405-0607-0809-0a0b0c0d0e0f"}}"#, .a1,
            #"{"uuid":{"$uuid":"00010203-0405-0607-0809-0A0B0C0D0E0F"}}"#, .true),
        Case(
            #"{"owner_id":{"%uuidToString":{"$uuid":"00010203-0405-0607-0809-0a0b0c0d0e0f"}}}"#, .a1,
            #"{"owner_id":"00010203-0405-0607-0809-0a0b0c0d0e0f"}"#, .true),
    ])
    func aFilterSaysOfAnObject(_ one: Case) throws {
        let filter = try filter(one.filter)
        try expectEqual(filter.truth(of: one.object, for: one.who.user), one.truth)
    }

    @Test func usersAreSeenAsTheirRecordsSay() throws {
        let user = RuleUser(
            id: "u1", data: ["email": .string("a@b.c")],
            customData: [
                "teams": .array([
                    .object([
                        "name": .string("red"), "since": .number(RuleNumber(7)),
                        "tags": .array([.string("a"), .string("b")]),
                    ]),
                    .object([
                        "name": .string("blue"), "seats": .array([.object(["row": .number(RuleNumber(2))])]),
                    ]),
                ])
            ],
            identities: [.init(id: "i1", providerType: "local-userpass")])
        for (condition, truth) in [
            (#"{"%%user.data.email":"a@b.c"}"#, Truth.true), (#"{"%%user.data.name":"x"}"#, .false),
            (#"{"%%user.custom_data.teams.name":"blue"}"#, .true),
            (#"{"%%user.custom_data.teams.1.name":"red"}"#, .false),
            (#"{"%%user.custom_data.teams.7.name":"red"}"#, .false),
            (#"{"%%user.custom_data.teams.left":null}"#, .true),
            (#"{"%%user.custom_data.teams.since":null}"#, .true), (#"{"%%user.custom_data.teams.since":7}"#, .true),
            (#"{"%%user.custom_data.teams.tags":"b"}"#, .true),
            (#"{"%%user.custom_data.teams.tags":["a","b"]}"#, .true),
            (#"{"%%user.custom_data.teams.seats.row":2}"#, .true),
            (#"{"%%user.identities.provider_type":"local-userpass"}"#, .true),
            (#"{"%%user.identities.providerType":"anon-user"}"#, .false), (#"{"%%user.type":"normal"}"#, .true),
            (#"{"%%user.id.x":"u1"}"#, .false),
        ] {
            try expectEqual(filter(condition).truth(of: "{}", for: user), truth, "\(condition)")
        }
    }

    /// What cannot be read may be anything: nobody is let in because it is not there.
    @Test func customDataThatCannotBeReadIsUnknown() throws {
        var user = RuleUser(id: "u1")
        user.isCustomDataKnown = false
        for condition in [
            #"{"%%user.custom_data.team":null}"#, #"{"%%user.custom_data.banned":{"$ne":true}}"#,
            #"{"%%user.custom_data.banned":{"$exists":false}}"#, #"{"%%true":{"$ne":"%%user.custom_data.banned"}}"#,
        ] {
            try expectEqual(filter(condition).truth(of: "{}", for: user), .unknown, "\(condition)")
        }
        try expectEqual(filter(#"{"%%user.data.email":null}"#).truth(of: "{}", for: user), .true)
    }

    @Test func valuesOfTheDocumentAreSeen() throws {
        let rules = try document(
            #"{"partition":{"read":{"%%user.id":{"$in":"%%values.editors"}},"write":{"%%environment.tag":"testing"}},"#
                + #""values":{"editors":["a1"]},"environment":{"tag":"testing","values":{"x":1}}}"#)
        expectEqual(rules.partitionRights(of: Someone.a1.user, partition: "\"x\""), .readWrite)
        let production = try document(
            #"{"partition":{"read":{"%%user.id":{"$in":"%%values.editors"}},"write":{"%%environment.values.x":2}},"#
                + #""values":{"editors":["a1"]},"environment":{"values":{"x":1}}}"#)
        expectEqual(production.partitionRights(of: Someone.a1.user, partition: "\"x\""), .read)
        expectEqual(production.partitionRights(of: Someone.b1.user, partition: "\"x\""), .none)
    }

    @Test func numbersCompareByWhatTheyAre() throws {
        let ascending = [
            "-1e400", "-9223372036854775808", "-2.50", "-0.001", "0", "1e-6000", "0.1", "1", "9007199254740993",
            "9223372036854775807", "1e30", "1e6000",
        ]
        let numbers = try ascending.map { try #require(RuleNumber(decimal: $0)) }
        for (index, one) in numbers.enumerated() {
            for (other, another) in numbers.enumerated() {
                expectTrue((one < another) == (index < other) && (one == another) == (index == other))
            }
        }
        expectTrue(
            RuleNumber(decimal: "2.50") == RuleNumber(decimal: "0.25E1")
                && RuleNumber(2.5) == RuleNumber(decimal: "2.5"))
        expectTrue(RuleNumber(decimal: "-0.0") == RuleNumber(0) && RuleNumber(Int64.min).integer == .min)
        // The exponent's negative is no Int.
        expectTrue(RuleNumber(decimal: "1e\(Int.min)") == nil && RuleNumber(decimal: "1e\(Int.max)") == nil)
        expectTrue(RuleNumber(1200).integer == 1200 && RuleNumber(decimal: "1.5")?.integer == nil)
        expectTrue(
            RuleNumber(decimal: "1e30")?.integer == nil && RuleNumber(decimal: "9223372036854775808")?.integer == nil)
        for bad in ["", "-", ".", "1.2.3", "1e", "e5", "0x10", "1e999999", "NaN", " 1"] {
            expectTrue(RuleNumber(decimal: bad) == nil, "\(bad)")
        }
        expectTrue(RuleNumber(Double.nan) == nil && RuleNumber(Double.infinity) == nil)
    }
}
