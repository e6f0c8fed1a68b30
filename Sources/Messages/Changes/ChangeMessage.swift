import Changesets
package import ExtendedJSON
package import SyncModel

/// What a version did to one document, for those who follow the app.
///
/// The JSON form is Extended JSON: the place, and beside it what `DocumentChange` of the module `Documents` has.
package struct ChangeMessage: Message, Equatable {
    package static let type = "change"
    /// The operation that says that a realm is gone with all of its documents.
    package static let erase = "erase"

    package var realm: RealmName
    package var place: ChangePlace
    /// When it was written, by its author's clock; milliseconds of Unix time.
    package var writtenAt: UInt64
    /// `class`, `operation`, `key`, `set`, `removed`, `document`, `omitted`.
    package var change: BSONDocument

    package init(realm: RealmName, place: ChangePlace, writtenAt: UInt64, change: BSONDocument) {
        self.realm = realm
        self.place = place
        self.writtenAt = writtenAt
        self.change = change
    }

    package func jsonBody() -> [UInt8] {
        Self.body(
            realm: realm, place: place, writtenAt: writtenAt, change: ExtendedJSONWriter.bytes(of: .document(change)))
    }

    /// - Parameter change: an object that is not empty.
    package static func body(realm: RealmName, place: ChangePlace, writtenAt: UInt64, change: [UInt8]) -> [UInt8] {
        let head: BSONDocument = [
            "realm": .document(realm.document), "generation": BSONValue(Int64(clamping: place.generation)),
            "version": BSONValue(Int64(clamping: place.version.rawValue)), "index": BSONValue(Int64(place.index)),
            "writtenAt": BSONValue(Int64(clamping: writtenAt)),
        ]
        var body = ExtendedJSONWriter.bytes(of: .document(head))
        body[body.count - 1] = UInt8(ascii: ",")
        body += change.dropFirst()
        return body
    }

    package init(jsonBody: [UInt8]) throws {
        let body = try DocumentBody(jsonBody, of: Self.type)
        realm = try body.realm("realm")
        place = ChangePlace(
            generation: try body.number("generation"), version: ServerVersion(try body.number("version")),
            index: Int(clamping: try body.number("index")))
        writtenAt = try body.number("writtenAt")
        change = body.document
        for key in ["realm", "generation", "version", "index", "writtenAt", "type", "id"] as [ByteString] {
            change[key] = nil
        }
        guard change["operation"]?.string != nil else {
            throw MessageError(messageType: Self.type, reason: "key \"operation\" is missing")
        }
    }

    /// The message's id: the same whenever the change is published.
    package static func id(realm: RealmName, place: ChangePlace) -> String { "\(realm.topicKey)/\(place)" }
}
