import Changesets
package import ExtendedJSON
package import SyncModel

/// Writes on documents of one realm, as a backend or a shell publishes them: one version, all of them or none.
///
/// The JSON form is Extended JSON: `{"realm": {"app": "tasks", "partition": "store-nw"}, "writes": [...], "onlyIf": {"version": 7}}`. What `writes`
/// and `onlyIf` may be is for the owner to say, since whoever waits for an answer is to hear of a mistake in them.
package struct WriteMessage: Message, Equatable {
    package static let type = "write"

    package var realm: RealmName
    package var writes: BSONValue
    package var onlyIf: BSONValue?
    /// The user for whom it is written; nil: nobody, who may do what an operator may.
    package var author: WriteAuthor?

    package init(realm: RealmName, writes: BSONValue, onlyIf: BSONValue? = nil, author: WriteAuthor? = nil) {
        self.realm = realm
        self.writes = writes
        self.onlyIf = onlyIf
        self.author = author
    }

    /// An owner that knows no authors must not overlook one.
    package var messageVersion: Int64 { author == nil ? MessageVersion.documents : MessageVersion.authors }

    package func jsonBody() -> [UInt8] {
        var body = BSONDocument()
        body["realm"] = .document(realm.document)
        body["writes"] = writes
        body["onlyIf"] = onlyIf
        body["author"] = (author?.document).map { .document($0) }
        return ExtendedJSONWriter.bytes(of: .document(body))
    }

    package init(jsonBody: [UInt8]) throws {
        let body = try DocumentBody(jsonBody, of: Self.type)
        try body.requireKeys(among: ["type", "id", "realm", "writes", "onlyIf", "author"])
        realm = try body.realm("realm")
        writes = try body.value("writes")
        onlyIf = body.document["onlyIf"]
        author = try body.document["author"].map { try WriteAuthor($0, of: Self.type) }
    }
}
