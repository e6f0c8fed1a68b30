/// What a consumer asked for, and where its deliveries go.
struct Subscription: Sendable {
    let queue: String
    let tag: String
    let exclusive: Bool
    let arguments: AMQPTable
    let buffer: DeliveryBuffer
}
