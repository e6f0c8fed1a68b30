package import AMQP
package import SyncModel

/// A message that a batch gives rise to; published once the batch is durable.
package struct Publication: Sendable {
    package enum Target: Sendable, Hashable {
        /// A gateway's queue, by its name; dropped if the gateway is gone.
        case queue(String)
        /// The realm topic, with its routing key. Must reach the broker: nobody would miss the last notice of a realm until
        /// its next change.
        case realms(key: String)
        /// The coordinator's queue. Must arrive.
        case outcomes
        /// The exchange of changes, with their routing key. Must arrive, in order.
        case changes(key: String)
        /// The dead-letter exchange. Must arrive.
        case dead
        /// The queue of the slice that a message belongs to. Must arrive.
        case slice(SliceNumber)
    }

    package var target: Target
    package var message: AMQPMessage
    /// The id of the store's record that keeps the message until it has arrived; nil if the message's cause would make it
    /// again.
    var outboxID: String?
    /// How many changes it tells those who follow an app.
    var changes = 0

    package init(_ target: Target, _ message: AMQPMessage) {
        self.target = target
        self.message = message
    }

    /// Whether the delivery that caused it may be acknowledged although this was not confirmed.
    ///
    /// - Parameter attempt: how often it was tried before. All slices share a channel: one that the broker closed may not have
    ///   been closed for this message.
    package func isExpendable(after error: AMQPError, attempt: Int) -> Bool {
        switch target {
        case .queue: true
        case .realms:
            // What the broker has turned down it would turn down again.
            switch error.code {
            case .connectFailed, .connectionLost, .channelClosed, .timeout, .blocked: false
            default: attempt > 0
            }
        case .outcomes, .changes, .dead, .slice: false
        }
    }

    /// Whether the broker is to say if it finds no queue: there always is one, but where the broker's metadata are damaged, as after a fault between its
    /// nodes. The broker names the message by its id, so one without an id, as a dead letter may be, is published as it is.
    package var isMandatory: Bool {
        switch target {
        case .outcomes, .dead, .slice: message.properties.messageID != nil
        // A gateway may be gone, a realm may have no session, an app no feed.
        case .queue, .realms, .changes: false
        }
    }

    /// Whether it tells changes to those who follow an app.
    var isChange: Bool { if case .changes = target { true } else { false } }
}
