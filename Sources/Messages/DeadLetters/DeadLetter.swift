package import AMQP
import Crypto
package import SyncModel

/// A message in the dead-letter queue, as its headers describe it.
package struct DeadLetter: Sendable, Equatable {
    package static let reasonHeader = "x-sluice-reason"
    package static let queueHeader = "x-sluice-queue"
    package static let typeHeader = "x-sluice-type"
    package static let appHeader = "x-sluice-app"
    package static let partitionHeader = "x-sluice-partition"
    package static let clientFileHeader = "x-sluice-client-file"
    /// When the letter was written, in milliseconds of Unix time.
    package static let timeHeader = "x-sluice-dead-at"
    /// The length of the whole body and its SHA-256; only where the letter has an excerpt.
    package static let lengthHeader = "x-sluice-length"
    package static let digestHeader = "x-sluice-sha256"
    /// The routing key that led nowhere, of a letter that was published again.
    static let strayHeader = "x-sluice-stray"

    /// Names the letter in an operator's commands, at each look the same: 12 hexadecimal digits made of its content. Letters
    /// with one name are copies of each other.
    package var name: String
    package var app: String?
    package var partition: String?
    package var clientFile: FileIdent?
    /// The queue that the message died in.
    package var queue: String?
    package var reason: String
    /// The routing key, of a message that was published where no slice gets it.
    package var strayKey: String?
    /// When the message died, in milliseconds of Unix time; of a message that the broker moved, to the second.
    package var diedAt: UInt64?
    /// The bytes of the body as it was.
    package var length: Int
    /// The bytes of the body that the letter has.
    package var kept: Int

    package var isExcerpt: Bool { kept < length }

    /// - Parameter strayKey: the routing key of a message that came by the exchange of events.
    package init(_ message: AMQPMessage, strayKey: String? = nil) {
        let headers = message.properties.headers
        name = Self.name(of: message)
        app = headers[Self.appHeader]?.stringValue
        partition = headers[Self.partitionHeader]?.stringValue
        clientFile = (headers[Self.clientFileHeader]?.intValue).flatMap { UInt64(exactly: $0) }.map {
            FileIdent(rawValue: $0)
        }
        queue = headers[Self.queueHeader]?.stringValue ?? headers["x-first-death-queue"]?.stringValue
        let stray = headers[Self.strayHeader]?.stringValue ?? strayKey
        self.strayKey = stray
        reason =
            headers[Self.reasonHeader]?.stringValue
            ?? stray.map { "published with the routing key \"\($0.prefix(64))\", which is no slice's number" }
            ?? Self.brokersReason(headers)
        diedAt = (headers[Self.timeHeader]?.intValue).flatMap { UInt64(exactly: $0) } ?? Self.brokersTime(headers)
        kept = message.body.count
        length = max(kept, (headers[Self.lengthHeader]?.intValue).flatMap { Int(exactly: $0) } ?? 0)
    }

    private static func name(of message: AMQPMessage) -> String {
        let properties = message.properties
        var hash = SHA256()
        for part in [
            properties.type, properties.messageID, properties.headers[queueHeader]?.stringValue,
            properties.headers[digestHeader]?.stringValue,
        ] {
            hash.update(data: Array((part ?? "").utf8))
            hash.update(data: [0])
        }
        hash.update(data: message.body)
        return HexBytes(Array(hash.finalize().prefix(6))).hex
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

    private static func brokersTime(_ headers: AMQPTable) -> UInt64? {
        guard case .array(let deaths)? = headers["x-death"], case .table(let death)? = deaths.first,
            case .timestamp(let seconds)? = death["time"]
        else { return nil }
        return seconds.multipliedReportingOverflow(by: 1_000).partialValue
    }
}
