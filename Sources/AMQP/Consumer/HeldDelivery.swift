/// A delivery that waits for its consumer; its body may be in a spool's file.
struct HeldDelivery: Sendable {
    private var delivery: AMQPDelivery
    private let place: AMQPSpool.Place?
    /// The length of the body.
    let bytes: Int

    init(_ delivery: AMQPDelivery, spool: AMQPSpool?) {
        bytes = delivery.message.body.count
        place = spool?.take(delivery.message.body)
        self.delivery = delivery
        if place != nil { self.delivery.message.body = [] }
    }

    /// The delivery with its body; it is held no more.
    func taken(from spool: AMQPSpool?) async throws(AMQPError) -> AMQPDelivery {
        guard let spool else { return delivery }
        defer { drop(from: spool) }
        guard let place else { return delivery }
        var whole = delivery
        whole.message.body = try await spool.read(place)
        return whole
    }

    /// The delivery, perhaps without its body; it is held no more.
    @discardableResult
    func drop(from spool: AMQPSpool?) -> AMQPDelivery {
        if let place { spool?.free(place) } else { spool?.released(bytes) }
        return delivery
    }
}
