import CRabbitMQ
import Logging

// Publishing and its confirms.
extension ChannelState {
    /// The channel stops writing messages while this many bytes wait for the socket.
    private static let highWater = 1 << 20

    /// Whether a message that waits can be written now.
    private var canPublish: Bool {
        guard case .open = phase, flows, loop.blocked == nil, loop.output.count < Self.highWater else { return false }
        return !confirms || outgoing.unconfirmedCount < loop.link.configuration.maxOutstandingConfirms
    }

    /// Whether messages can still be published, now or once the channel is open.
    var takesPublishes: Bool {
        switch phase {
        case .closing, .closed: false
        case .detached, .opening, .open, .waiting, .reopening: true
        }
    }

    /// Takes messages to publish; `pump` writes them.
    func enqueue(_ publishes: some Sequence<PendingPublish>) {
        outgoing.add(publishes)
        loop.wantsToPublish(self)
        loop.armDeadlines()
    }

    /// Writes what waits, as far as the socket, the broker and the limit on confirms allow.
    func pump() {
        while canPublish, let publish = outgoing.takeNext() {
            loop.output.append(publish.head)
            loop.output.appendBody(publish.body, channel: number)
            publish.body = []
            loop.statistics.published += 1
            if confirms {
                outgoing.awaitConfirm(of: publish)
            } else {
                publish.resolve(nil)
            }
        }
    }

    /// Takes a confirm: the broker took responsibility for messages, or refused them.
    func confirmed(_ tag: UInt64, multiple: amqp_boolean_t, refused: Bool) throws(AMQPError) {
        // After the channel was told to close, no caller waits for confirms.
        if case .closing = phase { return }
        let count = try outgoing.confirm(tag, multiple: multiple != 0, refused: refused)
        if refused {
            loop.statistics.refused += count
            wasRefused()
        } else {
            loop.statistics.confirmed += count
        }
        loop.wantsToPublish(self)
    }

    /// Takes back a mandatory message that no queue takes.
    func returned(_ content: IncomingContent, replyCode: Int, text: String) {
        loop.statistics.returned += 1
        let (exchange, key) = (content.exchange, content.routingKey)
        let error = AMQPError(
            .unroutable, "no queue takes what is published to exchange '\(exchange)' with key '\(key)': \(text)",
            replyCode: replyCode)
        guard outgoing.markReturned(id: content.message.properties.messageID, exchange: exchange, error) else {
            logger.warning(
                "a message came back that nobody waits for",
                metadata: ["exchange": "\(exchange)", "routing_key": "\(key)"])
            return
        }
    }
}
