import SyncModel
import TestSupport
import Testing

@testable import Rules

/// What rules come to, in a sentence for the mode that the app has.
@Suite struct RulesSummaryTests {
    @Test(arguments: [
        (#""open""#, "every user may read and write every partition", "every user may read and write every object"),
        (
            #""own""#, "every user may read and write the partition that is named by the user's id, and no other",
            #"every user may read and write the objects whose "owner_id" is the user's id, and no other"#
        ),
        (
            #""read""#, "every user may read every partition, nobody may write",
            "every user may read every object, nobody may write"
        ),
        (#""none""#, "nobody may read or write", "nobody may read or write"),
        (
            "{}", "nobody may read or write: there are no partition rules",
            "nobody may read or write: there are no roles"
        ),
    ])
    func aTemplateIsSaidOfBothModes(_ rules: String, _ partition: String, _ flexible: String) throws {
        let rules = try document(rules)
        expectTrue(rules.summary(for: .partition) == partition && rules.summary(for: .flexible) == flexible)
        let isOpen = !partition.hasPrefix("nobody")
        expectTrue(rules.isForEveryUser(in: .partition) == isOpen && rules.isForEveryUser(in: .flexible) == isOpen)
    }

    /// `{}` is everybody, however it is written.
    @Test(arguments: ["{}", "true", #"{"%%true":true}"#, #"{"$and":[{},true]}"#, #"{"%%true":{"%%true":true}}"#])
    func conditionsThatAlwaysHoldMeanEverybody(_ condition: String) throws {
        let partition = try document(#"{"partition":{"read":\#(condition),"write":\#(condition)}}"#)
        expectEqual(partition.summary(for: .partition), "every user may read and write every partition")
        let readable = try document(#"{"partition":{"read":\#(condition),"write":{"%%partition":"x"}}}"#)
        expectTrue(readable.summary(for: .partition).hasPrefix("every user may read every partition; who may write"))
        let roles = try document(
            #"{"defaultRoles":[{"name":"r","apply_when":\#(condition),"read":true,"write":true,"#
                + #""document_filters":{"read":\#(condition),"write":\#(condition)}}]}"#)
        expectEqual(roles.summary(for: .flexible), "every user may read and write every object")
        expectEqual(roles.summary(for: .partition), "nobody may read or write: there are no partition rules")
    }

    @Test(arguments: [
        (
            #"[{"name":"a","apply_when":{"%%user.type":"server"},"document_filters":{"read":true,"write":true}}]"#,
            "who may read"
        ),
        (#"[{"name":"a","apply_when":{},"document_filters":{"read":true,"write":true}}]"#, "nobody may read or write"),
        (
            #"[{"name":"a","apply_when":{},"document_filters":{"read":true,"write":true},"fields":{"x":{"read":true}}}]"#,
            "every user may read or write some fields of every object"
        ),
        (
            #"[{"name":"a","apply_when":{},"document_filters":{"read":true,"write":true},"read":true,"fields":{"x":{"write":true}}}]"#,
            "every user may read every object; who may write"
        ),
        (
            #"[{"name":"a","apply_when":{},"document_filters":{"read":true,"write":true},"read":true,"write":true,"delete":false}]"#,
            "every user may read every object; who may write"
        ),
        (
            #"[{"name":"a","apply_when":{},"document_filters":{"read":true,"write":{"o":"%%user.id"}},"read":true,"write":true}]"#,
            #"every user may read every object, and write those whose "o" is the user's id"#
        ),
    ])
    func rolesAreSummedUp(_ roles: String, _ sentence: String) throws {
        let rules = try document(#"{"defaultRoles":\#(roles),"queryable":{"global":["o"]}}"#)
        expectTrue(rules.summary(for: .flexible).hasPrefix(sentence), "\(rules.summary(for: .flexible))")
    }

    private static let staff =
        #"{"name":"staff","apply_when":{"%%user.custom_data.staff":true},"document_filters":{"read":true,"write":true},"read":true,"write":true}"#

    /// A role for some users that comes first hides nothing of what everybody else may do.
    @Test(arguments: [
        (
            #"{},"document_filters":{"read":true,"write":true},"read":true,"write":true"#,
            "every user may read and write every object", true
        ),
        (
            #"{"%%user.id":{"$exists":true}},"document_filters":{"read":true,"write":true},"read":true,"write":true"#,
            "every user may read and write every object", true
        ),
        (
            #"{"%%user.identities.provider_type":"anon-user"},"document_filters":{"read":true,"write":false},"read":true"#,
            "every user may read every object, nobody may write", true
        ),
        (
            #"{},"document_filters":{"read":true,"write":true},"fields":{"x":{"read":true}}"#,
            "every user may read or write some fields of every object", true
        ),
        (
            #"{},"document_filters":{"read":{"o":"%%user.id"},"write":false},"fields":{"x":{"read":true}}"#,
            "who may read and write an object is decided by roles", true
        ),
        (
            #"{},"document_filters":{"read":false,"write":false}"#,
            "who may read and write an object is decided by roles", false
        ),
        (
            #"{"%%user.custom_data.guest":true},"document_filters":{"read":true,"write":true},"read":true"#,
            "who may read and write an object is decided by roles", false
        ),
    ])
    func whatStrangersMayDoIsSaidBehindOthersRoles(_ role: String, _ sentence: String, _ isOpen: Bool) throws {
        let rules = try document(
            #"{"defaultRoles":[\#(Self.staff),{"name":"all","apply_when":\#(role)}],"queryable":{"global":["o"]}}"#)
        let summary = rules.summary(for: .flexible)
        expectTrue(summary.hasPrefix(sentence), "\(summary)")
        expectEqual(rules.isForEveryUser(in: .flexible), isOpen)
        expectEqual(summary.contains("roles that come first"), sentence.hasPrefix("every"))
    }

    @Test(arguments: [
        (#"{"%%user.id":{"$exists":true}}"#, true), (#"{"%%user.custom_data.staff":true}"#, false),
        (#"{"%%partition":"news"}"#, false),
    ])
    func partitionsOfEveryUserAreKnownAsSuch(_ condition: String, _ isOpen: Bool) throws {
        let rules = try document(#"{"partition":{"read":\#(condition),"write":false}}"#)
        expectEqual(rules.isForEveryUser(in: .partition), isOpen)
    }

    @Test func classesWithRolesOfTheirOwnAreNamed() throws {
        let some = try document(#"{"defaultRoles":"readAll","classes":{"News":"readAndWriteAll","Same":"readAll"}}"#)
        expectEqual(
            some.summary(for: .flexible),
            #"every user may read every object, nobody may write; class "News" has roles of its own"#)
        let only = try document(#"{"classes":{"A":"readAll","B":"readAll"}}"#)
        expectEqual(
            only.summary(for: .flexible),
            #"nobody may read or write but where classes "A", "B" have roles of their own"#)
        expectTrue(only.isForEveryUser(in: .flexible) && !only.isForEveryUser(in: .partition))
        let many = (0..<9).map { #""C\#($0)":"readAll""# }.joined(separator: ",")
        try expectTrue(document(#"{"classes":{\#(many)}}"#).summary(for: .flexible).contains("9 classes"))
    }

    @Test func rulesMadeByAnUpgradeAreSummarizedAsSuch() throws {
        let rules = try document(#"{"generated":"upgrade","partition":"open","defaultRoles":"readAndWriteAll"}"#)
        for mode in SyncMode.allCases {
            expectTrue(rules.summary(for: mode).hasSuffix("(made by an upgrade, so that nobody was shut out)"))
        }
    }
}
