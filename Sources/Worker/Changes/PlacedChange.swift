import Messages
import SyncModel

/// A change with its place, ready to be told.
struct PlacedChange: Equatable {
    var routingKey: String
    var place: FeedPlace
    /// The JSON that `FeedChange.element` makes.
    var element: [UInt8]
}

/// Changes of one realm that one message tells.
struct ToldChangesMessage: Equatable {
    /// How many changes a message tells at most, and about how many bytes where there are several: whoever follows holds some messages at once.
    static let maxCount = 500
    static let maxBytes = 256 << 10

    var routingKey: String
    /// The message's id.
    var id: String
    var body: [UInt8]
    /// How many changes it tells.
    var count: Int

    /// The bytes that the message takes in a record.
    var size: Int { routingKey.utf8.count + id.utf8.count + body.count + 16 }

    /// Puts changes that follow each other and go the same way into messages, in their order.
    static func messages(of changes: [PlacedChange], in realm: RealmName) -> [ToldChangesMessage] {
        var messages: [ToldChangesMessage] = []
        var rest = changes[...]
        while let first = rest.first {
            var bytes = 0
            let end =
                rest.indices.first { index in
                    let change = rest[index]
                    bytes += change.element.count
                    return change.routingKey != first.routingKey || change.place.history != first.place.history
                        || index - rest.startIndex >= maxCount || index > rest.startIndex && bytes > maxBytes
                } ?? rest.endIndex
            messages.append(
                ToldChangesMessage(
                    routingKey: first.routingKey, id: ChangesMessage.id(realm: realm, at: first.place),
                    body: ChangesMessage.body(
                        realm: realm, history: first.place.history, elements: rest[..<end].lazy.map(\.element)),
                    count: end - rest.startIndex))
            rest = rest[end...]
        }
        return messages
    }
}
