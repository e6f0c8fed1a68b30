import Changesets
import ExtendedJSON

/// The fields that `$project` shows: `{"title": 1, "city": "$address.city"}` shows these and `_id`, `{"secret": 0}` all others.
struct PipelineProjection: Hashable, Sendable {
    private struct Field: Hashable {
        var path: [ByteString]
        /// Nil: the field as it is.
        var value: PipelineExpression?
    }

    private var shown: [Field] = []
    private var hidden: [[ByteString]] = []
    private var showsKey = true

    /// - Throws: `unsupportedOperator`, `invalidWrite` or `limit`.
    init(_ projection: BSONDocument, _ limits: PipelineLimits) throws(DocumentError) {
        guard !projection.isEmpty else { throw DocumentError(.invalidWrite, "expected fields, came none") }
        guard projection.count <= limits.terms else {
            throw DocumentError(.limit, "expected at most \(limits.terms) fields, came \(projection.count)")
        }
        for member in projection {
            do throws(DocumentError) {
                try add(member, limits)
            } catch {
                throw error.within(.key(member.key))
            }
        }
        guard shown.isEmpty || hidden.isEmpty else {
            throw DocumentError(.invalidWrite, "expected all fields to be shown, or all to be left out")
        }
    }

    private mutating func add(_ member: BSONDocument.Member, _ limits: PipelineLimits) throws(DocumentError) {
        let path = try PipelinePath(member.key, limits).elements
        let others = shown.map(\.path) + hidden
        guard !others.contains(where: { zip($0, path).allSatisfy { $0 == $1 } }) else {
            throw DocumentError(.invalidWrite, "expected fields apart from each other")
        }
        switch member.value {
        case .bool(let isShown): add(path, isShown)
        case .int32, .int64, .double:
            guard let number = member.value.integer, number == 0 || number == 1 else {
                throw DocumentError(.invalidWrite, "expected 1 to show a field or 0 to leave it out")
            }
            add(path, number == 1)
        default:
            guard path.count == 1 else {
                throw DocumentError(.unsupportedOperator, "expected a name without dots for a value that is made")
            }
            shown.append(Field(path: path, value: try PipelineExpression(member.value, limits)))
        }
    }

    private mutating func add(_ path: [ByteString], _ isShown: Bool) {
        if path == ["_id"] {
            showsKey = isShown
            if isShown { shown.append(Field(path: path)) }
        } else if isShown {
            shown.append(Field(path: path))
        } else {
            hidden.append(path)
        }
    }

    func applied(to document: BSONDocument) -> BSONDocument {
        guard !shown.isEmpty else {
            var result = document
            if !showsKey { result["_id"] = nil }
            for path in hidden { result = Self.without(path[...], result) }
            return result
        }
        var result = BSONDocument()
        if showsKey, !shown.contains(where: { $0.path == ["_id"] }) { result["_id"] = document["_id"] }
        for field in shown {
            if let value = field.value {
                result[field.path[0]] = value.value(of: document)
            } else {
                Self.show(field.path[...], of: document, in: &result)
            }
        }
        return result
    }

    private static func show(_ path: ArraySlice<ByteString>, of document: BSONDocument, in result: inout BSONDocument) {
        guard let name = path.first, let value = document[name] else { return }
        result[name] = shown(path.dropFirst(), of: value, beside: result[name])
    }

    private static func shown(
        _ path: ArraySlice<ByteString>, of value: BSONValue, beside known: BSONValue?
    ) -> BSONValue? {
        guard !path.isEmpty else { return value }
        switch value {
        case .document(let document):
            var inner = known?.document ?? [:]
            show(path, of: document, in: &inner)
            return .document(inner)
        case .array(let items):
            let others = known?.array ?? []
            var place = 0
            return .array(
                items.compactMap { item in
                    // What is no object has no fields to show.
                    guard item.document != nil || item.array != nil else { return nil }
                    defer { place += 1 }
                    return shown(path, of: item, beside: place < others.count ? others[place] : nil)
                })
        default: return known
        }
    }

    private static func without(_ path: ArraySlice<ByteString>, _ document: BSONDocument) -> BSONDocument {
        guard let name = path.first, let value = document[name] else { return document }
        var result = document
        let rest = path.dropFirst()
        guard !rest.isEmpty else {
            result[name] = nil
            return result
        }
        switch value {
        case .document(let inner): result[name] = .document(without(rest, inner))
        case .array(let items):
            result[name] = .array(items.map { $0.document.map { .document(without(rest, $0)) } ?? $0 })
        default: break
        }
        return result
    }

    /// The fields of a document that are looked at; nil: all.
    var fields: Set<ByteString>? {
        guard !shown.isEmpty else { return nil }
        var all: Set<ByteString> = showsKey ? ["_id"] : []
        for field in shown {
            guard let value = field.value else {
                all.insert(field.path[0])
                continue
            }
            guard let fields = value.fields else { return nil }
            all.formUnion(fields)
        }
        return all
    }
}
