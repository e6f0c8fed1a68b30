package import Changesets
package import ExtendedJSON
package import RealmState

/// Documents as objects.
extension DocumentMapping {
    /// The contents of a document, as they are about an object.
    package struct Content: Sendable {
        /// Nil if the document lacks the primary key.
        package var key: ObjectKey?
        /// The properties that the document has, in its order.
        package var fields: [(column: ColumnSchema, value: Value)]
    }

    /// - Parameter depth: how many embedded objects are around it.
    /// - Throws: `unknownField`, `wrongType` or `invalidValue`; the place is that in the document.
    package func content(
        _ document: BSONDocument, of table: TableSchema, depth: Int = 0
    ) throws(DocumentError) -> Content {
        var content = Content(key: nil, fields: [])
        for member in document {
            try at(.key(member.key)) { () throws(DocumentError) in
                if let key = table.key, key.name == member.key {
                    content.key = try self.key(member.value, of: table)
                    return
                }
                guard let column = table.column(member.key) else { throw unknownField(member.key, table) }
                content.fields.append((column, try value(member.value, of: column, depth: depth)))
            }
        }
        return content
    }

    /// The whole object that a document is: with defaults for what it lacks.
    ///
    /// - Throws: as `content`, and `missingField` for a property that is neither optional nor a collection.
    package func object(_ content: Content, of table: TableSchema) throws(DocumentError) -> StoredObject {
        var object = StoredObject()
        for (column, value) in content.fields { object[column.id] = value }
        for column in table.columns where object[column.id] == nil && isRequired(column) {
            throw missingField(column, table)
        }
        return object
    }

    /// Whether every object has to be given a value of the property.
    func isRequired(_ column: ColumnSchema) -> Bool {
        column.collection == .single && !column.element.nullable && !column.element.isMixed
            && column.element.type != .link
    }

    func missingField(_ column: ColumnSchema, _ table: TableSchema) -> DocumentError {
        DocumentError(
            .missingField, "expected \(schema.text(of: column)), since \(table.name).\(column.name) is required",
            at: .root.key(column.name))
    }

    func unknownField(_ name: ByteString, _ table: TableSchema) -> DocumentError {
        let shown = name.string.shortened
        return DocumentError(.unknownField, "the class \(table.name) has no property \"\(shown)\"")
    }

    /// - Throws: `wrongType`
    package func key(_ value: BSONValue, of table: TableSchema) throws(DocumentError) -> ObjectKey {
        switch (value, table.key?.type) {
        case (.int32, .int?), (.int64, .int?): if let integer = value.integer { return .int(integer) }
        case (.string(let text), .string?): return .string(text)
        case (.objectID(let value), .objectID?): return .objectID(value)
        case (.uuid(let value), .uuid?): return .uuid(value)
        case (.null, _) where table.key?.nullable == true: return .null
        default: break
        }
        let expected = table.key.map { "\($0.type.documentName)\($0.nullable ? " or null" : "")" } ?? "nothing"
        throw DocumentError(
            .wrongType, "expected \(expected), the primary key of \(table.name), came \(value.typeName)")
    }

    /// The value of a whole property.
    ///
    /// - Parameter depth: how many embedded objects are around it.
    package func value(
        _ value: BSONValue, of column: ColumnSchema, depth: Int = 0
    ) throws(DocumentError) -> Value {
        switch (column.collection, value) {
        case (.single, _): return try self.value(value, column.element, depth: depth)
        case (.list, .array(let items)): return .list(try elements(items, column.element, depth: depth + 1))
        case (.set, .array(let items)):
            let members = try elements(items, column.element, depth: depth + 1).sorted(by: Value.setOrder)
            if let index = items.firstIndex(where: { $0.isCollection }), members.contains(where: { !$0.isMember }) {
                throw DocumentError(
                    .wrongType, "expected a value without others in it, as sets hold, came \(items[index].typeName)",
                    at: .root.index(index))
            }
            var unique: [Value] = []
            for member in members {
                if let last = unique.last, Value.compare(last, member) == 0 { continue }
                unique.append(member)
            }
            return .set(unique)
        case (.dictionary, .document(let document)):
            return .dictionary(try entries(document, column.element, depth: depth + 1))
        default: throw DocumentError(.wrongType, "expected \(schema.text(of: column)), came \(value.typeName)")
        }
    }

    private func elements(
        _ items: [BSONValue], _ element: ElementType, depth: Int
    ) throws(DocumentError) -> [Value] {
        var values: [Value] = []
        values.reserveCapacity(items.count)
        for (index, item) in items.enumerated() {
            values.append(
                try at(.index(index)) { () throws(DocumentError) in
                    try value(item, element, inList: true, depth: depth)
                })
        }
        return values
    }

    private func entries(
        _ document: BSONDocument, _ element: ElementType, depth: Int
    ) throws(DocumentError) -> [ByteString: Value] {
        var entries: [ByteString: Value] = [:]
        for member in document {
            entries[member.key] = try at(.key(member.key)) { () throws(DocumentError) in
                if let fault = member.key.dictionaryKeyFault { throw DocumentError(.invalidValue, fault) }
                return try value(member.value, element, depth: depth)
            }
        }
        return entries
    }

    /// The value of a property that is a single value, or of an element.
    ///
    /// - Parameter depth: how many collections and embedded objects are around it.
    package func value(
        _ value: BSONValue, _ element: ElementType, inList: Bool = false, depth: Int = 0
    ) throws(DocumentError) -> Value {
        if element.isMixed { return try mixed(value, depth: depth) }
        if element.type == .link { return try link(value, element, inList: inList, depth: depth) }
        if case .null = value, element.nullable { return .null }
        guard let result = try scalar(value, element.type) else {
            throw DocumentError(
                .wrongType, "expected \(schema.text(of: element, inList: inList)), came \(value.typeName)")
        }
        return result
    }

    /// Nil if the value is of another type.
    private func scalar(_ value: BSONValue, _ type: PayloadType) throws(DocumentError) -> Value? {
        switch (type, value) {
        case (.int, .int32), (.int, .int64): return value.integer.map { .int($0) }
        case (.bool, .bool(let value)): return .bool(value)
        case (.string, .string(let text)): return .string(text)
        case (.binary, .binary(let bytes, _)): return .binary(bytes)
        case (.timestamp, .date(let milliseconds)):
            return .timestamp(TimestampValue(milliseconds: milliseconds))
        case (.double, .double(let value)): return .double(bits: value.bitPattern)
        case (.double, .int32), (.double, .int64):
            guard let integer = value.integer, let double = Double(exactly: integer) else { throw inexact("double") }
            return .double(bits: double.bitPattern)
        case (.float, .double(let value)):
            let float = Float(value)
            guard float.isFinite || !value.isFinite else { throw inexact("float") }
            return .float(bits: float.bitPattern)
        case (.float, .int32), (.float, .int64):
            guard let integer = value.integer, let float = Float(exactly: integer) else { throw inexact("float") }
            return .float(bits: float.bitPattern)
        case (.decimal, .decimal128(let value)): return .decimal(value)
        case (.decimal, .int32), (.decimal, .int64): return value.integer.map { .decimal(Decimal128Value($0)) }
        case (.objectID, .objectID(let value)): return .objectID(value)
        case (.uuid, .uuid(let value)): return .uuid(value)
        default: return nil
        }
    }

    private func inexact(_ type: String) -> DocumentError {
        DocumentError(.outOfRange, "expected a number that a \(type) can hold")
    }

    private func link(
        _ value: BSONValue, _ element: ElementType, inList: Bool, depth: Int
    ) throws(DocumentError) -> Value {
        if case .null = value, !inList { return .null }
        guard element.isLinkOfOneClass, let target = element.target, let table = schema.table(target) else {
            guard let address = try reference(value) else {
                throw DocumentError(.wrongType, "expected an object with $ref and $id, came \(value.typeName)")
            }
            return .link(address)
        }
        guard table.kind == .embedded else {
            guard !value.isNull || table.key?.nullable == true else {
                throw DocumentError(.wrongType, "expected \(schema.text(of: element, inList: inList)), came null")
            }
            return .link(ObjectAddress(target, try key(value, of: table)))
        }
        guard case .document(let document) = value else {
            throw DocumentError(
                .wrongType, "expected \(schema.text(of: element, inList: inList)), came \(value.typeName)")
        }
        return .embedded(try embedded(document, table, depth: depth))
    }

    private func embedded(
        _ document: BSONDocument, _ table: TableSchema, depth: Int
    ) throws(DocumentError) -> EmbeddedObject {
        try checkNesting(depth)
        return try object(try content(document, of: table, depth: depth + 1), of: table)
    }

    /// Values in mixed properties have no type but their own.
    private func mixed(_ value: BSONValue, depth: Int) throws(DocumentError) -> Value {
        if let scalar = Value(scalar: value) { return scalar }
        switch value {
        case .array(let items):
            try checkNesting(depth)
            var values: [Value] = []
            for (index, item) in items.enumerated() {
                values.append(
                    try at(.index(index)) { () throws(DocumentError) in try mixed(item, depth: depth + 1) })
            }
            return .list(values)
        case .document(let document):
            if let address = try reference(value) { return .link(address) }
            try checkNesting(depth)
            return .dictionary(try entries(document, .mixed, depth: depth + 1))
        default:
            throw DocumentError(.wrongType, "no property can hold a value of the type \(value.typeName)")
        }
    }

    /// The object that `{"$ref": class, "$id": key}` names; nil for a value of another kind.
    private func reference(_ value: BSONValue) throws(DocumentError) -> ObjectAddress? {
        guard case .document(let document) = value, let className = document["$ref"] else { return nil }
        guard let name = className.string, let table = schema.table(name), table.kind == .topLevel else {
            throw DocumentError(.unknownClass, "expected a class that links may lead to", at: .root.key("$ref"))
        }
        guard document.count == 2, let id = document["$id"] else {
            throw DocumentError(.invalidValue, "expected $id beside $ref, and nothing else")
        }
        return ObjectAddress(name, try at(.key("$id")) { () throws(DocumentError) in try key(id, of: table) })
    }

    private func checkNesting(_ depth: Int) throws(DocumentError) {
        guard depth < ChangesetLimits.maxNesting else {
            throw DocumentError(
                .limit, "expected arrays and objects nested at most \(ChangesetLimits.maxNesting) deep in a property")
        }
    }
}

extension Value {
    /// Whether a set can hold the value.
    fileprivate var isMember: Bool {
        switch self {
        case .list, .dictionary, .set, .embedded: false
        default: true
        }
    }
}

extension BSONValue {
    fileprivate var isCollection: Bool { array != nil || (document != nil && document?["$ref"] == nil) }
}
