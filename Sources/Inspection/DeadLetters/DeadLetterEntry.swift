package import AMQP
import Messages
package import SyncModel

/// One message of the dead-letter queue, without what users wrote.
package struct DeadLetterEntry: Sendable, Equatable, Codable {
    /// Counted from the head of the queue, from 1; others' positions change when one is taken out.
    package var position: Int
    package var id: String?
    package var type: String
    package var app: String?
    package var partition: String?
    package var clientFile: FileIdent?
    /// The queue that it died in.
    package var queue: String?
    package var reason: String
    /// Seconds of Unix time at which it was published, as its publisher said.
    package var publishedAt: UInt64?
    package var bytes: Int
    package var text: String

    package init(
        position: Int, id: String?, type: String, app: String?, partition: String?, clientFile: FileIdent?,
        queue: String?,
        reason: String, publishedAt: UInt64?, bytes: Int, text: String
    ) {
        self.position = position
        self.id = id
        self.type = type
        self.app = app
        self.partition = partition
        self.clientFile = clientFile
        self.queue = queue
        self.reason = reason
        self.publishedAt = publishedAt
        self.bytes = bytes
        self.text = text
    }

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

    /// What the broker did by itself it says in headers of its own.
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

/// Which dead letters are meant.
package struct DeadLetterFilter: Sendable, Equatable {
    /// Positions or message ids; empty for all that the rest lets through.
    package var positions: Set<Int>
    package var ids: Set<String>
    package var app: String?
    /// Part of the reason, in any case.
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
