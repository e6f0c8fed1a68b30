package import AMQP
package import SyncModel

/// The names of the exchanges and queues, and the arguments of the queues, which are always the same.
package struct Topology: Sendable, Hashable {
    package var prefix: String
    /// How often a message may return to its queue before the broker dead-letters it.
    package static let deliveryLimit: Int64 = 20

    package init(prefix: String = "sluice") { self.prefix = prefix }

    package var slices: String { "\(prefix).slices" }
    /// The exchange of those who publish events by hand: as `slices`, but what leads nowhere becomes a dead letter. Processes want to hear of it instead.
    package var events: String { "\(prefix).events" }
    package var terminations: String { "\(prefix).terminations" }
    package var realms: String { "\(prefix).realms" }
    package var outcomes: String { "\(prefix).outcomes" }
    /// The routing key, at the exchange of the reports, of what all coordinators hear and nothing keeps.
    package static let figuresKey = "figures"
    package var presence: String { "\(prefix).presence" }
    package var dead: String { "\(prefix).dead" }
    /// The exchange that says whose the others are (`BrokerMark`).
    package var cluster: String { "\(prefix).cluster" }
    /// The exchange that says in which folder the processes have an embedded store (`FolderClaim`).
    package var folder: String { "\(prefix).folder" }
    package func slice(_ number: SliceNumber) -> String { "\(prefix).slice.\(number.value)" }
    package func gateway(_ id: String) -> String { "\(prefix).gateway.\(id)" }
    /// The exclusive queue whose existence proves that a worker lives.
    package func workerAlive(_ id: String) -> String { "\(prefix).worker.\(id)" }

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
