import Changesets
import ExtendedJSON
package import SyncModel

/// Changes of one realm with the same class and operation, one behind the other: what versions that were committed together did to documents, for
/// those who follow the app.
///
/// The JSON form is Extended JSON: `{"realm": ..., "history": ..., "changes": [...]}`, each change with its place and beside it what `DocumentChange`
/// of the module `Documents` has.
package struct ChangesMessage: Message, Equatable {
    package static let type = "changes"

    package var realm: RealmName
    package var history: String?
    package var changes: [FeedChange]

    /// - Parameter changes: at least one, all of one realm and one history.
    package init(realm: RealmName, history: String?, changes: [FeedChange]) {
        self.realm = realm
        self.history = history
        self.changes = changes
    }

    package func jsonBody() -> [UInt8] {
        Self.body(realm: realm, history: history, elements: changes.map { $0.element() })
    }

    /// - Parameter elements: as `FeedChange.element` makes them.
    package static func body(realm: RealmName, history: String?, elements: some Collection<[UInt8]>) -> [UInt8] {
        var bytes = FeedChange.head(realm: realm, history: history)
        bytes.reserveCapacity(bytes.count + elements.reduce(16) { $0 + $1.count + 1 })
        bytes.removeLast()
        bytes += ",\"changes\":[".utf8
        for (position, element) in elements.enumerated() {
            if position > 0 { bytes.append(UInt8(ascii: ",")) }
            bytes += element
        }
        bytes += "]}".utf8
        return bytes
    }

    package init(jsonBody: [UInt8]) throws {
        let body = try DocumentBody(jsonBody, of: Self.type)
        let (realm, history) = (try body.realm("realm"), body.document["history"]?.string?.string)
        guard let elements = try body.value("changes").array, !elements.isEmpty else {
            throw MessageError(messageType: Self.type, reason: "\"changes\": expected at least one change")
        }
        self.init(realm: realm, history: history, changes: [])
        for element in elements {
            guard let element = element.document else {
                throw MessageError(messageType: Self.type, reason: "\"changes\": expected objects")
            }
            changes.append(try FeedChange(element, of: realm, history: history))
        }
    }

    /// The message's id, by its first change: the same whenever the message is published.
    package static func id(realm: RealmName, at place: FeedPlace) -> String { "\(realm.topicKey)/\(place)" }
}
