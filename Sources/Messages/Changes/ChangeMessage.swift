import Changesets
package import ExtendedJSON
package import SyncModel

/// The effect of a version on one document, for those who follow the app.
///
/// The JSON form is Extended JSON: the place, and beside it what `DocumentChange` of the module `Documents` has.
package struct ChangeMessage: Message, Equatable {
    package static let type = "change"
    /// The operation that says that a realm is gone with all of its documents.
    package static let erase = "erase"

    package var realm: RealmName
    /// The history that the place is of: another one where the slice was put back, or the app made anew. Nil of workers that do not say.
    package var history: String?
    package var place: ChangePlace
    /// When it was written, by its author's clock; milliseconds of Unix time.
    package var writtenAt: UInt64
    /// `class`, `operation`, `key`, `set`, `removed`, `document`, `omitted`.
    package var change: BSONDocument

    package init(
        realm: RealmName, history: String? = nil, place: ChangePlace, writtenAt: UInt64, change: BSONDocument
    ) {
        self.realm = realm
        self.history = history
        self.place = place
        self.writtenAt = writtenAt
        self.change = change
    }

    package func jsonBody() -> [UInt8] {
        Self.body(
            realm: realm, history: history, place: place, writtenAt: writtenAt,
            change: ExtendedJSONWriter.bytes(of: .document(change)))
    }

    /// - Parameter change: an object that is not empty.
    package static func body(
        realm: RealmName, history: String?, place: ChangePlace, writtenAt: UInt64, change: [UInt8]
    ) -> [UInt8] {
        var head: BSONDocument = ["realm": .document(realm.document)]
        head["history"] = history.map { BSONValue($0) }
        head["generation"] = BSONValue(Int64(clamping: place.generation))
        head["version"] = BSONValue(Int64(clamping: place.version.rawValue))
        head["index"] = BSONValue(Int64(place.index))
        head["writtenAt"] = BSONValue(Int64(clamping: writtenAt))
        var body = ExtendedJSONWriter.bytes(of: .document(head))
        body[body.count - 1] = UInt8(ascii: ",")
        body += change.dropFirst()
        return body
    }

    package init(jsonBody: [UInt8]) throws {
        let body = try DocumentBody(jsonBody, of: Self.type)
        realm = try body.realm("realm")
        history = body.document["history"]?.string?.string
        place = ChangePlace(
            generation: try body.number("generation"), version: ServerVersion(try body.number("version")),
            index: Int(clamping: try body.number("index")))
        writtenAt = try body.number("writtenAt")
        change = body.document
        for key in ["realm", "history", "generation", "version", "index", "writtenAt", "type", "id"] as [ByteString] {
            change[key] = nil
        }
        guard change["operation"]?.string != nil else {
            throw MessageError(messageType: Self.type, reason: "key \"operation\" is missing")
        }
    }

    /// The message's id: the same whenever the change is published.
    package static func id(realm: RealmName, at place: FeedPlace) -> String { "\(realm.topicKey)/\(place)" }
}
