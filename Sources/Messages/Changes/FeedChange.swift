import Changesets
package import ExtendedJSON
package import SyncModel

/// The effect of a version on one document, for those who follow the app.
package struct FeedChange: Equatable, Sendable {
    /// The operation that says that a realm is gone with all of its documents.
    package static let erase = "erase"

    package var realm: RealmName
    /// The history that the place is of: another one where the slice was put back, or the app made anew. Nil of workers that do not say.
    package var history: String?
    package var place: ChangePlace
    /// The changes that this one follows; none where nobody knows.
    package var follows: ChangePredecessors
    /// When it was written, by its author's clock; milliseconds of Unix time.
    package var writtenAt: UInt64
    /// `class`, `operation`, `key`, `set`, `removed`, `document`, `omitted`.
    package var change: BSONDocument

    package init(
        realm: RealmName, history: String? = nil, place: ChangePlace,
        follows: ChangePredecessors = ChangePredecessors(), writtenAt: UInt64, change: BSONDocument
    ) {
        self.realm = realm
        self.history = history
        self.place = place
        self.follows = follows
        self.writtenAt = writtenAt
        self.change = change
    }

    /// Whether it says that the realm is gone.
    package var isErasure: Bool { change["operation"]?.string == ByteString(Self.erase) }

    /// The change as one JSON object, with its realm and history: as who follows over HTTP is told it.
    package func jsonBody() -> [UInt8] {
        var bytes = Self.head(realm: realm, history: history)
        bytes[bytes.count - 1] = UInt8(ascii: ",")
        bytes += element().dropFirst()
        return bytes
    }

    /// The change without its realm and history, as it stands among others of the realm.
    func element() -> [UInt8] {
        Self.element(
            at: place, follows: follows, writtenAt: writtenAt,
            change: ExtendedJSONWriter.bytes(of: .document(change)))
    }

    /// `realm` and `history` as a JSON object.
    static func head(realm: RealmName, history: String?) -> [UInt8] {
        var head: BSONDocument = ["realm": .document(realm.document)]
        head["history"] = history.map { BSONValue($0) }
        return ExtendedJSONWriter.bytes(of: .document(head))
    }

    /// A change without its realm and history.
    ///
    /// - Parameter change: a JSON object that is not empty.
    package static func element(
        at place: ChangePlace, follows: ChangePredecessors, writtenAt: UInt64, change: [UInt8]
    ) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(change.count + 160)
        func append(_ key: StaticString, _ number: UInt64) {
            key.withUTF8Buffer { bytes.append(contentsOf: $0) }
            JSONText.append(Int64(clamping: number), to: &bytes)
        }
        func append(_ key: StaticString, _ place: ChangePlace?) {
            guard let place else { return }
            append(key, place.generation)
            append(",", place.version.rawValue)
            append(",", UInt64(clamping: place.index))
            bytes.append(UInt8(ascii: "]"))
        }
        append("{\"generation\":", place.generation)
        append(",\"version\":", place.version.rawValue)
        append(",\"index\":", UInt64(clamping: place.index))
        append(",\"follows\":[", follows.inRealm)
        append(",\"followsInClass\":[", follows.inClass)
        append(",\"writtenAt\":", writtenAt)
        bytes.append(UInt8(ascii: ","))
        bytes += change.dropFirst()
        return bytes
    }

    /// - Parameter element: as `element` makes it.
    init(_ element: BSONDocument, of realm: RealmName, history: String?) throws(MessageError) {
        let body = DocumentBody(element, of: ChangesMessage.type)
        self.realm = realm
        self.history = history
        place = ChangePlace(
            generation: try body.number("generation"), version: ServerVersion(try body.number("version")),
            index: Int(clamping: try body.number("index")))
        follows = ChangePredecessors(
            inRealm: try Self.place(element["follows"]), inClass: try Self.place(element["followsInClass"]))
        writtenAt = try body.number("writtenAt")
        change = element
        for key in ["follows", "followsInClass", "generation", "version", "index", "writtenAt"] as [ByteString] {
            change[key] = nil
        }
        guard change["operation"]?.string != nil else {
            throw MessageError(messageType: ChangesMessage.type, reason: "key \"operation\" is missing")
        }
    }

    private static func place(_ value: BSONValue?) throws(MessageError) -> ChangePlace? {
        guard let value else { return nil }
        let given = value.array ?? []
        let numbers = given.compactMap(\.integer)
        guard given.count == 3, numbers.count == 3, numbers.allSatisfy({ $0 >= 0 }) else {
            throw MessageError(
                messageType: ChangesMessage.type,
                reason: "expected three numbers for a place: generation, version, index")
        }
        return ChangePlace(
            generation: UInt64(numbers[0]), version: ServerVersion(UInt64(numbers[1])), index: Int(numbers[2]))
    }
}
