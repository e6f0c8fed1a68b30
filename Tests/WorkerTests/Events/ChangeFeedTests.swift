import AMQP
import Changesets
import ExtendedJSON
import Messages
import SeededRandom
import Storage
import SyncModel
import TestSupport
import Testing

@testable import Worker

/// What an owner tells those who follow an app.
@Suite(.hangGuard) struct ChangeFeedTests {
    private static let partition = RealmName(app: OwnerHarness.app, partition: "\"store\"")
    private static let flexible = RealmName(flexible: OwnerHarness.app)

    private func make(
        _ mode: ChangeFeedSetting.Mode, realm: RealmName = ChangeFeedTests.partition
    ) async throws -> OwnerHarness {
        let harness = try await OwnerHarness.make(realm: realm)
        _ = try await harness.control.updateApp(OwnerHarness.app) { $0.changeFeed.set(mode, at: 1) }
        return harness
    }

    private func changesets(_ harness: OwnerHarness, _ changesets: [UInt8]...) -> ChangesetMessage {
        ChangesetMessage(
            realm: harness.realm, upload: nil, entries: changesets.map { .init(timestamp: 1, changeset: $0) })
    }

    private func write(_ harness: OwnerHarness, _ json: String) throws -> WriteMessage {
        WriteMessage(realm: harness.realm, writes: try ExtendedJSONParser.parse(Array("[\(json)]".utf8)))
    }

    private func texts(_ follower: Follower) -> [String] {
        follower.changes.map {
            "\($0.place) \(ExtendedJSONWriter.text(of: .document($0.change)))"
        }
    }

    @Test func nothingIsToldAndNothingIsKeptWhereTheFeedIsOff() async throws {
        let harness = try await make(.off)
        let published = try await harness.send(changesets(harness, Changes.schema(), Changes.create(1, title: "a")))
        expectTrue(!published.all.contains(where: \.isChange))
        try await expectTrue(harness.store.outbox(after: 0, maxBytes: .max).isEmpty)
    }

    @Test(arguments: [partition, flexible])
    func whatAVersionDoesIsToldWithItsPlace(realm: RealmName) async throws {
        let harness = try await make(.keys, realm: realm)
        var follower = Follower()
        try await follower.take(
            harness.send(changesets(harness, Changes.schema(), Changes.create(1, title: "a"), Changes.create(2))))
        try await follower.take(
            harness.send(
                write(
                    harness,
                    #"{"update": "Task", "id": 1, "set": {"title": "b"}}, {"delete": "Task", "id": 2}, {"insert": "Task", "document": {"_id": 3, "title": "c"}}"#
                )))
        expectEqual(
            texts(follower),
            [
                #"1.2.0 {"class":"Task","operation":"insert","key":1,"document":{"_id":1,"title":"a","tags":[]}}"#,
                #"1.3.0 {"class":"Task","operation":"insert","key":2,"document":{"_id":2,"title":"","tags":[]}}"#,
                #"1.4.0 {"class":"Task","operation":"update","key":1,"set":{"title":"b"}}"#,
                #"1.4.1 {"class":"Task","operation":"delete","key":2}"#,
                #"1.4.2 {"class":"Task","operation":"insert","key":3,"document":{"_id":3,"title":"c","tags":[]}}"#,
            ])
        try await expectEqual(follower.differences(from: harness), [])
    }

    @Test func documentsAreToldAsTheyAreAfterwardsIfTheAppWantsThat() async throws {
        let harness = try await make(.documents)
        var follower = Follower()
        try await harness.send(changesets(harness, Changes.schema(), Changes.create(1, title: "a")))
        let published = try await harness.send(changesets(harness, Changes.set(1, title: "b")))
        try follower.take(Published(published.all.filter { !$0.isChange }))
        expectTrue(follower.changes.isEmpty)
        let change = try published.one(ChangesMessage.self).changes[0]
        expectEqual(change.change["document"], ["_id": BSONValue(Int64(1)), "title": "b", "tags": []])
        expectEqual(published.all.filter(\.isChange).map(\.target), [.changes(key: "tasks.Task.update")])
        // From then on nothing is told.
        _ = try await harness.control.updateApp(OwnerHarness.app) { $0.changeFeed.set(.off, at: 2) }
        let later = try await harness.send(changesets(harness, Changes.set(1, title: "c")))
        expectTrue(!later.all.contains(where: \.isChange))
    }

    @Test func whatADeviceWritesIsToldAsItIsMerged() async throws {
        let harness = try await make(.keys)
        let file = try await harness.join(session: 1)
        var follower = Follower()
        try await follower.take(harness.send(changesets(harness, Changes.schema(), Changes.create(1, title: "a"))))
        try await follower.take(harness.send(changesets(harness, Changes.erase(1))))
        // Nothing is left of what the device has changed.
        try await follower.take(harness.send(harness.upload(file, base: 2, [Changes.set(1, title: "b")])))
        try await follower.take(
            harness.send(harness.upload(file, follows: 1, base: 2, [Changes.create(2, title: "c")])))
        expectEqual(
            follower.changes.compactMap { $0.change["operation"]?.string?.string }, ["insert", "delete", "insert"])
        try await expectEqual(follower.differences(from: harness), [])
    }

    @Test func anErasedRealmIsToldOf() async throws {
        let harness = try await make(.keys)
        var follower = Follower()
        try await follower.take(harness.send(changesets(harness, Changes.schema(), Changes.create(1, title: "a"))))
        let erased = try await harness.send(EraseMessage(realm: harness.realm, campaign: "c-1", reason: nil))
        try follower.take(erased)
        expectEqual(
            erased.all.filter(\.isChange).map(\.target), [.changes(key: "tasks.%.erase")])
        try await harness.finishJobs()
        // The realm that comes into being under the name goes on behind it.
        try await follower.take(harness.send(changesets(harness, Changes.create(2, title: "b"))))
        expectEqual(
            follower.changes.map { $0.change["operation"]?.string?.string ?? "" }, ["insert", "erase", "insert"])
        expectEqual(follower.repetitions, 0)
        try await expectEqual(follower.differences(from: harness), [])
    }

    @Test func whatAnOwnerThatDiesHasNotToldTheNextOneTells() async throws {
        let harness = try await make(.keys)
        var follower = Follower()
        try await follower.take(harness.send(changesets(harness, Changes.schema(), Changes.create(1, title: "a"))))
        let lost = Published(
            try await harness.owner.process([AMQPMessage(changesets(harness, Changes.set(1, title: "b")), id: "m-1")]))
        let next = try await OwnerHarness.make(on: harness.store, control: harness.control)
        let again = try await next.send([AMQPMessage(changesets(harness, Changes.set(1, title: "b")), id: "m-1")])
        expectEqual(
            again.all.filter(\.isChange).map(\.message.body), lost.all.filter(\.isChange).map(\.message.body))
        try follower.take(again)
        // The old owner's messages may come late.
        try follower.take(lost)
        expectEqual(follower.repetitions, 1)
        try await follower.take(next.send(changesets(harness, Changes.set(1, title: "c"))))
        try await expectEqual(follower.differences(from: next), [])
        // What has arrived is forgotten.
        try await next.owner.forgetArrived()
        try await expectTrue(next.store.outbox(after: 0, maxBytes: .max).isEmpty)
    }

    /// A slice that was put back makes versions anew that have been told with other changes.
    @Test(arguments: [partition, flexible])
    func changesOfASliceThatWasPutBackAreOfAnotherHistory(realm: RealmName) async throws {
        let harness = try await make(.keys, realm: realm)
        let before = try await harness.send(
            changesets(harness, Changes.schema(), Changes.create(1, title: "a"))
        ).one(ChangesMessage.self)
        // The backup has this one in its outbox.
        let waiting = Published(
            try await harness.owner.process([AMQPMessage(changesets(harness, Changes.set(1, title: "b")), id: "m-1")]))
        expectEqual(try waiting.one(ChangesMessage.self).history, before.history)
        try await harness.store.putBack(RestoreRecord(id: "restore-1", at: harness.time.now()), epoch: Epoch(2_000))
        let next = try await OwnerHarness.make(on: harness.store, control: harness.control, realm: realm)
        let published = try await next.send(changesets(harness, Changes.set(1, title: "c")))
        let told = try published.every(ChangesMessage.self).flatMap(\.changes)
        expectEqual(told.map(\.history).first, before.history)
        let after = try #require(told.last)
        expectTrue(after.history != nil && after.history != before.history)
        // The place alone may come twice; with the history it is never that of another change.
        let ids = published.all.filter(\.isChange).compactMap(\.message.properties.messageID)
        expectTrue(ids.last?.hasSuffix("@\(after.history ?? "")") == true && Set(ids).count == ids.count)
        expectEqual(told.map(\.place.version), [3, 4])
    }

    @Test func whatIsLargeIsToldByItsKey() async throws {
        let harness = try await make(.documents)
        try await harness.send(changesets(harness, Changes.schema()))
        let title = String(repeating: "x", count: EncodedChange.maxBytes)
        let change = try await harness.send(changesets(harness, Changes.create(1, title: title))).one(
            ChangesMessage.self)
        expectEqual(change.changes.count, 1)
        expectEqual(
            ExtendedJSONWriter.text(of: .document(change.changes[0].change)),
            #"{"class":"Task","operation":"insert","key":1,"omitted":true}"#)
    }

    /// Owners that die at random between their commit and what they tell, over random writes.
    @Test(arguments: seedRanges(4, of: 6), [partition, flexible])
    func aReplayedFeedIsTheState(seeds: Range<UInt64>, realm: RealmName) async throws {
        for seed in seeds {
            var random = SeededGenerator(seed: seed)
            var harness = try await make(random.below(2) == 0 ? .keys : .documents, realm: realm)
            var follower = Follower()
            try await follower.take(harness.send(changesets(harness, Changes.schema())))
            for step in 0..<30 {
                var writes: [String] = []
                for _ in 0...random.below(3) {
                    let key = random.below(6)
                    switch random.below(5) {
                    case 0: writes.append(#"{"delete": "Task", "id": \#(key)}"#)
                    case 1:
                        writes.append(#"{"update": "Task", "id": \#(key), "apply": {"$push": {"tags": "\#(step)"}}}"#)
                    case 2:
                        writes.append(#"{"replace": "Task", "id": \#(key), "document": {"title": "r\#(step)"}}"#)
                    default:
                        writes.append(#"{"upsert": "Task", "document": {"_id": \#(key), "title": "u\#(step)"}}"#)
                    }
                }
                let message = try AMQPMessage(write(harness, writes.joined(separator: ",")), id: "m-\(step)")
                switch random.below(4) {
                case 0:
                    // Told in part, and what follows is told by another owner, all of it.
                    let all = Published(try await harness.owner.process([message]))
                    try follower.take(Published(Array(all.all.prefix(random.below(all.all.count + 1)))))
                    harness = try await OwnerHarness.make(on: harness.store, control: harness.control, realm: realm)
                    try await follower.take(harness.send([message]), "seed \(seed) step \(step)")
                default: try await follower.take(harness.send([message]), "seed \(seed) step \(step)")
                }
                try await expectEqual(follower.differences(from: harness), [], "seed \(seed) step \(step)")
            }
        }
    }
}

/// Changes of one realm, as messages tell them and as the outbox keeps them.
struct ChangeRecordTests {
    private static let realm = RealmName(app: "a", partition: "\"p\"")

    private func change(_ number: Int, _ key: String = "a.B.update", history: String = "h", bytes: Int = 10) throws
        -> PlacedChange
    {
        let place = ChangePlace(generation: 1, version: ServerVersion(UInt64(number)), index: 0)
        let text = #"{"class":"B","operation":"update","key":1,"set":{"x":"\#(String(repeating: "x", count: bytes))"}}"#
        return PlacedChange(
            routingKey: key, place: FeedPlace(place, of: history),
            element: FeedChange.element(
                at: place, follows: ChangePredecessors(), writtenAt: 5, change: Array(text.utf8)))
    }

    @Test func changesThatGoTheSameWayAreToldTogetherInTheirOrder() throws {
        var changes = try (1...3).map { try change($0) }
        try changes.append(change(4, "a.C.insert"))
        try changes.append(change(5))
        try changes.append(change(6, history: "i"))
        let messages = ToldChangesMessage.messages(of: changes, in: Self.realm)
        expectEqual(messages.map(\.count), [3, 1, 1, 1])
        expectEqual(messages.map(\.routingKey), ["a.B.update", "a.C.insert", "a.B.update", "a.B.update"])
        let read = try messages.flatMap { try ChangesMessage(jsonBody: $0.body).changes }
        expectEqual(read.map(\.place.version), [1, 2, 3, 4, 5, 6])
        expectEqual(read.map(\.history), ["h", "h", "h", "h", "h", "i"])
        expectEqual(messages.map { $0.id.split(separator: "/").last }, ["1.1.0@h", "1.4.0@h", "1.5.0@h", "1.6.0@i"])
        expectEqual(ToldChangesMessage.messages(of: [], in: Self.realm), [])
    }

    @Test func noMessageTellsTooMuch() throws {
        let many = try (1...1_200).map { try change($0) }
        expectEqual(ToldChangesMessage.messages(of: many, in: Self.realm).map(\.count), [500, 500, 200])
        // Several large ones, and one that is larger than a message of several may be.
        let large = try [100_000, 100_000, 100_000, 900_000, 10, 10].enumerated().map {
            try change($0 + 1, bytes: $1)
        }
        expectEqual(ToldChangesMessage.messages(of: large, in: Self.realm).map(\.count), [2, 1, 1, 2])
    }

    @Test func recordsAreReadAsTheyWereWritten() throws {
        let messages = (0..<5).map {
            ToldChangesMessage(
                routingKey: "a.B.update", id: "m-\($0)", body: Array(repeating: UInt8($0), count: 400_000),
                count: $0 + 1)
        }
        let records = ChangeRecord.records(messages, at: 77)
        expectEqual(records.map(\.messages.count), [2, 2, 1])
        for record in records {
            expectEqual(ChangeRecord(decoding: record.encoded()), record)
            let publications = record.publications(outboxID: "o")
            expectEqual(publications.map(\.outboxID), record.messages.map { _ in "o" })
            expectEqual(publications.map(\.changes), record.messages.map(\.count))
        }
        expectTrue(ChangeRecord(decoding: Array(records[0].encoded().dropLast())) == nil)
        expectTrue(ChangeRecord(decoding: Array("{}".utf8)) == nil && ChangeRecord(decoding: []) == nil)
    }
}
