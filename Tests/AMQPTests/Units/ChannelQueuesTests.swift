import Loops
import TestSupport
import Testing

@testable import AMQP

@Suite struct RequestQueueTests {
    private func consume(_ tag: String) -> ChannelRequest {
        ChannelRequest(
            .consume(
                Subscription(queue: "q", tag: tag, exclusive: false, arguments: [:], buffer: DeliveryBuffer())))
    }

    @Test func answersToConsumingNameTheirConsumer() throws {
        var queue = RequestQueue()
        for tag in ["a", "b"] { queue.add(sent: consume(tag), replay: false) }
        var arena = Arena()
        let answered = try queue.takeAnswered(by: Method.reply(to: Method.basicConsume), tag: arena.bytes("b"))
        expectEqual(answered.request.operation.consumerTag, "b")
        #expect(throws: AMQPError.self) {
            _ = try queue.takeAnswered(by: Method.reply(to: Method.queueBind), tag: nil)
        }
        let other = try queue.takeAnswered(by: Method.reply(to: Method.basicConsume), tag: arena.bytes("a"))
        expectEqual(other.request.operation.consumerTag, "a")
    }

    @Test func expiredRequestStillTakesItsAnswer() throws {
        var queue = RequestQueue()
        let now = Monotonic.now()
        queue.add(sent: ChannelRequest(.get(queue: "q"), deadline: now), replay: false)
        queue.add(sent: ChannelRequest(.open, deadline: .never), replay: true)
        queue.add(waiting: ChannelRequest(.purgeQueue("q"), deadline: now))
        var failed: [UInt32] = []
        let hasDeadlines = queue.expire(now, AMQPError(.timeout, "late")) { failed.append($0.operation.method) }
        expectTrue(!hasDeadlines)
        expectEqual(failed, [Method.queuePurge])
        let answered = try queue.takeAnswered(by: Method.basicGetEmpty, tag: nil)
        expectTrue(answered.expired)
    }
}

@Suite struct OutgoingMessagesTests {
    @Test func returnedMessageFailsWhenItsConfirmComes() async {
        let error = await withUnsafeContinuation { (continuation: UnsafeContinuation<AMQPError?, Never>) in
            var messages = OutgoingMessages()
            messages.add(
                CollectionOfOne(
                    PendingPublish(
                        head: [], body: [], exchange: "e", returnID: "id", deadline: .never,
                        completion: .single(continuation))))
            if let next = messages.takeNext() { messages.awaitConfirm(of: next) }
            let unroutable = AMQPError(.unroutable, "no queue")
            expectEqual(messages.markReturned(id: "other", exchange: "e", unroutable), false)
            expectEqual(messages.markReturned(id: "id", exchange: "e", unroutable), true)
            expectEqual(messages.unconfirmedCount, 1)
            #expect(throws: AMQPError.self) { _ = try messages.confirm(2, multiple: false, refused: false) }
            let count = try? messages.confirm(1, multiple: false, refused: false)
            expectEqual(count, 1)
        }
        expectEqual(error?.code, .unroutable)
    }

    @Test func lateMessageFailsAsBlockedWhileTheBrokerBlocks() async {
        let error = await withUnsafeContinuation { (continuation: UnsafeContinuation<AMQPError?, Never>) in
            let now = Monotonic.now()
            var messages = OutgoingMessages()
            messages.add(
                CollectionOfOne(
                    PendingPublish(
                        head: [], body: [], exchange: "e", returnID: nil, deadline: now,
                        completion: .single(continuation))))
            let hasDeadlines = messages.expire(now, blocked: AMQPError(.blocked, "alarm"))
            expectTrue(!hasDeadlines && !messages.hasWaiting)
        }
        expectEqual(error?.code, .blocked)
    }
}
