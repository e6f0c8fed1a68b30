package import Changesets
package import ExtendedJSON
package import RealmState

/// Objects as documents and documents as objects, by a realm's schema.
///
/// | property | in a document |
/// |---|---|
/// | int; bool; string | number; true or false; string |
/// | double, float | number, an integer too if the type holds it exactly; `$numberDouble` for NaN and infinities |
/// | decimal | `$numberDecimal`, or an integer |
/// | binary, objectId, uuid | `$binary`, `$oid`, `$uuid` or `$binary` of subtype 04 |
/// | timestamp | `$date`, in milliseconds; what is finer is not shown |
/// | link | the target's primary key, whether or not the target is there |
/// | embedded object | object with its properties |
/// | list, set | array |
/// | dictionary | object |
/// | mixed | any of these by its own type, arrays and objects as lists and dictionaries, a link as `{"$ref": class, "$id": key}` |
/// | backlinks | absent |
///
/// Every property stands in a document that was read, null included. A document that is written may lack optional properties, which are null
/// then, and collections, which are empty. Nothing is converted: a string for an objectId is an error.
package struct DocumentMapping: Sendable {
    package let schema: Schema

    package init(schema: Schema) { self.schema = schema }

    /// The class of that name, if it has documents of its own.
    package func table(_ className: ByteString) throws(DocumentError) -> TableSchema {
        guard let table = schema.table(className) else {
            throw DocumentError(.unknownClass, "expected a class of the realm, came \"\(className.string.shortened)\"")
        }
        switch table.kind {
        case .topLevel: break
        case .embedded:
            throw DocumentError(.unknownClass, "\(className) is an embedded class: its objects are parts of others")
        case .asymmetric:
            throw DocumentError(.unknownClass, "\(className) is an asymmetric class: no object of it stays")
        }
        guard let key = table.key, key.type != .globalKey else {
            throw DocumentError(.unknownClass, "\(className) has no primary key, so it has no documents")
        }
        return table
    }

    // MARK: Objects as documents

    /// - Parameter hidden: columns that are left out.
    package func document(
        of object: StoredObject, key: ObjectKey, _ table: TableSchema, hiding hidden: Set<ColumnID> = []
    ) -> BSONDocument {
        var document = BSONDocument()
        if let schema = table.key, schema.type != .globalKey { document[schema.name] = Self.value(of: key) }
        add(table.columns, of: object, to: &document, hiding: hidden)
        return document
    }

    private func add(
        _ columns: [ColumnSchema], of object: StoredObject, to document: inout BSONDocument,
        hiding hidden: Set<ColumnID> = []
    ) {
        for column in columns where hidden.isEmpty || !hidden.contains(column.id) {
            document[column.name] = value(object[column], column.element)
        }
    }

    /// The document's value for a property's, or an element's.
    package func value(_ value: Value, _ element: ElementType) -> BSONValue {
        switch value {
        case .null: return .null
        case .int(let value): return BSONValue(value)
        case .bool(let value): return .bool(value)
        case .string(let value): return .string(value)
        case .binary(let bytes): return .binary(bytes, subtype: 0)
        case .timestamp(let time): return .date(time.milliseconds)
        case .float(let bits): return .double(Double(Float(bitPattern: bits)))
        case .double(let bits): return .double(Double(bitPattern: bits))
        case .decimal(let value): return .decimal128(value)
        case .objectID(let value): return .objectID(value)
        case .uuid(let value): return .uuid(value)
        case .link(let target):
            let key = Self.value(of: target.key)
            return element.isLinkOfOneClass ? key : ["$ref": .string(target.className), "$id": key]
        case .list(let items), .set(let items): return .array(items.map { self.value($0, element) })
        case .dictionary(let entries):
            let sorted = entries.sorted { $0.key < $1.key }
            return .document(BSONDocument(sorted.lazy.map { ($0.key, self.value($0.value, element)) }))
        case .embedded(let object):
            guard let table = schema.embeddedTarget(of: element) else { return .null }
            var document = BSONDocument()
            add(table.columns, of: object, to: &document)
            return .document(document)
        }
    }

    /// Whether two values stand for the same in documents, which know neither nanoseconds nor floats.
    func reads(_ left: Value, as right: Value, _ element: ElementType) -> Bool {
        switch (left, right) {
        case (.timestamp(let left), .timestamp(let right)): return left.milliseconds == right.milliseconds
        case (.float, .double), (.double, .float): return value(left, element) == value(right, element)
        case (.list(let left), .list(let right)), (.set(let left), .set(let right)):
            return left.count == right.count && zip(left, right).allSatisfy { reads($0, as: $1, element) }
        case (.dictionary(let left), .dictionary(let right)):
            guard left.count == right.count else { return false }
            return left.allSatisfy { key, value in right[key].map { reads(value, as: $0, element) } ?? false }
        case (.embedded(let left), .embedded(let right)):
            guard let table = schema.embeddedTarget(of: element) else { return left == right }
            return table.columns.allSatisfy { reads(left[$0], as: right[$0], $0.element) }
        default: return left == right
        }
    }

    /// A primary key in documents; that of a class without one as text.
    package static func value(of key: ObjectKey) -> BSONValue {
        switch key {
        case .null: .null
        case .int(let value): BSONValue(value)
        case .string(let value): .string(value)
        case .objectID(let value): .objectID(value)
        case .uuid(let value): .uuid(value)
        case .globalKey: .string(ByteString(key.plainText))
        }
    }
}

extension ElementType {
    /// Whether a link says by its key alone where it leads.
    var isLinkOfOneClass: Bool { type == .link && target?.isEmpty == false }
}

extension String {
    /// The text for people, cut if it is long.
    var shortened: String { utf8.count > 100 ? "\(prefix(90))... of \(utf8.count) bytes" : self }
}
