import AMQP
import Changesets
import Documents
import ExtendedJSON
import Foundation
import Messages
import SyncModel

/// An event on its way from the shell to the cluster.
struct Event {
    var content: any Message
    /// The realm whose owner gets the event; nil for an event that goes to the owners of all slices.
    var realm: RealmName?
    var app: String

    init(_ message: ChangesetMessage) {
        content = message
        realm = message.realm
        app = message.realm.app
    }

    init(_ message: WriteMessage) {
        content = message
        realm = message.realm
        app = message.realm.app
    }

    init(_ message: ResetMessage) {
        content = message
        realm = message.realm
        app = message.realm.app
    }

    init(_ message: TerminationMessage) {
        content = message
        app = message.app
    }

    /// Whether the realm's owner answers whoever waits for the event.
    var isAnswered: Bool { content is ChangesetMessage || content is WriteMessage }

    /// The campaign that accounts for the event.
    ///
    /// - Parameter id: the event's own, by which it is known if it names no campaign.
    func campaign(id: String) -> String? {
        switch content {
        case let message as TerminationMessage: message.campaign ?? id
        case let message as ResetMessage: message.campaign ?? id
        default: nil
        }
    }

    /// What the event does that nobody can undo: it makes clients reset, or takes away what all objects of a class have.
    var destruction: String? {
        switch content {
        case let message as ChangesetMessage:
            message.erasedSchema.map { "erasing \($0) of a realm of app \(app), with all that is in it," }
        case let message as WriteMessage:
            (try? WriteBatch(writes: message.writes, onlyIf: message.onlyIf))?.emptiedClass.map {
                "deleting all objects of class \($0) in a realm of app \(app)"
            }
        case is TerminationMessage: "a termination of app \(app)"
        case let message as ResetMessage:
            message.clientFile.map { "a reset of client file \($0) of app \(app)" }
                ?? "a reset of a realm of app \(app)"
        default: nil
        }
    }

    /// The exchange and routing key that bring the event to the owners concerned.
    func destination(in topology: Topology, slices: SliceCount) -> (exchange: String, routingKey: String) {
        realm.map { (topology.slices, String($0.slice(of: slices).value)) } ?? (topology.terminations, "")
    }

    /// Returns the event as a JSON message, so that what a shell publishes can be read in the queue and compared with
    /// the documentation.
    ///
    /// - Parameter replyTo: the queue in which its sender waits for an answer.
    func message(id: String, replyTo: String? = nil) throws -> AMQPMessage {
        let properties = AMQPProperties(
            type: type(of: content).type, messageID: id, correlationID: replyTo.map { _ in id }, replyTo: replyTo,
            timestamp: UInt64(Date().timeIntervalSince1970),
            contentType: ContentType.json)
        return AMQPMessage(body: try content.jsonBody(), properties: properties)
    }
}

/// One line of events, with its number for errors.
struct EventLine {
    var number: Int
    var text: String

    /// The event's own id, as in a body that any AMQP tool publishes.
    var id: String? {
        get throws {
            struct Named: Decodable { var id: String? }
            do {
                return try JSONDecoder().decode(Named.self, from: Data(text.utf8)).id
            } catch {
                throw CommandFailure(
                    .badInput, "line \(number): expected a JSON object, and a text as its id if it has one")
            }
        }
    }

    func decode<M: Message>() throws -> M {
        let properties = AMQPProperties(contentType: ContentType.json)
        do {
            return try AMQPMessage(body: text, properties: properties).decode(M.self)
        } catch {
            throw CommandFailure(.badInput, "line \(number): \(error)")
        }
    }

    /// A changeset event; the arguments that name a realm and `--timestamp` replace what the line says. Each changeset is hexadecimal, or an array
    /// of instructions.
    func decodeChangeset(realm: RealmName?, timestamp: UInt64?) throws -> ChangesetMessage {
        var text = text
        let instructions = (try? ExtendedJSONParser.parseDocument(Array(text.utf8)))?["changesets"]?.array ?? []
        let isMade = instructions.contains { $0.array != nil }
        if isMade || realm != nil,
            var object = try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
        {
            if let realm {
                object["realm"] =
                    realm.isFlexible
                    ? ["app": realm.app, "flexible": true] : ["app": realm.app, "partition": realm.partition]
            }
            if isMade {
                object["changesets"] = try instructions.enumerated().map { index, changeset in
                    guard let made = changeset.array else { return changeset.string?.string ?? "" }
                    let place = "line \(number): changesets[\(index)]"
                    return HexBytes(try ChangesetText.bytes(of: made, in: place)).hex
                }
            }
            text = String(decoding: try JSONSerialization.data(withJSONObject: object), as: UTF8.self)
        }
        var message: ChangesetMessage = try EventLine(number: number, text: text).decode()
        try message.requireChangesets(in: "line \(number)")
        if let timestamp {
            for index in message.entries.indices { message.entries[index].timestamp = SyncTimestamp(timestamp) }
        }
        return message
    }
}

extension WriteBatch {
    /// The first class of which a write deletes everything.
    var emptiedClass: String? {
        for write in writes {
            if case .delete(.filter(let filter, many: true)) = write.operation, filter.isEmpty {
                return write.className.string
            }
        }
        return nil
    }
}

extension ChangesetMessage {
    /// The first class or property that the changesets take away.
    fileprivate var erasedSchema: String? {
        for changeset in entries.lazy.compactMap({ try? Changeset(parsing: $0.changeset) }) {
            for instruction in changeset.instructions {
                switch instruction {
                case .eraseTable(let table): return "class \(changeset.strings[table]?.string ?? "")"
                case .eraseColumn(let table, let field):
                    return "\(changeset.strings[table]?.string ?? "").\(changeset.strings[field]?.string ?? "")"
                default: continue
                }
            }
        }
        return nil
    }

    /// - Parameter place: where they were given.
    /// - Throws: `badInput` for what no worker could read: it would go to the dead letters.
    func requireChangesets(in place: String) throws {
        for (number, entry) in entries.enumerated() {
            do {
                _ = try Changeset(parsing: entry.changeset)
            } catch {
                throw CommandFailure(.badInput, "\(place): changeset \(number + 1) is none: \(error)")
            }
        }
    }
}
