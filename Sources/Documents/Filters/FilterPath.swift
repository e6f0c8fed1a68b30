import Changesets
import ExtendedJSON
import Query
import RealmState

/// A dotted path of a filter, followed through the schema.
struct FilterPath {
    /// The steps as queries have them.
    var steps: [QueryTerm.Path.Step]
    /// The type of what is compared: of the property or of its elements.
    var element: ElementType
    /// The collection that the path ends at; `single` for anything else.
    var collection = CollectionType.single
    /// Whether a collection of embedded objects lies on the way, of which any one counts.
    var isMulti = false
    /// Whether the path goes through a key or an index, which need not be there.
    var isSparse = false
    /// Whether the path is the name of a property alone.
    var isDirect = true

    /// Whether any of several values counts: what an index leads to is a list of one, or none, to a query.
    private var hasSeveral: Bool { isMulti || collection != .single || isSparse }

    var term: QueryTerm.Path { QueryTerm.Path(steps, quantifier: hasSeveral ? .any : nil) }
}

extension FilterPath {
    /// - Throws: `unknownField`, or `wrongType` for a path that goes on where nothing is.
    init(_ path: DocumentPath, on table: TableSchema, _ mapping: DocumentMapping) throws(DocumentError) {
        if let key = table.key, key.name == path.first {
            guard path.elements.count == 1 else { throw Self.end(before: path.elements[1], key.type.documentName) }
            self.init(steps: [.name(key.name)], element: ElementType(type: key.type, nullable: key.nullable))
            return
        }
        guard let column = table.column(path.first) else { throw mapping.unknownField(path.first, table) }
        self.init(steps: [.name(column.name)], element: column.element, collection: column.collection)
        for name in path.elements.dropFirst() { try step(name, mapping) }
    }

    private mutating func step(_ name: ByteString, _ mapping: DocumentMapping) throws(DocumentError) {
        isDirect = false
        guard name.first != UInt8(ascii: "@") else {
            throw DocumentError(
                .unsupportedOperator, "\"\(name.string.shortened)\" means something else in queries than a name")
        }
        switch collection {
        case .list:
            if let index = name.listIndex {
                steps.append(.index(Int64(index)))
                collection = .single
                isSparse = true
                return
            }
        case .dictionary:
            if let table = mapping.schema.embeddedTarget(of: element), table.column(name) != nil {
                throw DocumentError(
                    .unsupportedOperator,
                    "the key \"\(name)\" of the dictionary is a property of \(table.name), too: queries cannot tell them apart"
                )
            }
            if let fault = name.dictionaryKeyFault { throw DocumentError(.invalidValue, fault) }
            steps.append(.name(name))
            collection = .single
            isSparse = true
            return
        case .set, .single: break
        }
        if let table = mapping.schema.embeddedTarget(of: element) {
            guard let column = table.column(name) else { throw mapping.unknownField(name, table) }
            if collection == .list { isMulti = true }
            steps.append(.name(column.name))
            element = column.element
            collection = column.collection
            return
        }
        guard element.isMixed, collection == .single else {
            if element.type == .link {
                throw DocumentError(
                    .wrongType,
                    "\"\(name.string.shortened)\" follows a link: documents have the primary key of what it leads to")
            }
            throw Self.end(before: name, mapping.schema.text(of: element))
        }
        steps.append(name.listIndex.map { .index(Int64($0)) } ?? .name(name))
        isSparse = true
    }

    private static func end(before name: ByteString, _ type: String) -> DocumentError {
        DocumentError(.wrongType, "expected the path to end before \"\(name.string.shortened)\", at \(type)")
    }
}
