import AMQP
import Messages
import Storage
import SyncModel
import TestSupport
import Testing

@testable import Worker

/// What a newer version of Sluice has sent waits for an owner of that version, and hurts nobody meanwhile.
@Suite(.hangGuard) struct NewerMessageTests {
    private func marked(_ version: Int64, type: String = "future") -> AMQPMessage {
        var message = AMQPMessage(body: "{}")
        message.properties.type = type
        message.properties.messageID = "f"
        message.properties.headers[MessageVersion.header] = .int(version)
        message.properties.headers["x-delivery-count"] = 7
        return message
    }

    /// An upload in a binary form that this version does not know.
    private func binary() -> AMQPMessage {
        var message = AMQPMessage(body: [99, 0, 0])
        message.properties.type = ChangesetMessage.type
        message.properties.messageID = "b"
        message.properties.contentType = ContentType.binary
        return message
    }

    @Test func itGoesBackAfterAPauseAndNotToTheDeadLetters() async throws {
        let harness = try await OwnerHarness.make()
        let message = try await harness.join(session: 1)
        let upload = try AMQPMessage(harness.upload(message, [Changes.schema(), Changes.create(1)]))
        let waiting = await harness.owner.read([marked(MessageVersion.known + 1), upload, binary()])
        let first = try await harness.owner.deal(with: waiting)
        // The upload between them is dealt with.
        expectTrue(first.left == [0, 2] && !first.isIdle)
        try await expectEqual(harness.record().latest.version, 2)

        let left = [waiting[0], waiting[2]]
        try await expectTrue(harness.owner.deal(with: left).isIdle)
        harness.time.advance(999)
        try await expectTrue(harness.owner.deal(with: left).isIdle)
        harness.time.advance(1)
        let due = try await harness.owner.deal(with: left)
        expectTrue(due.left == [] && due.publications.count == 2)
        for (publication, original) in zip(due.publications, [marked(MessageVersion.known + 1), binary()]) {
            guard case .slice(harness.owner.slice) = publication.target else {
                Issue.record("it goes to \(publication.target)")
                continue
            }
            expectEqual(publication.message.body, original.body)
            expectEqual(publication.message.properties.messageID, original.properties.messageID)
            expectEqual(publication.message.properties.contentType, original.properties.contentType)
            expectTrue(publication.message.properties.headers["x-delivery-count"] == nil)
            expectEqual(publication.message.markedVersion, original.markedVersion)
        }
    }

    @Test func eachTimeItComesBackItIsHeldLonger() async throws {
        let harness = try await OwnerHarness.make()
        let waiting = await harness.owner.read([marked(MessageVersion.known + 1)])
        for pause in [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000] as [UInt64] {
            try await expectTrue(harness.owner.deal(with: waiting).isIdle)
            harness.time.advance(pause - 1)
            try await expectTrue(harness.owner.deal(with: waiting).isIdle, "\(pause)")
            harness.time.advance(1)
            try await expectEqual(harness.owner.deal(with: waiting).publications.count, 1, "\(pause)")
        }
        // Somebody has taken it; the next one is another upgrade's.
        harness.time.advance(200_000)
        try await expectTrue(harness.owner.deal(with: waiting).isIdle)
        harness.time.advance(1_000)
        try await expectEqual(harness.owner.deal(with: waiting).publications.count, 1)
    }

    @Test func aMistakeIsStillADeadLetter() async throws {
        let harness = try await OwnerHarness.make()
        let waiting = await harness.owner.read([marked(1)])
        let turn = try await harness.owner.deal(with: waiting)
        expectTrue(Published(turn.publications).dead.count == 1 && turn.left == [])
    }
}
