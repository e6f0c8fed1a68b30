import AMQP
import Foundation
import Messages
import Storage
import SyncModel
import Synchronization
import TestSupport
import Testing

@testable import Worker

/// Reports that nothing would make again outlive the process that was to publish them.
@Suite(.hangGuard) struct OutboxTests {
    /// Processes a message as a worker does that dies between its commit and its publishing; returns the slice's next
    /// owner.
    private func dying(_ harness: OwnerHarness, of message: some Message) async throws -> OwnerHarness {
        _ = try await harness.owner.process([
            AMQPMessage(message, id: "m", correlationID: "c", replyTo: "sluice.gateway.g")
        ])
        return try await OwnerHarness.make(on: harness.store)
    }

    @Test func aResetFoundByAnOwnerThatDiesIsReported() async throws {
        let harness = try await OwnerHarness.make()
        let file = try await harness.join(session: 1)
        let upload = harness.upload(file, base: 7, [Changes.schema()])
        let next = try await dying(harness, of: upload)
        let published = try await next.send(upload)
        try expectEqual(published.one(RefusedAnswer.self).code, 208)
        let found = try published.one(FoundReport.self)
        expectEqual(found.clientRealms.map(\.clientFile), [file.ident])
        // What has arrived is forgotten.
        try await next.tick()
        let third = try await OwnerHarness.make(on: harness.store)
        try await expectTrue(third.send(upload).every(FoundReport.self).isEmpty)
    }

    @Test func aBadUploadOfAnOwnerThatDiesIsSetAside() async throws {
        let harness = try await OwnerHarness.make()
        let file = try await harness.join(session: 1)
        let upload = harness.upload(file, [[0xff, 0xfe]])
        var original = try AMQPMessage(upload, id: "m")
        original.properties.headers["x-nested"] = .array([.table(["a": .int(1)]), .bytes([1]), .bool(true)])
        _ = try await harness.owner.process([original])
        let next = try await OwnerHarness.make(on: harness.store)
        let published = try await next.send([original])
        let letter = try #require(published.dead.first)
        expectEqual(published.dead.count, 1)
        expectEqual(letter.body, original.body)
        expectEqual(letter.properties.messageID, "m")
        expectEqual(letter.properties.type, ChangesetMessage.type)
        expectEqual(letter.properties.headers["x-nested"], original.properties.headers["x-nested"])
        expectTrue(letter.properties.headers[DeadLetter.reasonHeader] != nil)
        _ = try published.one(FoundReport.self)
        try await expectTrue(next.send([original]).dead.isEmpty)
    }

    @Test func anOutcomeInferredByAnOwnerThatDiesIsReported() async throws {
        let harness = try await OwnerHarness.make()
        _ = try await resetting(harness)
        let fresh = try await harness.join(session: 3)
        _ = try await harness.page(fresh, session: 3, generation: 2, isMark: true)
        _ = try await harness.unbind(fresh, session: 3)
        _ = try await harness.send(harness.bindRequest(session: 4, needsIdent: false))
        // The client leaves between BIND and IDENT: its merge has failed.
        let left = UnbindNotice(
            realm: harness.realm, session: SessionReference(gateway: "g", number: 4), user: "u", connection: "c1",
            clientFile: nil, isOrderly: true, wasRefused: false)
        let next = try await dying(harness, of: left)
        try await expectEqual(next.send(left).one(OutcomeReport.self).result, .failed)
    }

    @Test func aFreshCopyAskedForOfAnOwnerThatDiesKeepsItsIdent() async throws {
        let harness = try await OwnerHarness.make()
        let old = try await resetting(harness)
        let bind = harness.bindRequest(session: 3)
        let next = try await dying(harness, of: bind)
        let fresh = try #require(try await next.send(bind).one(BoundAnswer.self).clientFile)
        expectEqual(fresh.ident.rawValue, old.ident.rawValue + 1)
        _ = try await next.identify(fresh, session: 3).one(IdentifiedAnswer.self)
        let page = try await next.page(fresh, session: 3, generation: 2, isMark: true).one(PageAnswer.self)
        _ = try await next.unbind(fresh, session: 3)
        _ = try await next.send(next.bindRequest(session: 4, needsIdent: false))
        _ = try await next.identify(
            fresh, session: 4, download: DownloadCursor(serverVersion: page.latest.version), latest: page.latest)
        let outcome = try await next.send(
            next.upload(
                fresh, session: 4, base: page.latest.version, generation: 2, [Changes.set(1, title: "offline")])
        ).one(OutcomeReport.self)
        expectEqual(outcome.result, .recovered)
        expectEqual(outcome.identNew, fresh.ident)
    }

    @Test func aStoreThatGoesAwayWithinABatchLosesNoReport() async throws {
        let store = CountingStore()
        let harness = try await OwnerHarness.make(on: store)
        let bad = try await harness.join(session: 1)
        let good = try await harness.join(session: 2)
        let batch = [
            try AMQPMessage(harness.upload(bad, [[0xff, 0xfe]])),
            // Commits what is before it.
            try AMQPMessage(TickMessage(at: harness.time.now())),
            try AMQPMessage(harness.upload(good, session: 2, [Changes.schema()])),
        ]
        store.commitsLeft.withLock { $0 = 1 }
        await #expect(throws: StoreError.self) { try await harness.send(batch) }
        store.commitsLeft.withLock { $0 = nil }
        let published = try await harness.send(batch)
        expectEqual(published.dead.count, 1)
        try expectEqual(published.one(FoundReport.self).clientRealms.map(\.clientFile), [bad.ident])
        _ = try published.one(IntegratedNotice.self)
    }

    /// A client file with an object, told to reset by a termination.
    private func resetting(_ harness: OwnerHarness) async throws -> ClientFileIdent {
        let old = try await harness.join(session: 1)
        try await harness.send(harness.upload(old, [Changes.schema(), Changes.create(1, title: "one")]))
        try await harness.send(TerminationMessage(app: OwnerHarness.app, campaign: "c-1", generation: 2, reason: nil))
        _ = try await harness.unbind(old, session: 1)
        return old
    }
}
