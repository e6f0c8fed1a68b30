import Changesets
package import ExtendedJSON
package import SyncModel

/// The body of a message that carries documents, read as Extended JSON so that their values keep their types.
struct DocumentBody {
    let document: BSONDocument
    private let messageType: String

    init(_ document: BSONDocument, of messageType: String) {
        self.document = document
        self.messageType = messageType
    }

    /// - Throws: `MessageError`.
    init(_ bytes: [UInt8], of messageType: String) throws(MessageError) {
        let value: BSONValue
        do throws(ExtendedJSONError) {
            value = try ExtendedJSONParser.parse(bytes)
        } catch {
            throw MessageError(messageType: messageType, reason: "\(error)")
        }
        guard let document = value.document else {
            throw MessageError(messageType: messageType, reason: "expected a JSON object, found \(value.typeName)")
        }
        self.init(document, of: messageType)
    }

    /// Refuses keys that nobody reads: they are mistakes.
    func requireKeys(among known: [ByteString]) throws(MessageError) {
        guard let stranger = document.keys.first(where: { !known.contains($0) }) else { return }
        let names = known.map(\.string).joined(separator: ", ")
        throw MessageError(
            messageType: messageType, reason: "key \"\(stranger.string.prefix(64))\" is not known; expected \(names)")
    }

    func value(_ key: ByteString) throws(MessageError) -> BSONValue {
        guard let value = document[key] else {
            throw MessageError(messageType: messageType, reason: "key \"\(key.string)\" is missing")
        }
        return value
    }

    func number(_ key: ByteString) throws(MessageError) -> UInt64 {
        guard let number = try value(key).integer, let number = UInt64(exactly: number) else {
            throw MessageError(messageType: messageType, reason: "\"\(key.string)\": expected a number, 0 or more")
        }
        return number
    }

    func realm(_ key: ByteString) throws(MessageError) -> RealmName {
        func fail(_ reason: String) -> MessageError {
            MessageError(messageType: messageType, reason: "\"\(key.string)\": \(reason)")
        }
        guard let realm = try value(key).document, let app = realm["app"]?.string?.string else {
            throw fail("expected an object with app, and with partition or flexible")
        }
        if realm["flexible"]?.bool == true { return RealmName(flexible: app) }
        guard let partition = realm["partition"]?.string?.string else {
            throw fail("expected a partition as a text, or \"flexible\": true")
        }
        return RealmName(app: app, partition: RealmName.partition(fromText: partition))
    }
}

extension RealmName {
    /// The name as messages that carry documents have it.
    package var document: BSONDocument {
        isFlexible
            ? ["app": BSONValue(app), "flexible": true] : ["app": BSONValue(app), "partition": BSONValue(partition)]
    }
}
