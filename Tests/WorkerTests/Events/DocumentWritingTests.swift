import AMQP
import Changesets
import ExtendedJSON
import Messages
import Storage
import SyncModel
import TestSupport
import Testing

@testable import Worker

/// Writes on documents, as an owner makes them part of a realm.
@Suite(.hangGuard) struct DocumentWritingTests {
    private func message(_ harness: OwnerHarness, _ json: String, onlyIf: BSONValue? = nil) throws -> WriteMessage {
        WriteMessage(
            realm: harness.realm, writes: try ExtendedJSONParser.parse(Array("[\(json)]".utf8)), onlyIf: onlyIf)
    }

    /// A realm in which clients have declared the class Task.
    private func declared(
        realm: RealmName = RealmName(app: OwnerHarness.app, partition: "\"store\"")
    ) async throws -> OwnerHarness {
        let harness = try await OwnerHarness.make(realm: realm)
        let schema = ChangesetMessage(
            realm: realm, upload: nil, entries: [.init(timestamp: 1, changeset: Changes.schema())])
        try await harness.send(schema)
        _ = try await harness.control.updateApp(OwnerHarness.app) { $0.developmentMode = false }
        return harness
    }

    private static let insert = #"{"insert": "Task", "document": {"_id": 7, "title": "milk", "tags": ["a"]}}"#

    @Test func writesOfAMessageAreOneVersionThatClientsAreSent() async throws {
        let harness = try await declared()
        let published = try await harness.send(
            message(
                harness, Self.insert + #", {"update": "Task", "id": 7, "apply": {"$push": {"tags": "b"}}}"#))
        let answer = try published.one(WrittenAnswer.self)
        expectEqual(answer.version, 2)
        expectEqual(
            answer.results,
            [
                .init(matched: 0, modified: 0, inserted: 7), .init(matched: 1, modified: 1, inserted: nil),
            ])
        expectEqual(try published.one(IntegratedNotice.self).entries.map(\.originFile), [.server])
        try await expectEqual(harness.titles(), [7: "milk"])
    }

    /// What became of an event can be told by its message id: from the notice of the commit, and later from the history.
    @Test func theIdOfAnEventIsWithTheVersionThatItMade() async throws {
        let harness = try await declared()
        let published = try await harness.send(message(harness, Self.insert))
        let notice = try #require(
            published.all.first { $0.message.properties.type == IntegratedNotice.type }?.message)
        let event = try #require(notice.notedEvents.first)
        expectTrue(!event.id.isEmpty && event.version == 2 && notice.notedEvents.count == 1)
        let realm = try #require(try await harness.store.realm(harness.realm))
        let history = try await harness.store.history(
            of: HistoryKey(realm: realm.id, generation: realm.generation), after: 0, through: 2, maxBytes: .max)
        expectEqual(history.map(\.event).last, event.id)
    }

    @Test func aWriteMergesWithWhatADeviceDidOffline() async throws {
        let harness = try await declared()
        try await harness.send(message(harness, Self.insert))
        let file = try await harness.join(session: 1)
        try await harness.send(message(harness, #"{"update": "Task", "id": 7, "set": {"title": "bread"}}"#))
        // The device has seen the insertion alone.
        try await harness.send(
            harness.upload(file, base: 2, [Changes.insertTag(7, "b", at: 1, of: 1)]))
        let answer = try await harness.send(
            message(harness, #"{"update": "Task", "id": 7, "onlyIf": {"tags": "b"}, "set": {"title": "both"}}"#))
        expectEqual(try answer.one(WrittenAnswer.self).results.map(\.modified), [1])
        try await expectEqual(harness.titles(), [7: "both"])
    }

    @Test func aRepetitionIsAnsweredAndWritesNothing() async throws {
        let harness = try await declared()
        try await harness.send(message(harness, Self.insert), id: "w-1")
        let again = try await harness.send(message(harness, Self.insert), id: "w-1").one(WrittenAnswer.self)
        expectTrue(again.isRepetition)
        expectEqual(again.version, 2)
    }

    @Test func aRefusedMessageLeavesNothingAndNamesTheWrite() async throws {
        let harness = try await declared()
        let published = try await harness.send(
            message(harness, Self.insert + #", {"update": "Task", "id": 7, "set": {"title": 5}}"#))
        let refusal = try published.one(WriteRefusedAnswer.self)
        expectEqual(refusal.code, "wrong_type")
        expectEqual(refusal.write, 1)
        expectTrue(refusal.reason.hasPrefix("writes[1]") && refusal.reason.contains("title"), "\(refusal.reason)")
        expectTrue(published.dead.isEmpty)
        try await expectEqual(harness.titles(), [:])
        // The id is free: nothing was done.
        let next = try await harness.send(message(harness, Self.insert)).one(WrittenAnswer.self)
        expectEqual(next.version, 2)
    }

    @Test func aRefusedMessageThatNobodyWaitsForIsADeadLetter() async throws {
        let harness = try await declared()
        let published = try await harness.send(
            message(harness, #"{"insert": "Nothing", "document": {"_id": 7}}"#), waits: false)
        expectEqual(published.dead.count, 1)
        let reason = published.dead.first?.properties.headers[DeadLetter.reasonHeader]?.stringValue ?? ""
        expectTrue(reason.contains("Nothing"), "\(reason)")
    }

    @Test func aConditionThatDoesNotHoldIsAConflict() async throws {
        let harness = try await declared()
        try await harness.send(message(harness, Self.insert))
        let stale = try await harness.send(
            message(harness, #"{"delete": "Task", "id": 7}"#, onlyIf: ["version": 1])
        ).one(WriteRefusedAnswer.self)
        expectEqual(stale.code, "conflict")
        let differs = try await harness.send(
            message(harness, #"{"delete": "Task", "id": 7, "onlyIf": {"title": "bread"}}"#)
        ).one(WriteRefusedAnswer.self)
        expectEqual(differs.code, "conflict")
        let right = try await harness.send(
            message(harness, #"{"delete": "Task", "id": 7, "onlyIf": {"title": "milk"}}"#, onlyIf: ["version": 2])
        ).one(WrittenAnswer.self)
        expectEqual(right.results.map(\.matched), [1])
        try await expectEqual(harness.titles(), [:])
    }

    @Test func aFilterFindsObjectsInTheStoreAndThoseOfTheSameMessage() async throws {
        let harness = try await declared()
        let many = (1...40).map { #"{"insert": "Task", "document": {"_id": \#($0), "title": "t\#($0 % 2)"}}"# }
        try await harness.send(message(harness, many.joined(separator: ", ")))
        // Another owner has nothing in memory.
        let next = try await OwnerHarness.make(on: harness.store, control: harness.control, realm: harness.realm)
        let answer = try await next.send(
            message(
                next,
                #"{"insert": "Task", "document": {"_id": 99, "title": "t1"}}, "#
                    + #"{"update": "Task", "filter": {"title": "t1"}, "many": true, "set": {"title": "odd"}}"#)
        ).one(WrittenAnswer.self)
        expectEqual(answer.results.last, .init(matched: 21, modified: 21, inserted: nil))
        let titles = try await next.titles()
        expectEqual(titles.values.count { $0 == "odd" }, 21)
        expectEqual(titles.count, 41)
    }

    @Test func filtersThatLookThroughAClassAreFewAndOnesThatNameKeysNeedNotBe() async throws {
        let harness = try await declared()
        try await harness.send(message(harness, Self.insert))
        func many(_ filter: String) -> String {
            Array(repeating: #"{"update": "Task", "filter": \#(filter), "set": {"title": "x"}}"#, count: 17)
                .joined(separator: ", ")
        }
        let refusal = try await harness.send(message(harness, many(#"{"title": "milk"}"#))).one(WriteRefusedAnswer.self)
        expectEqual(refusal.code, "limit")
        expectEqual(refusal.write, 16)
        let written = try await harness.send(message(harness, many(#"{"_id": 7}"#))).one(WrittenAnswer.self)
        expectEqual(written.results.map(\.matched), Array(repeating: 1, count: 17))
    }

    @Test func aNewRealmGetsTheClassesOfItsApp() async throws {
        let first = try await declared()
        let other = RealmName(app: OwnerHarness.app, partition: "\"other\"")
        let writes = try ExtendedJSONParser.parse(Array("[\(Self.insert)]".utf8))
        let answer = try await first.send(WriteMessage(realm: other, writes: writes)).one(WrittenAnswer.self)
        // What declares the class is a version of its own.
        expectEqual(answer.version, 2)
        expectEqual(answer.results.map(\.inserted), [7])
    }

    @Test func developmentModeMakesClassesAsDocumentsSuggest() async throws {
        let harness = try await declared()
        _ = try await harness.control.updateApp(OwnerHarness.app) { $0.developmentMode = true }
        let answer = try await harness.send(
            message(harness, #"{"insert": "Note", "document": {"text": "x", "stars": 4}}"#)
        ).one(WrittenAnswer.self)
        guard case .objectID? = answer.results.first?.inserted else {
            return expectTrue(false, "expected a new object id, found \(answer.results)")
        }
        expectEqual(answer.declared, ["class Note (_id: objectId)", "Note.text: string?", "Note.stars: int?"])
        expectEqual(try WrittenAnswer(jsonBody: answer.jsonBody()), answer)
        let elements = try await harness.control.schema(ofApp: OwnerHarness.app)
        expectTrue(elements.contains { $0.className == "Note" && $0.property == "stars" })
    }

    @Test func whatChangesNothingMakesNoVersion() async throws {
        let harness = try await declared()
        try await harness.send(message(harness, Self.insert))
        let published = try await harness.send(
            message(harness, #"{"update": "Task", "id": 7, "set": {"title": "milk"}}"#))
        let answer = try published.one(WrittenAnswer.self)
        expectEqual(answer.version, 2)
        expectEqual(answer.results, [.init(matched: 1, modified: 0, inserted: nil)])
    }

    @Test func changesetsThatSomebodyWaitsForAreAnswered() async throws {
        let harness = try await declared()
        let event = ChangesetMessage(
            realm: harness.realm, upload: nil,
            entries: [.init(timestamp: 1, changeset: Changes.create(1, title: "milk"))])
        expectEqual(try await harness.send(event, waits: true).one(WrittenAnswer.self).version, 2)
        let bad = ChangesetMessage(
            realm: harness.realm, upload: nil,
            entries: [.init(timestamp: 1, changeset: Changes.set(9, title: "nobody"))])
        let refusal = try await harness.send(bad, waits: true).one(WriteRefusedAnswer.self)
        expectEqual(refusal.code, "unusable")
    }

    @Test func writesReachTheClientsOfAFlexibleRealm() async throws {
        let harness = try await declared(realm: RealmName(flexible: OwnerHarness.app))
        let published = try await harness.send(message(harness, Self.insert))
        expectEqual(try published.one(WrittenAnswer.self).version, 2)
        expectTrue(try published.one(IntegratedNotice.self).objects != nil)
    }
}
