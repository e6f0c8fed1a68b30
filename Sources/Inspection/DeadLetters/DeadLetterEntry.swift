package import AMQP
import Messages
package import SyncModel

/// One message of the dead-letter queue, without what users wrote.
package struct DeadLetterEntry: Sendable, Equatable, Codable {
    /// The position in the queue, from 1 at the head. It changes when a letter before it is removed.
    package var position: Int
    package var id: String?
    package var type: String
    package var app: String?
    package var partition: String?
    package var clientFile: FileIdent?
    /// The queue that the message died in.
    package var queue: String?
    package var reason: String
    /// When the publisher says that it published the message, in seconds of Unix time.
    package var publishedAt: UInt64?
    package var bytes: Int
    package var text: String
}

extension DeadLetterEntry {
    package init(_ delivery: AMQPDelivery, position: Int, slices: SliceCount) {
        let properties = delivery.message.properties
        let headers = properties.headers
        let summary = MessageSummary(delivery.message, slices: slices)
        self.position = position
        id = summary.id
        type = summary.type
        app = headers[DeadLetter.appHeader]?.stringValue ?? summary.app
        partition = summary.partition
        clientFile = summary.clientFile
        queue = headers[DeadLetter.queueHeader]?.stringValue ?? headers["x-first-death-queue"]?.stringValue
        reason = headers[DeadLetter.reasonHeader]?.stringValue ?? Self.brokersReason(headers)
        publishedAt = properties.timestamp
        bytes = summary.bytes
        text = summary.text
    }

    /// Why the broker itself moved the message here, by the headers that it adds.
    private static func brokersReason(_ headers: AMQPTable) -> String {
        switch headers["x-first-death-reason"]?.stringValue {
        case "delivery_limit": "delivered \(Topology.deliveryLimit) times without success (the broker's delivery limit)"
        case "rejected": "rejected"
        case "expired": "expired"
        case "maxlen": "pushed out of a full queue"
        case let other?: other
        case nil: "unknown"
        }
    }
}

/// The dead letters that a command is about.
package struct DeadLetterFilter: Sendable, Equatable {
    /// Positions and message ids; if both are empty, every letter that passes the other conditions.
    package var positions: Set<Int>
    package var ids: Set<String>
    package var app: String?
    /// A part of the reason, in upper or lower case.
    package var reason: String?
    package var type: String?

    package init(
        positions: Set<Int> = [], ids: Set<String> = [], app: String? = nil, reason: String? = nil, type: String? = nil
    ) {
        self.positions = positions
        self.ids = ids
        self.app = app
        self.reason = reason
        self.type = type
    }

    package func accepts(_ entry: DeadLetterEntry) -> Bool {
        let isNamed =
            positions.isEmpty && ids.isEmpty
            || positions.contains(entry.position) || entry.id.map { ids.contains($0) } == true
        return isNamed && (app == nil || entry.app == app) && (type == nil || entry.type == type)
            && (reason == nil || entry.reason.lowercased().contains(reason?.lowercased() ?? ""))
    }
}
