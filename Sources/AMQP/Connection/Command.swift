import Loops

/// The name of a channel between the API and the connection's thread. Unlike the number on the wire, it is never used
/// again.
struct ChannelID: Hashable, Sendable {
    var value: UInt64
}

/// Something that the API asks of a connection's thread.
enum Command: Sendable {
    case publish(ChannelID, PendingPublish)
    case publishBatch(ChannelID, [PendingPublish])
    case acknowledge(ChannelID, Acknowledgement)
    case request(ChannelID, ChannelRequest)
    case openChannel(ChannelOpening)
    case dropConsumer(ChannelID, Subscription)
    case connected(ConnectOutcome)
    case stop
}

/// A channel to open, and the caller that waits for it.
struct ChannelOpening: Sendable {
    let id: ChannelID
    let prefetch: UInt16
    let confirms: Bool
    let deadline: Monotonic
    let continuation: CheckedContinuation<Result<UInt16, AMQPError>, Never>
}

/// An answer to one or more deliveries.
struct Acknowledgement: Sendable {
    enum Kind: Sendable {
        case ack
        /// This delivery and all earlier ones of its consumer.
        case ackUpTo
        case reject(requeue: Bool)
    }

    let kind: Kind
    let tag: UInt64
    /// The opening of the channel that the tag belongs to; each opening counts its tags from 1.
    let epoch: UInt64
    /// Nil for a message that `get` has fetched.
    let consumerTag: String?

    init(_ kind: Kind, _ delivery: AMQPDelivery) {
        self.kind = kind
        tag = delivery.deliveryTag
        epoch = delivery.epoch
        consumerTag = delivery.consumerTag
    }
}
