import Changesets
import ExtendedJSON

/// The members of an object, taken one by one, so that what nobody asked for is found.
struct Members {
    private var rest: BSONDocument

    /// - Parameter expected: what the value has to be, for people.
    init(_ json: BSONValue, _ expected: String) throws(DocumentError) {
        guard case .document(let document) = json else {
            throw DocumentError(.invalidWrite, "expected \(expected), came \(json.typeName)")
        }
        rest = document
    }

    func has(_ key: ByteString) -> Bool { rest[key] != nil }

    mutating func value(_ key: ByteString) throws(DocumentError) -> BSONValue {
        guard let value = rest[key] else { throw DocumentError(.invalidWrite, "expected the member \(key)") }
        rest[key] = nil
        return value
    }

    mutating func string(_ key: ByteString, _ expected: String) throws(DocumentError) -> ByteString {
        let value = try value(key)
        guard let text = value.string else { throw wrong(key, expected, value) }
        return text
    }

    mutating func bool(_ key: ByteString) throws(DocumentError) -> Bool {
        let value = try value(key)
        guard let bool = value.bool else { throw wrong(key, "true or false", value) }
        return bool
    }

    mutating func document(_ key: ByteString) throws(DocumentError) -> BSONDocument {
        let value = try value(key)
        guard let document = value.document else { throw wrong(key, "an object", value) }
        return document
    }

    /// - Parameter owner: what the members belong to, for people.
    func finish(_ owner: ByteString) throws(DocumentError) {
        guard let other = rest.members.first else { return }
        throw DocumentError(.invalidWrite, "\(owner) has no such member", at: .root.key(other.key))
    }

    private func wrong(_ key: ByteString, _ expected: String, _ value: BSONValue) -> DocumentError {
        DocumentError(.invalidWrite, "expected \(expected), came \(value.typeName)", at: .root.key(key))
    }
}
