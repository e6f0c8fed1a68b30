/// A message that must arrive and that nothing would make again, in the worker's own encoding. The outbox holds it from the
/// commit that gave rise to it until it has arrived.
package struct OutboxRecord: Sendable, Equatable {
    /// Made up by the slice's owner.
    package var id: String
    package var body: [UInt8]

    package init(id: String, body: [UInt8]) {
        self.id = id
        self.body = body
    }
}
