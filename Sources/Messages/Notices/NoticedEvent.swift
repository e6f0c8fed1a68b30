package import AMQP
package import SyncModel

/// A published event of which a commit made versions: the notice of the commit names it in a header, which processes that do not know
/// of it pass over.
package struct NoticedEvent: Codable, Sendable, Equatable {
    /// The event's message id.
    package var id: String
    /// The last version that it made.
    package var version: ServerVersion

    package init(id: String, version: ServerVersion) {
        self.id = id
        self.version = version
    }

    static let header = "x-sluice-events"
    /// The events that a notice names: what there are more of, the history has.
    package static let most = 50

    /// The events of versions in their order.
    package static func all(of versions: some Sequence<(ServerVersion, String)>) -> [NoticedEvent] {
        var events: [NoticedEvent] = []
        for (version, id) in versions where !id.isEmpty {
            if events.last?.id == id {
                events[events.count - 1].version = version
            } else if events.count < most {
                events.append(NoticedEvent(id: id, version: version))
            }
        }
        return events
    }
}

extension AMQPMessage {
    package mutating func note(_ events: [NoticedEvent]) {
        guard !events.isEmpty else { return }
        properties.headers[NoticedEvent.header] = .array(
            events.map {
                .table(["id": .string($0.id), "version": .int(Int64(clamping: $0.version.rawValue))])
            })
    }

    /// The events that the message names; none if it names none, or in a way that is not known.
    package var notedEvents: [NoticedEvent] {
        guard case .array(let values) = properties.headers[NoticedEvent.header] else { return [] }
        return values.prefix(NoticedEvent.most).compactMap { value in
            guard case .table(let table) = value, let id = table["id"]?.stringValue,
                let version = table["version"]?.intValue.flatMap({ UInt64(exactly: $0) })
            else { return nil }
            return NoticedEvent(id: id, version: ServerVersion(version))
        }
    }
}
