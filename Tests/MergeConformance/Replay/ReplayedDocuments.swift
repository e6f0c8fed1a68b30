package import Changesets
package import ExtendedJSON

/// Documents as somebody has them who knows nothing but an app's changes: plain JSON, without a schema.
package struct ReplayedDocuments {
    package private(set) var documents: [ByteString: [BSONValue: BSONDocument]] = [:]

    package init() {}

    /// Has a document be what somebody read of it.
    ///
    /// - Parameter document: nil: it is gone.
    package mutating func put(_ document: BSONDocument?, at key: BSONValue, of className: ByteString) {
        documents[className, default: [:]][key] = document
    }

    /// - Parameter change: as messages have it.
    /// - Returns: false for a change that does not fit what came before.
    package mutating func apply(_ change: BSONDocument) -> Bool {
        guard let name = change["class"]?.string, let operation = change["operation"]?.string?.string else {
            return false
        }
        let removed = change["removed"]?.array?.compactMap(\.string) ?? []
        switch operation {
        case "drop":
            documents[name] = nil
            return true
        case "dropFields":
            for key in (documents[name] ?? [:]).keys {
                for field in removed { documents[name]?[key]?[field] = nil }
            }
            return !removed.isEmpty
        default: break
        }
        guard let key = change["key"] else { return false }
        let old = documents[name]?[key]
        switch operation {
        case "insert", "replace":
            guard let document = change["document"]?.document, (old == nil) == (operation == "insert") else {
                return false
            }
            documents[name, default: [:]][key] = document
        case "delete":
            guard old != nil else { return false }
            documents[name]?[key] = nil
        case "update":
            guard var document = old.map(BSONValue.document) else { return false }
            for path in removed { document = Self.changed(document, path.path[...], to: nil) }
            for member in change["set"]?.document ?? [:] {
                document = Self.changed(document, member.key.path[...], to: member.value)
            }
            documents[name]?[key] = document.document
        default: return false
        }
        return true
    }

    private static func changed(
        _ value: BSONValue, _ path: ArraySlice<ByteString>, to new: BSONValue?
    ) -> BSONValue {
        guard let name = path.first, case .document(var document) = value else { return value }
        let rest = path.dropFirst()
        document[name] = rest.isEmpty ? new : document[name].map { changed($0, rest, to: new) }
        return .document(document)
    }
}

extension ByteString {
    fileprivate var path: [ByteString] {
        bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).map { ByteString(Array($0)) }
    }
}
