package import AMQP
package import SyncModel

/// The names of the exchanges and queues, and their declarations with always the same arguments.
package struct Topology: Sendable, Hashable {
    package var prefix: String
    /// How often a message may return to its queue before the broker dead-letters it.
    package static let deliveryLimit: Int64 = 20

    package init(prefix: String = "sluice") { self.prefix = prefix }

    package var slices: String { "\(prefix).slices" }
    package var terminations: String { "\(prefix).terminations" }
    package var realms: String { "\(prefix).realms" }
    package var outcomes: String { "\(prefix).outcomes" }
    package var presence: String { "\(prefix).presence" }
    package var dead: String { "\(prefix).dead" }
    /// The exchange that says whose the others are (`BrokerMark`).
    package var cluster: String { "\(prefix).cluster" }
    package func slice(_ number: SliceNumber) -> String { "\(prefix).slice.\(number.value)" }
    package func gateway(_ id: String) -> String { "\(prefix).gateway.\(id)" }
    /// The exclusive queue whose existence proves that a worker lives.
    package func workerAlive(_ id: String) -> String { "\(prefix).worker.\(id)" }

    /// Declares everything that outlives processes. Any process may do so, any number of times.
    package func declareShared(on channel: AMQPChannel, slices count: SliceCount) async throws {
        try await channel.declareExchange(slices, type: .direct)
        try await channel.declareExchange(terminations, type: .fanout)
        try await channel.declareExchange(realms, type: .topic)
        try await channel.declareExchange(outcomes, type: .direct)
        try await channel.declareExchange(presence, type: .fanout)
        try await channel.declareExchange(dead, type: .fanout)
        _ = try await channel.declareQueue(
            AMQPQueueDeclaration(name: dead, durable: true, arguments: deadQueueArguments))
        try await channel.bindQueue(dead, exchange: dead, routingKey: "")
        _ = try await channel.declareQueue(
            AMQPQueueDeclaration(name: outcomes, durable: true, arguments: ownedQueueArguments))
        try await channel.bindQueue(outcomes, exchange: outcomes, routingKey: "")
        for number in count.all {
            _ = try await channel.declareQueue(
                AMQPQueueDeclaration(name: slice(number), durable: true, arguments: ownedQueueArguments))
            try await channel.bindQueue(slice(number), exchange: slices, routingKey: String(number.value))
            try await channel.bindQueue(slice(number), exchange: terminations, routingKey: "")
        }
    }

    package var deadQueueArguments: AMQPTable { ["x-queue-type": "quorum"] }

    /// The arguments of the queues with one consumer at a time: the slices and the outcomes.
    package var ownedQueueArguments: AMQPTable {
        [
            "x-queue-type": "quorum",
            "x-single-active-consumer": true,
            "x-delivery-limit": .int(Self.deliveryLimit),
            "x-dead-letter-exchange": .string(dead),
            "x-dead-letter-strategy": "at-least-once",
            "x-overflow": "reject-publish",
        ]
    }
}
