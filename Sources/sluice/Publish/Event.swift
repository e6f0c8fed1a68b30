import AMQP
import Foundation
import Messages
import SyncModel

/// An event on its way from the shell to the cluster.
enum Event {
    case changeset(ChangesetMessage)
    case reset(ResetMessage)
    case termination(TerminationMessage)

    static func changeset(app: String, partition: String, hex: [String], timestamp: UInt64?) throws -> Event {
        let entries = try hex.map { text in
            guard let bytes = HexBytes(hex: text) else {
                throw CommandFailure(
                    .badInput, "--hex: expected an even number of hexadecimal digits, got \"\(text.prefix(24))\"")
            }
            return UploadedChangeset(timestamp: SyncTimestamp(timestamp ?? 0), changeset: bytes.bytes)
        }
        let realm = RealmName(app: app, partition: RealmName.partition(fromText: partition))
        return .changeset(ChangesetMessage(realm: realm, upload: nil, entries: entries))
    }

    static func reset(app: String, partition: String, clientFile: UInt64?, reason: String?) -> Event {
        let realm = RealmName(app: app, partition: RealmName.partition(fromText: partition))
        return .reset(
            ResetMessage(realm: realm, clientFile: clientFile.map(FileIdent.init), campaign: nil, reason: reason))
    }

    static func termination(app: String, reason: String?) -> Event {
        .termination(TerminationMessage(app: app, campaign: nil, generation: nil, reason: reason))
    }

    /// The exchange and routing key that bring it to the owners concerned.
    func destination(in topology: Topology, slices: SliceCount) -> (exchange: String, routingKey: String) {
        switch self {
        case .changeset(let message): (topology.slices, String(message.realm.slice(of: slices).value))
        case .reset(let message): (topology.slices, String(message.realm.slice(of: slices).value))
        case .termination: (topology.terminations, "")
        }
    }

    /// As JSON, so that what a shell publishes can be read in the queue and compared with the documentation.
    func message(id: String) throws -> AMQPMessage {
        switch self {
        case .changeset(let message): try jsonMessage(message, id: id)
        case .reset(let message): try jsonMessage(message, id: id)
        case .termination(let message): try jsonMessage(message, id: id)
        }
    }

    private func jsonMessage<M: Message>(_ message: M, id: String) throws -> AMQPMessage {
        var properties = AMQPProperties()
        properties.type = M.type
        properties.messageID = id
        properties.timestamp = UInt64(Date().timeIntervalSince1970)
        properties.contentType = ContentType.json
        properties.persistent = true
        return AMQPMessage(body: Array(try JSONEncoder.message.encode(message)), properties: properties)
    }
}

/// One line of events, with its number for errors.
struct EventLine {
    var number: Int
    var text: String

    func decode<M: Message>() throws -> M {
        var message = AMQPMessage(body: Array(text.utf8), properties: AMQPProperties())
        message.properties.contentType = ContentType.json
        do {
            return try message.decode(M.self)
        } catch {
            throw CommandFailure(.badInput, "line \(number): \(error)")
        }
    }

    /// A changeset event; `--app`, `--partition` and `--timestamp` replace what the line says.
    func decodeChangeset(app: String?, partition: String?, timestamp: UInt64?) throws -> ChangesetMessage {
        var text = text
        if let app, let partition,
            var object = try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
        {
            object["realm"] = ["app": app, "partition": partition]
            text = String(decoding: try JSONSerialization.data(withJSONObject: object), as: UTF8.self)
        }
        var message: ChangesetMessage = try EventLine(number: number, text: text).decode()
        if let timestamp {
            for index in message.entries.indices { message.entries[index].timestamp = SyncTimestamp(timestamp) }
        }
        return message
    }
}
