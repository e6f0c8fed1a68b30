/// A consumer's request to the broker, and the buffer for its deliveries.
struct Subscription: Sendable {
    let queue: String
    let tag: String
    let exclusive: Bool
    let arguments: AMQPTable
    let buffer: DeliveryBuffer
}
