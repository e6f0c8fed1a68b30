import AMQP
import Changesets
import Messages
import RealmState
import Rules
import Storage
import SyncModel
import TestSupport
import Testing

@testable import Worker

/// What a role forbids it forbids step by step: nothing goes by `delete`, `insert` or the fields because one changeset does several things to an
/// object, and nothing of what is forbidden comes into the history.
@Suite struct ForbiddenStepTests {
    private typealias Items = FlexibleItems
    private static let secret: Int64 = 7_777

    /// - Parameter access: of a role that lets its user at all items of owner 0.
    private static func roles(_ access: String, applyWhen: String = "{}") throws -> String {
        let text = #"""
            {"queryable": {"global": ["owner", "a"]}, "defaultRoles": [{"name": "r", "apply_when": \#(applyWhen), \#(access),
             "document_filters": {"read": {"owner": 0}, "write": {"owner": 0}}}]}
            """#
        let check = RulesCheck(Array(text.utf8))
        return try #require(check.document, "\(check.findings)").closedRoles(of: RuleUser(id: "u")).text
    }

    private struct Pair {
        var harness: OwnerHarness
        var writer: ViewingClient
        var client: ViewingClient

        /// A realm with item 1 of owner 0, and one whose role is to be tried.
        static func make(_ roles: String) async throws -> Pair {
            let harness = try await OwnerHarness.make(realm: RealmName(flexible: OwnerHarness.app))
            var writer = try await ViewingClient.join(
                harness, session: 1, user: "u1", roles: try Items.roles(reads: [0, 1, 2], writes: [0, 1, 2]))
            try writer.make(Items.schema(), at: 1)
            try await writer.upload(to: harness)
            try await writer.download(from: harness)
            try await expectTrue(writer.bootstrap(1, Items.query([0, 1, 2]), from: harness) == nil)
            try writer.write(at: 2, Items.create(1, .init(owner: 0, a: 5)))
            try await writer.upload(to: harness)
            var client = try await ViewingClient.join(harness, session: 2, user: "u2", roles: roles)
            try await client.download(from: harness)
            try await expectTrue(client.bootstrap(1, Items.query([0, 1, 2]), from: harness) == nil)
            expectEqual(Items.items(client.state), [1: .init(owner: 0, a: 5)])
            return Pair(harness: harness, writer: writer, client: client)
        }

        /// - Returns: whether all of it counts. Else it is undone, and its author is told.
        mutating func tries(_ changes: ((inout Changeset) -> Void)...) async throws -> Bool {
            let before = try await Items.items(harness)
            try client.write(at: 50) { changeset in for change in changes { change(&changeset) } }
            let wanted = Items.items(client.state)
            try await client.upload(to: harness)
            try await client.download(from: harness)
            try await writer.download(from: harness)
            let after = try await Items.items(harness)
            let counts = client.told.isEmpty
            expectEqual(after, (counts ? wanted : before))
            expectTrue(Items.items(client.state) == after && Items.items(writer.state) == after)
            return counts
        }
    }

    private func expect(
        _ counts: Bool, _ access: String, _ changes: ((inout Changeset) -> Void)...,
        at location: SourceLocation = #_sourceLocation
    ) async throws {
        var pair = try await Pair.make(try Self.roles(access))
        let did: Bool
        switch changes.count {
        case 1: did = try await pair.tries(changes[0])
        case 2: did = try await pair.tries(changes[0], changes[1])
        default: did = try await pair.tries(changes[0], changes[1], changes[2])
        }
        #expect(did == counts, sourceLocation: location)
    }

    private static let all = #""read": true, "write": true"#

    @Test func recreatingAnErasedObjectNeedsDeleteAndInsert() async throws {
        let anew = Items.create(1, .init(owner: 0, a: 6))
        try await expect(true, Self.all, Items.erase(1), anew)
        try await expect(false, Self.all + #", "delete": false"#, Items.erase(1), anew)
        try await expect(false, Self.all + #", "insert": false"#, Items.erase(1), anew)
        // By what the object is then.
        try await expect(false, Self.all + #", "delete": {"a": 6}"#, Items.erase(1), anew)
        try await expect(true, Self.all + #", "delete": {"a": 6}"#, Items.set(1, "a", 6), Items.erase(1))
        try await expect(false, Self.all + #", "insert": {"a": 5}"#, Items.erase(1), anew)
        try await expect(true, Self.all + #", "insert": {"a": 6}"#, Items.erase(1), anew)
    }

    @Test func fieldsCountWhateverBecomesOfThem() async throws {
        let a = #""read": true, "fields": {"a": {"write": true}, "owner": {"read": true}}"#
        try await expect(true, a, Items.set(1, "a", 6))
        try await expect(false, a, Items.set(1, "owner", 0))
        try await expect(true, a, Items.erase(1))
        try await expect(false, a, Items.erase(1), Items.create(1, .init(owner: 0, a: 6)))
        try await expect(false, a, Items.set(1, "owner", 0), Items.erase(1))
    }

    @Test func aRoleWithoutWritableFieldsMakesAndErasesNothing() async throws {
        let none = #""read": true, "additional_fields": {"read": true, "write": false}"#
        func bare(_ key: Int64) -> (inout Changeset) -> Void {
            { $0.instructions.append(.createObject(table: $0.strings.intern("Item"), object: .int(key))) }
        }
        try await expect(false, none, bare(7))
        try await expect(false, none, Items.erase(1))
        try await expect(false, none, Items.erase(1), bare(1))
        try await expect(false, none, bare(1))
    }

    @Test(arguments: [
        #""read": true, "write": false"#, #""read": true, "write": true, "insert": false"#,
        #""read": true, "write": true, "delete": false"#,
        #""read": true, "write": true, "insert": {"a": 1}"#,
    ])
    func objectsMadeAndErasedAtOnceAreStillJudged(access: String) async throws {
        var pair = try await Pair.make(try Self.roles(access))
        let history = try await pair.harness.record().historyBytes
        try await expectEqual(pair.tries(Items.create(9, .init(owner: 0, a: Self.secret)), Items.erase(9)), false)
        try await expectEqual(pair.harness.record().historyBytes, history)
        try expectTrue(!Items.values(of: "a", in: pair.writer.received).contains(Self.secret))
    }

    @Test func whoHasNoRoleMakesNothingThatIsErasedAtOnceEither() async throws {
        let roles = try Self.roles(Self.all, applyWhen: #"{"%%user.id": "somebody else"}"#)
        let harness = try await OwnerHarness.make(realm: RealmName(flexible: OwnerHarness.app))
        var writer = try await ViewingClient.join(
            harness, session: 1, user: "u1", roles: try Items.roles(reads: [0, 1, 2], writes: [0, 1, 2]))
        try writer.make(Items.schema(), at: 1)
        try await writer.upload(to: harness)
        var client = try await ViewingClient.join(harness, session: 2, user: "u2", roles: roles)
        try await client.download(from: harness)
        try await expectTrue(client.bootstrap(1, Items.query([0, 1, 2]), from: harness) == nil)
        let history = try await harness.record().historyBytes
        try client.write(at: 50) { changeset in
            Items.create(9, .init(owner: 0, a: Self.secret))(&changeset)
            Items.erase(9)(&changeset)
        }
        try await client.upload(to: harness)
        try await client.download(from: harness)
        try await expectTrue(harness.record().historyBytes == history && !client.told.isEmpty)
    }

    /// An object that is erased at once leaves nothing for the view to have: an honest client hears nothing.
    @Test func objectsErasedAtOnceNeedNotBeInTheView() async throws {
        let harness = try await OwnerHarness.make(realm: RealmName(flexible: OwnerHarness.app))
        let roles = try Items.roles(reads: [0, 1], writes: [0, 1])
        var client = try await ViewingClient.join(harness, session: 1, user: "u", roles: roles)
        try client.make(Items.schema(), at: 1)
        try await client.upload(to: harness)
        try await client.download(from: harness)
        try await expectTrue(client.bootstrap(1, Items.query([0]), from: harness) == nil)
        try client.write(at: 2) { changeset in
            Items.create(3, .init(owner: 1, a: 1))(&changeset)
            Items.erase(3)(&changeset)
        }
        try await client.upload(to: harness)
        try await client.download(from: harness)
        expectTrue(client.told.isEmpty)
        try await expectEqual(Items.items(harness), [:])
    }

    /// Two clients have erased the object: the second erasure would outdo whoever makes it again.
    @Test func erasingAGoneObjectNeedsRightsToItsLastState() async throws {
        for (access, counts) in [(Self.all, true), (Self.all + #", "delete": false"#, false)] {
            var pair = try await Pair.make(try Self.roles(access))
            try pair.client.write(at: 60, Items.erase(1))
            try pair.writer.write(at: 50, Items.erase(1))
            try await pair.writer.upload(to: pair.harness)
            let versions = try await pair.harness.record().historyBytes
            try await pair.client.upload(to: pair.harness)
            try await pair.client.download(from: pair.harness)
            expectEqual(pair.client.told.isEmpty, counts)
            expectEqual((try await pair.harness.record().historyBytes > versions), counts)
            expectEqual(Items.items(pair.client.state), [:])
        }
    }

    /// The length of a list and the type of a property are not told to a user who may not see them.
    @Test func changesetsThatDoNotFitAreRefusedInGeneralTerms() async throws {
        let pair = try await Pair.make(try Self.roles(Self.all))
        var changeset = Changeset()
        let path = FieldPath(
            table: changeset.strings.intern("Item"), object: .int(1), field: changeset.strings.intern("a"),
            path: PathElements([.index(3)]))
        changeset.instructions = [.arrayErase(path, priorSize: 9)]
        let bytes = changeset.encoded()
        let message = ChangesetMessage(
            realm: pair.harness.realm,
            upload: .init(
                session: SessionReference(gateway: "g", number: 2), clientFile: pair.client.file.ident, generation: 1,
                follows: pair.client.progress.upload.clientVersion,
                progress: UploadCursor(clientVersion: 1_000, serverVersion: pair.client.cursor),
                lockedServerVersion: pair.client.cursor, rights: .all),
            entries: [
                .init(clientVersion: 1_000, serverVersion: pair.client.cursor, timestamp: 70, changeset: bytes)
            ])
        let published = try await pair.harness.send(message)
        let refusal = try published.one(RefusedAnswer.self)
        expectEqual(refusal.code, .badChangeset)
        expectTrue(refusal.message.contains("does not fit") && !refusal.message.contains("Item"))
        let letter = try #require(published.dead.first)
        expectTrue("\(letter.properties.headers)".contains("Item"))
        // A user who may not write the property hears that, and no more.
        let reader = try await Pair.make(try Self.roles(#""read": true, "fields": {"owner": {"write": true}}"#))
        var other = message
        other.upload?.clientFile = reader.client.file.ident
        other.upload?.follows = reader.client.progress.upload.clientVersion
        other.upload?.lockedServerVersion = reader.client.cursor
        other.upload?.progress.serverVersion = reader.client.cursor
        other.entries[0].serverVersion = reader.client.cursor
        try await expectTrue(reader.harness.send(other).every(RefusedAnswer.self).isEmpty)
        let page = PageRequest(
            context: reader.harness.context(2), clientFile: reader.client.file.ident, generation: 1,
            after: reader.client.position, maxBytes: 1 << 18, isMark: false)
        let told = try await reader.harness.send(page).one(PageAnswer.self).view?.compensations ?? []
        expectEqual(told.flatMap(\.updates).map(\.key), [ObjectKey.int(1).detachedEncoding()])
    }
}
