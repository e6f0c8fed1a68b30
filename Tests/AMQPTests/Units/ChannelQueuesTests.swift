import Loops
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
        #expect(answered.request.operation.consumerTag == "b")
        #expect(throws: AMQPError.self) {
            _ = try queue.takeAnswered(by: Method.reply(to: Method.queueBind), tag: nil)
        }
        let other = try queue.takeAnswered(by: Method.reply(to: Method.basicConsume), tag: arena.bytes("a"))
        #expect(other.request.operation.consumerTag == "a")
    }

    @Test func expiredRequestStillTakesItsAnswer() throws {
        var queue = RequestQueue()
        let now = Monotonic.now()
        queue.add(sent: ChannelRequest(.get(queue: "q"), deadline: now), replay: false)
        queue.add(sent: ChannelRequest(.open, deadline: .never), replay: true)
        queue.add(waiting: ChannelRequest(.purgeQueue("q"), deadline: now))
        var failed: [UInt32] = []
        let hasDeadlines = queue.expire(now, AMQPError(.timeout, "late")) { failed.append($0.operation.method) }
        #expect(!hasDeadlines)
        #expect(failed == [Method.queuePurge])
        let answered = try queue.takeAnswered(by: Method.basicGetEmpty, tag: nil)
        #expect(answered.expired)
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
            #expect(messages.markReturned(id: "other", exchange: "e", unroutable) == false)
            #expect(messages.markReturned(id: "id", exchange: "e", unroutable) == true)
            #expect(messages.unconfirmedCount == 1)
            #expect(throws: AMQPError.self) { _ = try messages.confirm(2, multiple: false, refused: false) }
            let count = try? messages.confirm(1, multiple: false, refused: false)
            #expect(count == 1)
        }
        #expect(error?.code == .unroutable)
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
            #expect(!hasDeadlines && !messages.hasWaiting)
        }
        #expect(error?.code == .blocked)
    }
}
