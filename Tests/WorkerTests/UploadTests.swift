import AMQP
import Messages
import Storage
import SyncModel
import TestSupport
import Testing

@testable import Worker

@Suite(.hangGuard) struct UploadTests {
    @Test func anUploadBecomesHistoryAndStateAndIsAcknowledged() async throws {
        let harness = try await OwnerHarness.make()
        let file = try await harness.join(session: 1)
        let notice = try await harness.send(
            harness.upload(file, [Changes.schema(), Changes.create(1, title: "milk")])
        ).one(IntegratedNotice.self)
        expectEqual(notice.follows, 0)
        expectEqual(notice.latest.version, 2)
        expectEqual(notice.entries.map(\.serverVersion), [1, 2])
        expectEqual(notice.entries.map(\.clientVersion), [1, 2])
        expectEqual(notice.entries.map(\.originFile), [file.ident, file.ident])
        expectEqual(
            notice.acknowledgements,
            [.init(clientFile: file.ident, upload: UploadCursor(clientVersion: 2, serverVersion: 0))])
        try await expectEqual(harness.titles(), [1: "milk"])
    }

    @Test func anIntegratedUploadIsSkippedAndAcknowledgedAgain() async throws {
        let harness = try await OwnerHarness.make()
        let file = try await harness.join(session: 1)
        let upload = harness.upload(file, [Changes.schema(), Changes.create(1, title: "milk")])
        try await harness.send(upload)
        let again = try await harness.send(upload).one(IntegratedNotice.self)
        expectTrue(again.entries.isEmpty)
        expectEqual(again.latest.version, 2)
        expectEqual(again.acknowledgements.map(\.upload.clientVersion), [2])
    }

    @Test func onlyTheNewPartOfAnOverlappingUploadCounts() async throws {
        let harness = try await OwnerHarness.make()
        let file = try await harness.join(session: 1)
        try await harness.send(harness.upload(file, [Changes.schema(), Changes.create(1, title: "milk")]))
        let more = harness.upload(
            file, [Changes.schema(), Changes.create(1, title: "milk"), Changes.set(1, title: "bread")])
        let notice = try await harness.send(more).one(IntegratedNotice.self)
        expectEqual(notice.entries.map(\.clientVersion), [3])
        try await expectEqual(harness.titles(), [1: "bread"])
    }

    @Test func anEventThatComesAgainIsToldOfAgain() async throws {
        let harness = try await OwnerHarness.make()
        let event = ChangesetMessage(
            realm: harness.realm, upload: nil, entries: [.init(timestamp: 1, changeset: Changes.schema())])
        try await harness.send(event, id: "e-1")
        // The owner that dealt with the event may have died before its notice left.
        let again = try await harness.send(event, id: "e-1").one(IntegratedNotice.self)
        expectEqual(again.latest.version, 1)
        expectEqual(again.follows, 1)
        expectTrue(again.entries.isEmpty)
    }

    @Test func aGapIsRefusedAndChangesNothing() async throws {
        let harness = try await OwnerHarness.make()
        let file = try await harness.join(session: 1)
        let published = try await harness.send(harness.upload(file, follows: 7, [Changes.schema()]))
        let refusal = try published.one(RefusedAnswer.self)
        expectEqual(refusal.code, 201)
        expectTrue(refusal.tryAgain)
        expectEqual(refusal.session.number, 1)
        try expectTrue(published.every(IntegratedNotice.self).isEmpty)
        try await expectEqual(harness.store.realm(harness.realm)?.latest.version, 0)
    }

    @Test func aBatchOfManyUploadsIsOneNoticePerRealm() async throws {
        let harness = try await OwnerHarness.make()
        let file = try await harness.join(session: 1)
        var messages = [try AMQPMessage(harness.upload(file, [Changes.schema()]))]
        for version in 1..<50 as Range<ClientVersion> {
            messages.append(
                try AMQPMessage(
                    harness.upload(
                        file, follows: version, [Changes.create(Int64(version.rawValue), title: "t\(version)")])))
        }
        let notice = try await harness.send(messages).one(IntegratedNotice.self)
        expectEqual(notice.latest.version, 50)
        expectEqual(notice.acknowledgements.map(\.upload.clientVersion), [50])
        try await expectEqual(harness.titles().count, 49)
    }

    @Test func strangersFillTheDeadLettersOnlySoFar() async throws {
        let harness = try await OwnerHarness.make()
        let good = try await harness.join(session: 1)
        try await harness.send(harness.upload(good, [Changes.schema()]))
        var letters: [AMQPMessage] = []
        for session in 2...130 as ClosedRange<UInt64> {
            let bad = try await harness.join(session: session)
            let large = Changes.set(77, title: String(repeating: "x", count: 100_000))
            letters += try await harness.send(
                harness.upload(bad, session: session, base: 1, [Changes.create(2), large])
            ).dead
        }
        expectEqual(letters.count, 100)
        let letter = DeadLetter(try #require(letters.first))
        expectTrue(letter.isExcerpt && letter.kept == DeadLetterDraft.excerptBytes && letter.length > 100_000)
        expectTrue(letters.allSatisfy { $0.body.count <= DeadLetterDraft.excerptBytes })
    }

    @Test func aBadChangesetHurtsOnlyItsAuthor() async throws {
        let harness = try await OwnerHarness.make()
        let good = try await harness.join(session: 1)
        let bad = try await harness.join(session: 2)
        try await harness.send(harness.upload(good, [Changes.schema(), Changes.create(1, title: "a")]))
        let published = try await harness.send([
            AMQPMessage(harness.upload(bad, session: 2, base: 2, [Changes.create(2), Changes.set(77, title: "x")])),
            AMQPMessage(harness.upload(good, follows: 2, [Changes.set(1, title: "b")])),
        ])
        let refusal = try published.one(RefusedAnswer.self)
        expectEqual(refusal.code, 212)
        expectEqual(refusal.action, "ClientReset")
        expectEqual(refusal.clientFile, bad.ident)
        expectEqual(published.dead.count, 1)
        expectEqual(published.dead.first?.properties.headers[DeadLetter.reasonHeader]?.stringValue?.isEmpty, false)
        try expectEqual(published.one(FoundReport.self).clientRealms.map(\.clientFile), [bad.ident])
        try await expectEqual(harness.titles(), [1: "b"])
        let later = try await harness.identify(bad, session: 3).one(RefusedAnswer.self)
        expectEqual(later.code, 208)
        expectEqual(later.campaign, refusal.campaign)
    }

    @Test func garbageIsABadChangeset() async throws {
        let harness = try await OwnerHarness.make()
        let file = try await harness.join(session: 1)
        let published = try await harness.send(harness.upload(file, [[0xff, 0xff, 0xff]]))
        try expectEqual(published.one(RefusedAnswer.self).code, 212)
    }

    @Test(arguments: [
        ([3, 3] as [ClientVersion], [0, 0] as [ServerVersion]), ([1, 2], [0, 9]), ([2, 1], [0, 0]), ([0, 1], [0, 0]),
    ])
    func impossibleCursorsResetTheClientFile(_ client: [ClientVersion], _ server: [ServerVersion]) async throws {
        let harness = try await OwnerHarness.make()
        let file = try await harness.join(session: 1)
        var upload = harness.upload(file, [Changes.schema(), Changes.create(1)])
        for index in upload.entries.indices {
            upload.entries[index].clientVersion = client[index]
            upload.entries[index].serverVersion = server[index]
        }
        upload.upload?.progress = UploadCursor(clientVersion: 9, serverVersion: server.max() ?? 0)
        let refusal = try await harness.send(upload).one(RefusedAnswer.self)
        expectTrue(refusal.code == 209 || refusal.code == 210)
    }

    @Test func anEventFromAShellIsWrittenByTheServerOnce() async throws {
        let harness = try await OwnerHarness.make()
        let event = ChangesetMessage(
            realm: harness.realm, upload: nil,
            entries: [
                .init(timestamp: 5, changeset: Changes.schema()), .init(timestamp: 0, changeset: Changes.create(3)),
            ])
        let notice = try await harness.send(event, id: "event-1").one(IntegratedNotice.self)
        expectEqual(notice.entries.map(\.originFile), [1, 1])
        expectEqual(notice.entries.map(\.clientVersion), [0, 0])
        expectTrue(notice.acknowledgements.isEmpty)
        let again = try await harness.send(event, id: "event-1").one(IntegratedNotice.self)
        expectEqual(again.latest, notice.latest)
        try await expectEqual(harness.titles().keys.sorted(), [3])
    }

    /// Ids are the publishers' own: two who number their events from 1 must not lose each other's.
    @Test func eventsOfTwoRealmsMayHaveTheSameId() async throws {
        let harness = try await OwnerHarness.make()
        let other = RealmName(app: harness.realm.app, partition: "\"other\"")
        func event(_ realm: RealmName) -> ChangesetMessage {
            ChangesetMessage(realm: realm, upload: nil, entries: [.init(timestamp: 5, changeset: Changes.schema())])
        }
        // One after the other, and in one batch.
        let first = try await harness.send(event(harness.realm), id: "event-1").one(IntegratedNotice.self)
        let second = try await harness.send(event(other), id: "event-1").one(IntegratedNotice.self)
        expectEqual([first.latest.version, second.latest.version], [1, 1])
        let both = try await harness.send(
            [harness.realm, other, other].map { try AMQPMessage(event($0), id: "event-2") })
        expectEqual(try both.every(IntegratedNotice.self).map(\.latest.version), [2, 2])
    }

    @Test func poisonIsSetAsideWithItsReason() async throws {
        let harness = try await OwnerHarness.make()
        var unknown = try AMQPMessage(ClaimMessage(worker: "w"))
        unknown.properties.type = "riddle"
        let nowhere = ChangesetMessage(
            realm: RealmName(app: "nope", partition: "null"), upload: nil, entries: [.init(timestamp: 1, changeset: [])]
        )
        var garbled = try AMQPMessage(harness.bindRequest(session: 1))
        garbled.body = [1, 2, 3]
        let published = try await harness.send([unknown, AMQPMessage(nowhere), garbled])
        let reasons = published.dead.map { $0.properties.headers[DeadLetter.reasonHeader]?.stringValue ?? "" }
        expectEqual(reasons.count, 3)
        expectTrue(reasons[0].contains("riddle"))
        expectTrue(reasons[1].contains("nope"))
        expectEqual(published.dead[1].properties.headers[DeadLetter.appHeader], "nope")
    }

    @Test func aLargeNoticeLeavesItsEntriesToPages() async throws {
        var limits = WorkerLimits()
        limits.maxNoticeBytes = 64
        let harness = try await OwnerHarness.make(limits: limits)
        let file = try await harness.join(session: 1)
        let notice = try await harness.send(
            harness.upload(file, [Changes.schema(), Changes.create(1, title: String(repeating: "x", count: 100))])
        ).one(IntegratedNotice.self)
        expectTrue(notice.entries.isEmpty)
        expectEqual(notice.latest.version, 2)
    }

    @Test func aFencedOwnerWritesNothing() async throws {
        let harness = try await OwnerHarness.make()
        let file = try await harness.join(session: 1)
        _ = try await harness.store.claim(
            by: "other", now: 0, leaseUntil: 1, gone: try await harness.store.ownership()?.owner)
        let error = await #expect(throws: StoreError.self) {
            try await harness.send(harness.upload(file, [Changes.schema()]))
        }
        expectEqual(error?.code, .fenced)
        try await expectEqual(harness.store.realm(harness.realm)?.latest.version, 0)
    }
}

@Suite(.hangGuard) struct DamageTests {
    @Test func aDamagedRealmDoesNotHoldUpTheOthers() async throws {
        let harness = try await OwnerHarness.make()
        var damaged = RealmRecord(
            id: RealmID(7), name: RealmName(app: OwnerHarness.app, partition: "\"broken\""), generation: 1, salt: 1,
            saltEpoch: Epoch(1))
        damaged.schema = [0xff, 0xff]
        var batch = SliceBatch()
        batch.realms = [damaged]
        try await harness.store.commit(batch, epoch: harness.owner.epoch)
        let file = try await harness.join(session: 1)
        let event = ChangesetMessage(
            realm: damaged.name, upload: nil, entries: [.init(timestamp: 1, changeset: Changes.schema())])
        let published = try await harness.send([
            AMQPMessage(harness.upload(file, [Changes.schema()])), AMQPMessage(event),
            AMQPMessage(harness.upload(file, follows: 1, [Changes.create(1, title: "fine")])),
        ])
        expectEqual(published.dead.count, 1)
        try expectEqual(published.one(IntegratedNotice.self).latest.version, 2)
        try await expectEqual(harness.titles(), [1: "fine"])
    }
}
