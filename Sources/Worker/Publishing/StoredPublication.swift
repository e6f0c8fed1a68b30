import AMQP
import Foundation

/// A publication as the outbox keeps it.
struct StoredPublication: Codable {
    enum Target: String, Codable { case outcomes, dead }

    /// The values that headers can have.
    indirect enum Value: Codable {
        case bool(Bool)
        case int(Int64)
        case double(Double)
        case string(String)
        case bytes(Data)
        case timestamp(UInt64)
        case array([Value])
        case table([String: Value])
        case void
    }

    var target: Target
    var body: Data
    var type: String?
    var messageID: String?
    var correlationID: String?
    var replyTo: String?
    var timestamp: UInt64?
    var contentType: String?
    var contentEncoding: String?
    var appID: String?
    var headers: [String: Value]

    /// Nil for what a gateway or another slice is to get: that is asked for again.
    init?(_ publication: Publication) {
        switch publication.target {
        case .outcomes: target = .outcomes
        case .dead: target = .dead
        case .queue, .realms, .slice, .changes: return nil
        }
        let properties = publication.message.properties
        body = Data(publication.message.body)
        type = properties.type
        messageID = properties.messageID
        correlationID = properties.correlationID
        replyTo = properties.replyTo
        timestamp = properties.timestamp
        contentType = properties.contentType
        contentEncoding = properties.contentEncoding
        appID = properties.appID
        headers = properties.headers.mapValues(Value.init)
    }

    init(decoding bytes: [UInt8]) throws { self = try JSONDecoder().decode(Self.self, from: Data(bytes)) }

    func encoded() throws -> [UInt8] { Array(try JSONEncoder().encode(self)) }

    var publication: Publication {
        let properties = AMQPProperties(
            type: type, messageID: messageID, correlationID: correlationID, replyTo: replyTo, timestamp: timestamp,
            contentType: contentType, contentEncoding: contentEncoding, headers: headers.mapValues(\.amqp), appID: appID
        )
        let message = AMQPMessage(body: Array(body), properties: properties)
        return Publication(target == .outcomes ? .outcomes : .dead, message)
    }
}

extension StoredPublication.Value {
    init(_ value: AMQPValue) {
        switch value {
        case .bool(let value): self = .bool(value)
        case .int(let value): self = .int(value)
        case .double(let value): self = value.isFinite ? .double(value) : .void
        case .string(let value): self = .string(value)
        case .bytes(let value): self = .bytes(Data(value))
        case .timestamp(let value): self = .timestamp(value)
        case .array(let values): self = .array(values.map(Self.init))
        case .table(let values): self = .table(values.mapValues(Self.init))
        case .void: self = .void
        }
    }

    var amqp: AMQPValue {
        switch self {
        case .bool(let value): .bool(value)
        case .int(let value): .int(value)
        case .double(let value): .double(value)
        case .string(let value): .string(value)
        case .bytes(let value): .bytes(Array(value))
        case .timestamp(let value): .timestamp(value)
        case .array(let values): .array(values.map(\.amqp))
        case .table(let values): .table(values.mapValues(\.amqp))
        case .void: .void
        }
    }
}
