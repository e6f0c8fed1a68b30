import CRabbitMQ
import DequeModule
import Logging

// Publishing and its confirms.
extension ChannelState {
    /// The loop stops taking messages while this much waits for the socket.
    private static let highWater = 1 << 20

    /// Whether a message that waits can be written now.
    private var canPublish: Bool {
        guard case .open = phase, flows, loop.blocked == nil, loop.output.count < Self.highWater else { return false }
        return !confirms || ledger.count < loop.link.configuration.maxOutstandingConfirms
    }

    /// Writes what waits, as far as the socket, the broker and the limit on confirms allow.
    func pump() {
        while !publishes.isEmpty, canPublish, let publish = publishes.popFirst() {
            loop.output.append(publish.head)
            loop.output.appendBody(publish.body, channel: number, frameMax: loop.frameMax)
            publish.body = []
            loop.statistics.published += 1
            if confirms {
                ledger.append(publish)
            } else {
                publish.resolve(nil)
            }
        }
    }

    /// The broker took responsibility, or refused it.
    func confirmed(_ tag: UInt64, multiple: Bool, refused: Bool) throws(AMQPError) {
        // After the channel was told to close nobody waits for these.
        if case .closing = phase { return }
        guard let covered = ledger.confirm(tag, multiple: multiple) else {
            throw AMQPError(.protocolError, "expected the confirm of something published, not of number \(tag)")
        }
        for publish in covered {
            if refused {
                loop.statistics.refused += 1
                publish.resolve(AMQPError(.nacked, "the broker refused the message, as a full queue does"))
            } else {
                loop.statistics.confirmed += 1
                publish.resolve(publish.returned)
            }
        }
        loop.wantsToPublish(self)
    }

    /// A mandatory message came back. Its confirm follows, and only that ends the wait: until then the order of
    /// confirms counts.
    func returned(_ message: AMQPMessage, exchange: String, routingKey: String, replyCode: Int, text: String) {
        loop.statistics.returned += 1
        let match = ledger.open.first {
            $0.returned == nil && $0.returnID != nil && $0.returnID == message.properties.messageID
                && $0.exchange == exchange
        }
        guard let match else {
            logger.warning(
                "a message came back that nobody waits for",
                metadata: ["exchange": "\(exchange)", "routing_key": "\(routingKey)"])
            return
        }
        match.returned = AMQPError(
            .unroutable, "no queue takes what is published to exchange '\(exchange)' with key '\(routingKey)': \(text)",
            replyCode: replyCode)
    }
}
