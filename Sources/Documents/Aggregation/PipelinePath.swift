import Changesets
import ExtendedJSON

/// A dotted path into documents that have no schema, such as those that a group makes.
struct PipelinePath: Hashable, Sendable {
    let elements: [ByteString]

    /// - Throws: as `DocumentPath`.
    init(_ text: ByteString, _ limits: PipelineLimits) throws(DocumentError) {
        elements = try DocumentPath(text, maxElements: limits.pathElements).elements
    }

    /// The field of the document itself that the path begins with.
    var field: ByteString { elements.first ?? "" }

    /// What the path leads to; nil: nothing. Through an array it is an array of what is in its elements.
    func value(in document: BSONDocument) -> BSONValue? { Self.value(in: .document(document), elements[...]) }

    private static func value(in value: BSONValue, _ path: ArraySlice<ByteString>) -> BSONValue? {
        guard let name = path.first else { return value }
        switch value {
        case .document(let document):
            return document[name].flatMap { Self.value(in: $0, path.dropFirst()) }
        case .array(let items): return .array(items.compactMap { Self.value(in: $0, path) })
        default: return nil
        }
    }

    /// Returns what the path leads to, for conditions, which hold if they do for any of it: the elements of an array beside the array itself.
    func candidates(in document: BSONDocument) -> [BSONValue] {
        var found: [BSONValue] = []
        Self.add(.document(document), elements[...], to: &found)
        return found
    }

    private static func add(_ value: BSONValue, _ path: ArraySlice<ByteString>, to found: inout [BSONValue]) {
        guard let name = path.first else {
            found.append(value)
            if case .array(let items) = value { found += items }
            return
        }
        switch value {
        case .document(let document):
            if let inner = document[name] { add(inner, path.dropFirst(), to: &found) }
        case .array(let items):
            if let index = name.listIndex {
                if index < items.count { add(items[index], path.dropFirst(), to: &found) }
            } else {
                for item in items { add(item, path, to: &found) }
            }
        default: break
        }
    }
}
