import Changesets
package import ExtendedJSON
package import SyncModel

/// Answers an event that wrote to a realm: the event is durable.
package struct WrittenAnswer: Message, Equatable {
    package static let type = "written"

    /// The result of one write of a `write` message.
    package struct Result: Sendable, Equatable {
        /// How many objects the write found.
        package var matched: Int
        /// How many objects are not what they were.
        package var modified: Int
        /// The primary key of the object that the write has made.
        package var inserted: BSONValue?

        package init(matched: Int, modified: Int, inserted: BSONValue?) {
            self.matched = matched
            self.modified = modified
            self.inserted = inserted
        }
    }

    package var realm: RealmName
    /// The realm's version that has it all.
    package var version: ServerVersion
    /// The results of the writes in their order; empty for changesets, and for a repetition.
    package var results: [Result]
    /// An event with the message id had its effect before; this one had none.
    package var isRepetition: Bool
    /// The classes and properties that the documents have made, in words; nil if they have made none.
    package var declared: [String]?

    package init(
        realm: RealmName, version: ServerVersion, results: [Result] = [], isRepetition: Bool = false,
        declared: [String]? = nil
    ) {
        self.declared = declared
        self.realm = realm
        self.version = version
        self.results = results
        self.isRepetition = isRepetition
    }

    package func jsonBody() -> [UInt8] {
        var body: BSONDocument = [
            "realm": .document(realm.document), "version": BSONValue(Int64(clamping: version.rawValue)),
            "results": .array(results.map(\.document)), "isRepetition": .bool(isRepetition),
        ]
        body["declared"] = declared.map { .array($0.map { BSONValue($0) }) }
        return ExtendedJSONWriter.bytes(of: .document(body))
    }

    package init(jsonBody: [UInt8]) throws {
        let body = try DocumentBody(jsonBody, of: Self.type)
        realm = try body.realm("realm")
        version = ServerVersion(try body.number("version"))
        isRepetition = try body.value("isRepetition").bool ?? false
        declared = body.document["declared"]?.array?.compactMap { $0.string?.string }
        results = try (try body.value("results").array ?? []).map { result in
            let result = DocumentBody(result.document ?? [:], of: Self.type)
            return Result(
                matched: Int(try result.number("matched")), modified: Int(try result.number("modified")),
                inserted: result.document["inserted"])
        }
    }
}

extension WrittenAnswer.Result {
    /// The result as an answer has it.
    package var document: BSONValue {
        var document: BSONDocument = ["matched": BSONValue(Int64(matched)), "modified": BSONValue(Int64(modified))]
        document["inserted"] = inserted
        return .document(document)
    }
}

/// Answers an event that was not written: the realm is as it was, and the event is not kept anywhere.
package struct WriteRefusedAnswer: CodableMessage, Equatable {
    package static let type = "write-refused"

    package var realm: RealmName
    /// Why, in a word: of a `write` those of docs/documents.md, `unusable` for changesets.
    package var code: String
    /// Why, with the place in the message, in a sentence for a person.
    package var reason: String
    /// The index of the write at fault, counted from 0; nil if none is alone.
    package var write: Int?

    package init(realm: RealmName, code: String, reason: String, write: Int? = nil) {
        self.realm = realm
        self.code = code
        self.reason = reason
        self.write = write
    }
}
