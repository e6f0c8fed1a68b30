package import Changesets
package import ExtendedJSON

/// The effect of a version on one document.
package struct DocumentChange: Hashable, Sendable {
    package enum Operation: String, Hashable, Sendable, CaseIterable {
        case insert
        case update
        /// The document was deleted and made anew.
        case replace
        case delete
        /// The class was erased with all of its documents; there is no key.
        case drop
        /// Fields of the class went from all of its documents; there is no key.
        case dropFields
    }

    package var className: ByteString
    package var operation: Operation
    /// The primary key; null for `drop` and `dropFields`.
    package var key: BSONValue
    /// The place of the change among those of its version, from 0 on.
    package var index: Int
    /// The fields of an update that have other values, by dotted paths: into embedded objects and dictionaries, not into lists.
    package var set: BSONDocument
    /// The dotted paths of dictionaries' entries that an update took away; of `dropFields` the names of the fields.
    package var removed: [ByteString]
    /// The document as the version leaves it; nil if it is gone. Of an update only if it was asked for.
    package var document: BSONDocument?

    package init(
        _ operation: Operation, _ className: ByteString, key: BSONValue = .null, index: Int, set: BSONDocument = [:],
        removed: [ByteString] = [], document: BSONDocument? = nil
    ) {
        self.operation = operation
        self.className = className
        self.key = key
        self.index = index
        self.set = set
        self.removed = removed
        self.document = document
    }
}

extension DocumentChange {
    /// The change as messages have it, without its place: `class`, `operation`, `key`, and as far as there is any `set`, `removed` and `document`.
    package var body: BSONDocument {
        var body = BSONDocument()
        body["class"] = .string(className)
        body["operation"] = .string(ByteString(operation.rawValue))
        if operation != .drop, operation != .dropFields { body["key"] = key }
        if !set.isEmpty { body["set"] = .document(set) }
        if !removed.isEmpty { body["removed"] = .array(removed.map { .string($0) }) }
        body["document"] = document.map { .document($0) }
        return body
    }
}
