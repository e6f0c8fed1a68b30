import Changesets
package import ExtendedJSON
package import RealmState

/// The fields of documents that are shown, as MongoDB writes it: `{"title": 1, "place.city": 1}` shows these and the primary key, `{"secret": 0}`
/// all others. The primary key may be said otherwise than the rest: `{"title": 1, "_id": 0}`.
package struct DocumentProjection: Hashable, Sendable {
    /// The fields of an object that are named, with those inside them; none inside: the field as a whole.
    fileprivate struct Fields: Hashable {
        var inner: [ByteString: Fields] = [:]
    }

    private var fields = Fields()
    private var isShown: Bool
    private let key: ByteString
    private var showsKey = true

    /// - Throws: `unknownField`, `invalidWrite` for fields that are both shown and left out, or one that is named twice, `unsupportedOperator` for
    ///   anything but 0, 1, true and false, or `limit`.
    package init(
        _ projection: BSONDocument, of table: TableSchema, schema: Schema, limits: DocumentLimits = DocumentLimits()
    ) throws(DocumentError) {
        key = table.key?.name ?? ""
        isShown = false
        guard projection.count <= limits.terms else {
            throw DocumentError(.limit, "expected at most \(limits.terms) fields, came \(projection.count)")
        }
        var shown: Bool?
        var isKeyShown: Bool?
        var fields = Fields()
        let mapping = DocumentMapping(schema: schema)
        for member in projection {
            let place = JSONPlace.Step.key(member.key)
            let isShown = try at(place) { () throws(DocumentError) in try Self.isShown(member.value) }
            if member.key == key {
                isKeyShown = isShown
                continue
            }
            try at(place) { () throws(DocumentError) in
                let path = try DocumentPath(member.key, maxElements: limits.pathElements)
                _ = try FilterPath(path, on: table, mapping)
                guard shown == nil || shown == isShown else {
                    throw DocumentError(.invalidWrite, "expected all fields to be shown, or all to be left out")
                }
                guard fields.add(path.elements[...]) else {
                    throw DocumentError(.invalidWrite, "expected fields apart from each other")
                }
            }
            shown = isShown
        }
        self.fields = fields
        // A primary key alone that is shown is all that is shown.
        self.isShown = shown ?? (isKeyShown == true)
        showsKey = isKeyShown ?? true
    }

    private static func isShown(_ value: BSONValue) throws(DocumentError) -> Bool {
        if let bool = value.bool { return bool }
        guard let number = value.integer, number == 0 || number == 1 else {
            throw DocumentError(
                .unsupportedOperator, "expected 1 to show a field or 0 to leave it out, came \(value.typeName)")
        }
        return number == 1
    }

    /// The columns of which nothing is shown.
    package func hidden(of table: TableSchema) -> Set<ColumnID> {
        Set(
            table.columns.lazy.filter { column in
                guard let inner = fields.inner[column.name] else { return isShown }
                return !isShown && inner.isWhole
            }.map(\.id))
    }

    package func applied(to document: BSONDocument) -> BSONDocument {
        var result = BSONDocument()
        for member in document {
            if member.key == key {
                if showsKey { result[key] = member.value }
            } else if let value = fields.shown(member.key, member.value, isShown) {
                result[member.key] = value
            }
        }
        return result
    }
}

extension DocumentProjection.Fields {
    fileprivate var isWhole: Bool { inner.isEmpty }

    /// - Returns: false if the path leads into a field that is named, or one that is named leads into it.
    fileprivate mutating func add(_ path: ArraySlice<ByteString>) -> Bool {
        guard let name = path.first else { return false }
        let rest = path.dropFirst()
        guard inner[name] != nil else {
            var fields = DocumentProjection.Fields()
            if !rest.isEmpty { _ = fields.add(rest) }
            inner[name] = fields
            return true
        }
        guard !rest.isEmpty, inner[name]?.isWhole == false else { return false }
        return inner[name]?.add(rest) ?? false
    }

    /// What is shown of a member; nil: nothing.
    fileprivate func shown(_ key: ByteString, _ value: BSONValue, _ isShown: Bool) -> BSONValue? {
        guard let fields = inner[key] else { return isShown ? nil : value }
        return fields.isWhole ? (isShown ? value : nil) : fields.shown(value, isShown)
    }

    /// What is shown of a value of which some fields are named. Of an array it is that of each element.
    private func shown(_ value: BSONValue, _ isShown: Bool) -> BSONValue? {
        switch value {
        case .document(let document):
            return .document(
                BSONDocument(
                    document.members.compactMap { member in
                        shown(member.key, member.value, isShown).map { (member.key, $0) }
                    }))
        case .array(let items): return .array(items.compactMap { shown($0, isShown) })
        default: return isShown ? nil : value
        }
    }
}
