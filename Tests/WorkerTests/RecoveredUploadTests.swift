import Changesets
import Messages
import RealmState
import Storage
import SyncModel
import TestSupport
import Testing
import Views

@testable import Worker

/// What a client uploads first after a reset, in partition mode (docs/resets.md, "What stock clients recover").
@Suite(.hangGuard) struct RecoveredUploadTests {
    /// A client under a new client file, which its owner has seen come from the old one; the realm is at version 2.
    private func afterReset(_ harness: OwnerHarness) async throws -> ClientFileIdent {
        let old = try await harness.join(session: 1)
        try await harness.send(harness.upload(old, [Changes.schema(), Changes.create(1, title: "milk")]))
        try await harness.send(
            ResetMessage(realm: harness.realm, clientFile: old.ident, campaign: "r-1", reason: nil))
        _ = try await harness.rejoin(old, session: 2).one(RefusedAnswer.self)
        _ = try await harness.unbind(old, session: 2, wasRefused: true)
        return try await harness.join(session: 3)
    }

    @Test func whatItHasComeToIsSaidOnceMore() async throws {
        let harness = try await OwnerHarness.make()
        let file = try await afterReset(harness)
        let bread = Changes.set(1, title: "bread")
        let first = try await harness.send(
            harness.upload(file, session: 3, base: 2, first: 7, timestamp: 500, [bread, Changes.create(2)])
        ).one(IntegratedNotice.self)
        expectEqual(first.entries.map(\.originFile), [file.ident, file.ident, .server])
        let said = try #require(first.entries.last)
        expectEqual(said.timestamp, 500)
        let writes = try #require(try Changeset(parsing: said.changeset).writes())
        expectEqual(writes.map(\.address.key), [.int(1), .int(2)])
        expectTrue(writes.allSatisfy { $0.write.creates && $0.write.fields == ["title"] })
        try await expectEqual(harness.titles(), [1: "bread", 2: ""])
        // The client has come further: nothing that it uploads can have been recovered.
        let next = try await harness.send(
            harness.upload(file, session: 3, follows: 8, base: 5, timestamp: 600, [Changes.set(1, title: "butter")])
        ).one(IntegratedNotice.self)
        expectEqual(next.entries.map(\.originFile), [file.ident])
    }

    @Test func whatWasWrittenAfterTheResetIsNot() async throws {
        let harness = try await OwnerHarness.make()
        let file = try await afterReset(harness)
        let later = SyncTimestamp(unixMilliseconds: Int64(harness.time.now()) + 2 * 86_400_000)
        let notice = try await harness.send(
            harness.upload(file, session: 3, base: 2, first: 7, timestamp: later, [Changes.set(1, title: "bread")])
        ).one(IntegratedNotice.self)
        expectEqual(notice.entries.map(\.originFile), [file.ident])
    }

    /// The list has a tag in the fresh copy, which the operation does not know of: a stock client's copy had lost it before the reset.
    @Test func aListOperationThatDoesNotFitIsLeftOut() async throws {
        let harness = try await OwnerHarness.make()
        let file = try await afterReset(harness)
        try await harness.send(
            ChangesetMessage(
                realm: harness.realm, upload: nil,
                entries: [.init(timestamp: 400, changeset: Changes.insertTag(1, "a", at: 0, of: 0))]))
        // Others write to the object meanwhile, and not to its list.
        try await harness.send(
            ChangesetMessage(
                realm: harness.realm, upload: nil,
                entries: [.init(timestamp: 450, changeset: Changes.set(1, title: "x"))]))
        let published = try await harness.send(
            harness.upload(
                file, session: 3, base: 3, first: 7, timestamp: 500,
                [
                    Changes.insertTag(1, "a", at: 0, of: 0), Changes.set(1, title: "bread"),
                    Changes.insertTag(1, "b", at: 1, of: 1), Changes.insertTag(1, "c", at: 2, of: 2),
                ]))
        try expectTrue(published.every(RefusedAnswer.self).isEmpty)
        try await expectEqual(harness.titles(), [1: "bread"])
        let client = try await harness.fresh(session: 9)
        let tags = try #require(client.state.schema.table("Task")?.column("tags"))
        expectEqual(
            client.state.object(ObjectAddress("Task", .int(1)))?[tags],
            .list([.string("a"), .string("b"), .string("c")]))
    }

    @Test func aClientThatWasNotResetUploadsAsEver() async throws {
        let harness = try await OwnerHarness.make()
        let file = try await harness.join(session: 1)
        let notice = try await harness.send(
            harness.upload(file, timestamp: 5, [Changes.schema(), Changes.create(1, title: "milk")])
        ).one(IntegratedNotice.self)
        expectEqual(notice.entries.map(\.originFile), [file.ident, file.ident])
    }
}
