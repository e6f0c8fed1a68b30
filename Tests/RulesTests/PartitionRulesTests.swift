import SyncModel
import TestSupport
import Testing

@testable import Rules

/// What partition rules allow, case by case.
@Suite struct PartitionRulesTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var rules: String
        var who: Someone
        var partition: String
        var rights: PartitionRights

        init(_ rules: String, _ who: Someone, _ partition: String, _ rights: PartitionRights) {
            self.rules = rules
            self.who = who
            self.partition = partition
            self.rights = rights
        }

        var testDescription: String { "\(rules) \(who) \(partition)" }
    }

    private static let own = #"{"read":{"%%user.id":"%%partition"},"write":{"%%user.id":"%%partition"}}"#
    private static let notReadOnly = #"{"read":true,"write":{"%%partition":{"$ne":"read-only"}}}"#
    private static let listed =
        #"{"read":{"%%user.custom_data.readPartitions":"%%partition"},"write":{"%%user.custom_data.writePartitions":"%%partition"}}"#
    private static let ownID = #"{"read":false,"write":{"%%partition":{"%stringToOid":"%%user.id"}}}"#

    @Test(arguments: [
        Case(own, .a1, #""a1""#, .readWrite), Case(own, .a1, #""b1""#, .none), Case(own, .a1, "null", .none),
        Case(#"{"read":{"%%partition":"%%user.id"},"write":false}"#, .a1, #""a1""#, .read),
        Case(notReadOnly, .a1, #""read-only""#, .read), Case(notReadOnly, .a1, #""other""#, .readWrite),
        // A user who may write may read.
        Case(#"{"read":false,"write":true}"#, .a1, #""x""#, .readWrite),
        Case(#"{"read":true,"write":false}"#, .a1, #""x""#, .read),
        Case(#"{"read":false,"write":false}"#, .a1, #""x""#, .none),
        Case(listed, .a1, #""p1""#, .read), Case(listed, .a1, #""p2""#, .none), Case(listed, .n1, #""p1""#, .none),
        // The null partition is named by null alone, and by nothing that is unset or null.
        Case(listed, .n1, "null", .none), Case(#"{"read":{"%%partition":null},"write":false}"#, .n1, "null", .read),
        Case(#"{"read":{"%%user.custom_data.nothing":"%%partition"},"write":false}"#, .a1, "null", .none),
        Case(#"{"read":{"%%partition":"%%user.custom_data.nothing"},"write":false}"#, .a1, "null", .none),
        // Partition values of every type.
        Case(
            #"{"read":{"%%partition":{"$gt":6}},"write":{"%%partition":7}}"#, .n1, #"{"$numberLong":"7"}"#, .readWrite),
        Case(#"{"read":{"%%partition":{"$gt":6}},"write":{"%%partition":7}}"#, .n1, #"{"$numberLong":"8"}"#, .read),
        Case(#"{"read":{"%%partition":{"$gt":6}},"write":{"%%partition":7}}"#, .n1, #""7""#, .none),
        Case(
            #"{"read":{"%%partition":{"$oid":"65f0c0ffee65f0c0ffee65f0"}},"write":false}"#, .n1,
            #"{"$oid":"65f0c0ffee65f0c0ffee65f0"}"#, .read),
        Case(
            #"{"read":{"%%partition":{"$uuid":"00010203-0405-0607-0809-0a0b0c0d0e0f"}},"write":false}"#, .n1,
            #"{"$binary":{"base64":"AAECAwQFBgcICQoLDA0ODw==","subType":"04"}}"#, .read),
        // An id that is no ObjectId cannot be converted: unknown, hence no.
        Case(ownID, .a1, #"{"$oid":"65f0c0ffee65f0c0ffee65f0"}"#, .none),
        // Nothing can be said of a name that is no value.
        Case(own, .a1, "a1", .none), Case(own, .a1, "", .none), Case(notReadOnly, .a1, "", .read),
        Case(#"{"read":{"%%partition":null},"write":{"%%partition":{"$exists":false}}}"#, .a1, "a1", .none),
        Case(#"{"read":{"%%user.type":"server"},"write":false}"#, .key, #""x""#, .read),
        Case(#"{"read":{"%%user.type":"server"},"write":false}"#, .a1, #""x""#, .none),
        Case(#"{"read":{"%%user.id":{"$in":["a1","b1"]}},"write":false}"#, .b1, #""x""#, .read),
        Case(#"{"read":{"%%partition":{"$in":["PUBLIC","%%user.id"]}},"write":false}"#, .a1, #""a1""#, .read),
        Case(#"{"read":{"%%true":true},"write":{"%%false":true}}"#, .n1, #""x""#, .read),
    ])
    func rightsFollowTheRules(_ one: Case) throws {
        let rules = try document(#"{"partition":\#(one.rules)}"#)
        expectEqual(rules.partitionRights(of: one.who.user, partition: one.partition), one.rights)
        let explained = rules.explainPartition(one.partition, for: one.who.user)
        expectEqual(explained.rights, "\(one.rights)")
    }

    @Test func anIDThatIsAnObjectIDOpensItsPartition() throws {
        let rules = try document(#"{"partition":\#(Self.ownID)}"#)
        let user = RuleUser(id: "65f0c0ffee65f0c0ffee65f0")
        let own = #"{"$oid":"65f0c0ffee65f0c0ffee65f0"}"#
        expectEqual(rules.partitionRights(of: user, partition: own), .readWrite)
        expectEqual(rules.partitionRights(of: user, partition: #""65f0c0ffee65f0c0ffee65f0""#), .none)
    }

    @Test func withoutPartitionRulesNobodyMayDoAnything() throws {
        let rules = try document(#"{"defaultRoles":"readAndWriteAll"}"#)
        expectEqual(rules.partitionRights(of: Someone.a1.user, partition: #""x""#), .none)
        expectEqual(
            RulesCheck([:], app: .init(syncMode: .partition, emailsAreConfirmed: true)).warnings.map(\.code),
            [
                .noPartitionRules
            ])
    }

    /// "é" in one and in two characters are equal to Swift, and two partitions.
    @Test func namesThatLookAlikeAreTwoPartitions() throws {
        let rules = try document(#"{"partition":{"read":{"%%partition":"%%user.custom_data.mine"},"write":false}}"#)
        let user = RuleUser(id: "u", customData: ["mine": .string("caf\u{e9}")])
        expectEqual(rules.partitionRights(of: user, partition: #""caf\u00e9""#), .read)
        expectEqual(rules.partitionRights(of: user, partition: #""cafe\u0301""#), .none)
    }

    @Test(arguments: [
        ("open", #""x""#, PartitionRights.readWrite), ("own", #""a1""#, .readWrite), ("own", #""x""#, .none),
        ("read", #""x""#, .read), ("none", #""a1""#, .none), ("ownOrPublic", #""PUBLIC""#, .read),
        ("ownOrPublic", #""a1""#, .readWrite), ("ownOrPublic", #""b1""#, .none), ("listed", #""p1""#, .read),
        ("listed", #""a1""#, .none),
    ])
    func templatesStandForRules(_ name: String, _ partition: String, _ rights: PartitionRights) throws {
        let rules = try document(#"{"partition":"\#(name)"}"#)
        expectEqual(rules.partitionRights(of: Someone.a1.user, partition: partition), rights)
        // What is stored says the same.
        let stored = try #require(RulesCheck(rules.bytes).document)
        expectEqual(stored.partitionRights(of: Someone.a1.user, partition: partition), rights)
        expectEqual(stored.bytes, rules.bytes)
    }

    @Test func templatesTakeParameters() throws {
        let rules = try document(
            #"{"partition":{"template":"listed","readList":"stores","writeList":"stores"}}"#)
        let user = RuleUser(id: "u", customData: ["stores": .array([.string("nw")])])
        expectEqual(rules.partitionRights(of: user, partition: #""nw""#), .readWrite)
        expectEqual(rules.partitionRights(of: user, partition: #""se""#), .none)
    }

    @Test(arguments: [
        ("open", "every user may read and write every partition"), ("none", "nobody may read or write"),
        ("own", "every user may read and write the partition that is named by the user's id, and no other"),
        ("read", "every user may read every partition, nobody may write"),
    ])
    func aWholeTemplateSaysWhatItIs(_ name: String, _ sentence: String) throws {
        let rules = try document("\"\(name)\"")
        expectTrue(rules.summary(for: .partition) == sentence && rules.defaultRoles?.count == 1)
    }
}
