import AMQP
import Changesets
import Messages
import Storage
import SyncModel
import TestSupport
import Testing

@testable import Worker

/// What sessions may upload that may only read.
@Suite(.hangGuard) struct DeniedUploadTests {
    /// A realm with a class and an object, and a second client that may only read.
    private func prepare(_ then: AppRecord.OnWriteDenied) async throws -> (OwnerHarness, reader: ClientFileIdent) {
        let harness = try await OwnerHarness.make()
        _ = try await harness.control.updateApp(OwnerHarness.app) { $0.onWriteDenied = then }
        let writer = try await harness.join(session: 1)
        try await harness.send(harness.upload(writer, [Changes.schema(), Changes.create(1, title: "one")]))
        return (harness, try await harness.join(session: 2, user: "reader"))
    }

    @Test func theSchemaThatIsThereMayBeDeclared() async throws {
        let (harness, reader) = try await prepare(.error)
        let notice = try await harness.send(harness.upload(reader, session: 2, rights: .reading, [Changes.schema()]))
            .one(IntegratedNotice.self)
        expectEqual(notice.acknowledgements.map(\.upload.clientVersion), [1])
        try await expectEqual(harness.titles(), [1: "one"])
    }

    /// The history keeps nothing of a reader's declaration: not what an instruction repeats, and no text that only
    /// comes along.
    @Test func declarationsOfAReaderAreNotKept() async throws {
        let (harness, reader) = try await prepare(.error)
        var changeset = try Changeset(parsing: Changes.schema())
        changeset.instructions += changeset.instructions
        _ = changeset.strings.intern(ByteString(String(repeating: "x", count: 10_000)))
        let before = try await harness.record().historyBytes
        _ = try await harness.send(harness.upload(reader, session: 2, rights: .reading, [changeset.encoded()]))
            .one(IntegratedNotice.self)
        try await expectTrue(harness.record().historyBytes <= before + 1)
        try await expectEqual(harness.titles(), [1: "one"])
    }

    @Test(arguments: [
        [Changes.create(2)], [Changes.set(1, title: "two")], [Changes.schema(), Changes.create(2)],
        [Changes.addColumn("done", .bool)], [Changes.addColumn("title", .int)], [Changes.eraseColumn("title")],
        [[0xff, 0xff]],
    ])
    func anythingElseIsRefusedAndNotIntegrated(changesets: [[UInt8]]) async throws {
        let (harness, reader) = try await prepare(.error)
        let schema = try await harness.control.schema(ofApp: OwnerHarness.app)
        let published = try await harness.send(harness.upload(reader, session: 2, rights: .reading, changesets))
        let refusal = try published.one(RefusedAnswer.self)
        expectTrue(refusal.code == 206 && refusal.action == "ApplicationBug" && !refusal.tryAgain)
        expectTrue(refusal.message.contains("permission denied"))
        try expectTrue(published.every(IntegratedNotice.self).isEmpty && published.dead.isEmpty)
        try await expectEqual(harness.store.realm(harness.realm)?.latest.version, 2)
        try await expectEqual(harness.titles(), [1: "one"])
        try await expectEqual(harness.control.schema(ofApp: OwnerHarness.app), schema)
        // The reader's client file is as it was.
        let notice = try await harness.send(harness.upload(reader, session: 2, rights: .reading, [Changes.schema()]))
            .one(IntegratedNotice.self)
        expectEqual(notice.acknowledgements.map(\.upload.clientVersion), [1])
    }

    @Test func theClientDiscardsWhereTheAppSaysSo() async throws {
        let (harness, reader) = try await prepare(.discard)
        let published = try await harness.send(
            harness.upload(reader, session: 2, rights: .reading, [Changes.create(2)]))
        let refusal = try published.one(RefusedAnswer.self)
        expectTrue(refusal.code == 206 && refusal.action == "ClientResetNoRecovery" && !refusal.tryAgain)
        expectTrue(refusal.clientFile == reader.ident && refusal.campaign != nil)
        try expectEqual(published.one(FoundReport.self).clientRealms.map(\.user), ["reader"])
        expectTrue(published.dead.isEmpty)
        try await expectEqual(harness.titles(), [1: "one"])
        // A client that did not hear of it may not recover either, now or after a restart of the owner.
        func comesAgain(to owner: OwnerHarness) async throws {
            let later = try await owner.rejoin(reader, session: 3, user: "reader").one(RefusedAnswer.self)
            expectTrue(later.action == "ClientResetNoRecovery" && later.campaign == refusal.campaign)
        }
        try await comesAgain(to: harness)
        try await comesAgain(to: try await OwnerHarness.make(on: harness.store, control: harness.control))
    }

    @Test func anUploadIntegratedBeforeIsNotRefusedToAReader() async throws {
        let (harness, reader) = try await prepare(.discard)
        let upload = harness.upload(reader, session: 2, [Changes.create(2)])
        try await harness.send(upload)
        var again = upload
        again.upload?.rights = .reading
        let published = try await harness.send(again)
        try expectTrue(published.every(RefusedAnswer.self).isEmpty)
        try await expectEqual(harness.titles(), [1: "one", 2: ""])
    }

    @Test func progressIsNoWrite() async throws {
        let (harness, reader) = try await prepare(.discard)
        var upload = harness.upload(reader, session: 2, rights: .reading, [])
        upload.upload?.progress = UploadCursor(clientVersion: 4, serverVersion: 2)
        upload.upload?.lockedServerVersion = 2
        try await expectTrue(harness.send(upload).every(RefusedAnswer.self).isEmpty)
        let key = ClientFileKey(realm: try await harness.record().id, ident: reader.ident)
        try await expectEqual(harness.store.clientFile(key)?.upload.clientVersion, 4)
    }
}
