import AMQP
import Foundation
import Messages
import SyncModel
import TestSupport
import Testing

@testable import Inspection

@Suite struct MessageSummaryTests {
    static let realm = RealmName(app: "tasks", partition: "\"nw\"")

    private func upload() throws -> AMQPMessage {
        let upload = ChangesetMessage.Upload(
            session: SessionReference(gateway: "g1", number: 4), clientFile: 7, generation: 1, follows: 2,
            progress: UploadCursor(clientVersion: 5, serverVersion: 3), lockedServerVersion: 3,
            rights: SessionRights(.readWrite, rulesVersion: 1))
        let entry = UploadedChangeset(clientVersion: 5, serverVersion: 3, timestamp: 1, changeset: [0xde, 0xad])
        return try AMQPMessage(ChangesetMessage(realm: Self.realm, upload: upload, entries: [entry]), id: "m1")
    }

    @Test func anUploadIsSummarisedWithoutItsContents() throws {
        let slices = try #require(SliceCount(4))
        let summary = MessageSummary(try upload(), slices: slices)
        expectTrue(summary.type == "changeset" && summary.app == "tasks" && summary.clientFile == 7)
        expectTrue(summary.slice == Self.realm.slice(of: slices).value && summary.id == "m1")
        expectTrue(summary.text.contains("1 changeset, 2 bytes") && !summary.text.contains("dead"))
    }

    @Test func whatAGatewaySendsForASessionNamesTheSession() throws {
        let session = SessionReference(gateway: "g1", number: 4)
        let context = RequestContext(
            realm: Self.realm, session: session, sentAt: 9, patience: 1, rights: SessionRights(.read, rulesVersion: 1))
        let sent = [
            try upload(),
            try AMQPMessage(
                BindRequest(
                    context: context, user: "u1", connection: "c1", needsClientFile: true, sessionReason: 0,
                    protocolVersion: 14, userAgent: "test")),
            try AMQPMessage(
                PageRequest(
                    context: context, clientFile: 7, generation: 1, after: DownloadCursor(), maxBytes: 1, isMark: false)
            ),
            try AMQPMessage(
                UnbindNotice(
                    realm: Self.realm, session: session, user: "u1", connection: "c1", clientFile: 7, isOrderly: true,
                    wasRefused: false)),
        ]
        expectEqual(sent.map { MessageSummary($0).session }, Array(repeating: "g1/4", count: 4))
        let notice = IntegratedNotice(
            realm: Self.realm, generation: 1, follows: 1, latest: SaltedServerVersion(version: 2, salt: 1), entries: [],
            acknowledgements: [])
        expectTrue(MessageSummary(try AMQPMessage(notice)).session == nil)
    }

    @Test func bodiesAreShownOnRequestAndSaltsNever() throws {
        expectTrue(MessageBody.text(of: try upload()).contains("dead"))
        let identify = IdentifyRequest(
            context: RequestContext(
                realm: Self.realm, session: SessionReference(gateway: "g1", number: 4), sentAt: 9, patience: 1,
                rights: SessionRights(.read, rulesVersion: 1)),
            user: "u1", clientFile: ClientFileIdent(ident: 7, salt: 123_456_789), download: DownloadCursor(),
            latest: SaltedServerVersion(version: 3, salt: 987_654_321))
        let text = MessageBody.text(of: try AMQPMessage(identify))
        expectTrue(text.contains("\"ident\":7") && text.contains("<redacted>"))
        expectTrue(!text.contains("123456789") && !text.contains("987654321"))
        expectEqual(MessageSummary(try AMQPMessage(identify)).clientFile, 7)
    }

    @Test func aCommitNamesTheEventsThatMadeItsVersions() throws {
        let ids = ["", "a", "a", "", "b"]
        let events = NoticedEvent.all(of: ids.enumerated().map { (ServerVersion(UInt64($0 + 5)), $1) })
        expectEqual(events, [NoticedEvent(id: "a", version: 7), NoticedEvent(id: "b", version: 9)])
        expectEqual(
            NoticedEvent.all(of: (1...99).map { (ServerVersion($0), "\($0)") }).count, NoticedEvent.most)
        var message = AMQPMessage(body: #"{"at":5}"#)
        message.properties.type = "tick"
        expectTrue(MessageSummary(message).events == nil)
        message.note(events)
        expectEqual(MessageSummary(message).events, events)
        message.properties.headers["x-sluice-events"] = .array([.int(7), .table(["id": .int(1)])])
        expectTrue(MessageSummary(message).events == nil)
    }

    private func commit(
        after follows: UInt64, latest: UInt64, acknowledged: [IntegratedNotice.Acknowledgement] = []
    ) throws -> MessageSummary {
        let notice = IntegratedNotice(
            realm: Self.realm, generation: 1, follows: ServerVersion(follows),
            latest: SaltedServerVersion(version: ServerVersion(latest), salt: 1), entries: [],
            acknowledgements: acknowledged)
        return MessageSummary(try AMQPMessage(notice))
    }

    @Test func whatTellsOfNothingNewIsTheClocks() throws {
        let again = try commit(after: 7, latest: 7)
        expectTrue(again.again == true && again.isOfClock)
        expectEqual(again.text, "still at server version 7")
        // A commit whose versions were too large to be sent along, and one that acknowledges a client, are news.
        let acknowledged = IntegratedNotice.Acknowledgement(
            clientFile: 7, upload: UploadCursor(clientVersion: 5, serverVersion: 3))
        for news in [try commit(after: 6, latest: 7), try commit(after: 7, latest: 7, acknowledged: [acknowledged])] {
            expectTrue(news.again == nil && !news.isOfClock)
        }
        expectTrue(MessageSummary(try AMQPMessage(TickMessage(at: 5))).isOfClock)
    }

    @Test func aDeadLetterSaysWhyAndWhereItDied() throws {
        let letter = DeadLetterDraft(
            try upload(), reason: "there is no app tasks", queue: "sluice.slice.2", app: "tasks", diedAt: 5
        ).letter
        let summary = MessageSummary(letter, isDead: true)
        expectTrue(summary.queue == "sluice.slice.2" && summary.reason == "there is no app tasks")
        expectEqual(summary.letter, DeadLetter(letter).name)
        // Sent back to its queue it lives again, whatever its headers still say.
        expectTrue(MessageSummary(letter).letter == nil)
    }

    @Test func longBodiesAreCut() throws {
        let message = AMQPMessage(body: String(repeating: "x", count: 5000))
        let text = MessageBody.text(of: message, maxCharacters: 100)
        expectTrue(text.count < 140 && text.contains("(5000 characters)"))
    }

    @Test(arguments: ["", "not json", "{}", #"{"type":"changeset"}"#, #"{"type":"changeset","realm":7}"#, "\u{0}"])
    func whateverComesIsSummarised(_ body: String) {
        let summary = MessageSummary(AMQPMessage(body: body), routingKey: "99999999999999999999", slices: SliceCount(2))
        expectTrue(!summary.text.isEmpty && summary.bytes == body.utf8.count && summary.slice == nil)
    }

    @Test func everyTypeOfTheDocumentationIsKnown() throws {
        var message = AMQPMessage(body: #"{"at":5}"#)
        message.properties.type = "tick"
        expectEqual(MessageSummary(message, routingKey: "3", slices: SliceCount(4)).slice, 3)
        message = try AMQPMessage(TerminationMessage(app: "tasks", campaign: "c7", generation: 2, reason: nil))
        expectEqual(MessageSummary(message).text, "campaign c7, generation 2")
        message = try AMQPMessage(ResetMessage(realm: Self.realm, clientFile: 8, campaign: nil, reason: nil), id: "r1")
        expectTrue(MessageSummary(message).text == "campaign r1" && MessageSummary(message).clientFile == 8)
    }
}
