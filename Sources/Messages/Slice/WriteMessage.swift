package import Changesets
package import ExtendedJSON
package import SyncModel

/// Writes on documents of one realm, as a backend or a shell publishes them: one version, all of them or none.
///
/// The JSON form is Extended JSON: `{"realm": {"app": "tasks", "partition": "store-nw"}, "writes": [...], "onlyIf": {"version": 7}}`. What `writes`
/// and `onlyIf` may be is for the owner to say, since whoever waits for an answer is to hear of a mistake in them. Where the realm is
/// `{"app": "tasks", "partitionKey": "store"}` the documents say their partition by that property.
package struct WriteMessage: Message, Equatable {
    package static let type = "write"

    package var realm: RealmName
    /// The property by which the documents themselves say their partition; nil where the realm is named. A class that has no such property goes
    /// without.
    package var partitionKey: ByteString?
    package var writes: BSONValue
    package var onlyIf: BSONValue?
    /// The user for whom it is written; nil: nobody, who may do what an operator may.
    package var author: WriteAuthor?

    package init(
        realm: RealmName, partitionKey: ByteString? = nil, writes: BSONValue, onlyIf: BSONValue? = nil,
        author: WriteAuthor? = nil
    ) {
        self.realm = realm
        self.partitionKey = partitionKey
        self.writes = writes
        self.onlyIf = onlyIf
        self.author = author
    }

    /// An owner that knows no authors must not overlook one.
    package var messageVersion: Int64 { author == nil ? MessageVersion.documents : MessageVersion.authors }

    package func jsonBody() -> [UInt8] {
        var body = BSONDocument()
        body["realm"] =
            partitionKey.map { ["app": BSONValue(realm.app), "partitionKey": .string($0)] } ?? .document(realm.document)
        body["writes"] = writes
        body["onlyIf"] = onlyIf
        body["author"] = (author?.document).map { .document($0) }
        return ExtendedJSONWriter.bytes(of: .document(body))
    }

    package init(jsonBody: [UInt8]) throws {
        let body = try DocumentBody(jsonBody, of: Self.type)
        try body.requireKeys(among: ["type", "id", "realm", "writes", "onlyIf", "author"])
        writes = try body.value("writes")
        (realm, partitionKey) = try Self.realm(of: writes, body)
        onlyIf = body.document["onlyIf"]
        author = try body.document["author"].map { try WriteAuthor($0, of: Self.type) }
    }

    private static func realm(
        of writes: BSONValue, _ body: DocumentBody
    ) throws(MessageError) -> (RealmName, ByteString?) {
        guard let given = try body.value("realm").document, let key = given["partitionKey"] else {
            return (try body.realm("realm"), nil)
        }
        guard let app = given["app"]?.string?.string, let key = key.string, given.count == 2 else {
            throw MessageError(
                messageType: type, reason: "\"realm\": expected app and, as a text, partitionKey, and nothing else")
        }
        return (try PartitionOfWrites.realm(of: app, by: key, writes), key)
    }
}
