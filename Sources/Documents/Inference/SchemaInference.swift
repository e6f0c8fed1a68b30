package import Changesets
import ExtendedJSON
package import RealmState

/// A class or property that documents need and the realm lacks.
package enum SchemaAddition: Hashable, Sendable {
    case table(ByteString, KeySchema)
    case column(ByteString, ByteString, ElementType, CollectionType)
}

extension SchemaAddition {
    /// The addition as people read it: `class Note (_id: objectId)`, `Note.tags: list<string>`.
    package var text: String {
        switch self {
        case .table(let name, let key):
            return "class \(name) (\(key.name): \(key.type.documentName))"
        case .column(let className, let name, let element, let collection):
            let isMixed = element.type == .null
            let type = element.type.documentName + (element.nullable && !isMixed ? "?" : "")
            let whole =
                switch collection {
                case .single: type
                case .list: "list<\(type)>"
                case .set: "set<\(type)>"
                case .dictionary: "dictionary<\(type)>"
                }
            return "\(className).\(name): \(whole)"
        }
    }
}

/// Classes and properties as documents suggest them, for development mode.
///
/// | in documents | property |
/// |---|---|
/// | number; true or false; string; `$date`, `$oid`, `$uuid`, `$numberDecimal`, `$binary` | int or double; bool; string; of that type; all of them optional |
/// | array of values of one of these types | list |
/// | any other array | list of mixed values |
/// | object | dictionary of mixed values |
/// | null, values of several types, a link | mixed value |
///
/// The primary key is `_id`: an integer, a string, an objectId or a UUID, and an objectId if the document lacks it.
package struct SchemaInference {
    /// The most properties of one class that are inferred, and the most classes of one batch.
    private static let maxProperties = 1_000
    private static let maxClasses = 100
    private static let keyName: ByteString = "_id"

    private struct Suggestion: Equatable {
        /// Nil while only null was seen.
        var type: PayloadType?
        var collection = CollectionType.single
    }

    private struct Suggested {
        var key: PayloadType?
        var order: [ByteString] = []
        var fields: [ByteString: Suggestion] = [:]
    }

    private let schema: Schema
    private var order: [ByteString] = []
    private var classes: [ByteString: Suggested] = [:]

    /// The elements that a batch's insertions, upserts and `$set` need beside a schema, classes before their properties.
    ///
    /// - Throws: `unknownClass`, `wrongType`, `invalidValue` for names that no realm takes, or `limit`.
    package static func additions(for batch: WriteBatch, to schema: Schema) throws(DocumentError) -> [SchemaAddition] {
        var inference = SchemaInference(schema: schema)
        for (index, write) in batch.writes.enumerated() {
            try at(JSONPlace([.key("writes"), .index(index)])) { () throws(DocumentError) in
                try inference.read(write)
            }
        }
        return try inference.additions()
    }

    private init(schema: Schema) { self.schema = schema }

    private mutating func read(_ write: DocumentWrite) throws(DocumentError) {
        switch write.operation {
        case .insert(let document), .upsert(let document):
            try at(.key("document")) { () throws(DocumentError) in try read(document, write.className, makes: true) }
        case .replace(_, let document):
            try at(.key("document")) { () throws(DocumentError) in try read(document, write.className, makes: false) }
        case .update(_, let updates):
            var fields = BSONDocument()
            for update in updates {
                if case .set(let value) = update.op, update.path.elements.count == 1 {
                    fields[update.path.first] = value
                }
            }
            try read(fields, write.className, makes: false)
        case .delete: break
        }
    }

    private mutating func read(
        _ document: BSONDocument, _ className: ByteString, makes: Bool
    ) throws(DocumentError) {
        let table = schema.table(className)
        guard table != nil || makes else { return }
        if classes[className] == nil {
            guard order.count < Self.maxClasses else {
                throw DocumentError(.limit, "expected at most \(Self.maxClasses) classes in a batch")
            }
            try check(className, maxBytes: ChangesetLimits.maxClassNameBytes, "a class")
            order.append(className)
            classes[className] = Suggested()
        }
        for member in document {
            try at(.key(member.key)) { () throws(DocumentError) in
                if table == nil, member.key == Self.keyName {
                    try readKey(member.value, of: className)
                } else if table?.column(member.key) == nil, table?.key?.name != member.key {
                    try read(member, className)
                }
            }
        }
    }

    private mutating func readKey(_ value: BSONValue, of className: ByteString) throws(DocumentError) {
        let type: PayloadType
        switch value {
        case .int32, .int64: type = .int
        case .string: type = .string
        case .objectID: type = .objectID
        case .uuid: type = .uuid
        default:
            throw DocumentError(
                .wrongType, "expected an int, string, objectId or uuid as primary key, came \(value.typeName)")
        }
        let known = classes[className]?.key
        guard known == nil || known == type else {
            throw DocumentError(
                .wrongType, "expected \(known?.documentName ?? ""), as in a write before, came \(value.typeName)")
        }
        classes[className]?.key = type
    }

    private mutating func read(_ member: BSONDocument.Member, _ className: ByteString) throws(DocumentError) {
        try check(member.key, maxBytes: ChangesetLimits.maxFieldNameBytes, "a property")
        let new = Self.suggestion(member.value)
        guard let known = classes[className]?.fields[member.key] else {
            guard classes[className]?.order.count ?? 0 < Self.maxProperties else {
                throw DocumentError(.limit, "expected at most \(Self.maxProperties) new properties of a class")
            }
            classes[className]?.order.append(member.key)
            classes[className]?.fields[member.key] = new
            return
        }
        classes[className]?.fields[member.key] = Self.union(known, new)
    }

    private func check(_ name: ByteString, maxBytes: Int, _ what: String) throws(DocumentError) {
        let isName = !name.isEmpty && name.count <= maxBytes && String(validating: name.bytes, as: UTF8.self) != nil
        let isOdd =
            name.bytes.contains(0) || name.bytes.contains(UInt8(ascii: ".")) || name.first == UInt8(ascii: "$")
        guard isName, !isOdd else {
            throw DocumentError(
                .invalidValue,
                "expected a name of 1 to \(maxBytes) bytes for \(what), without dots and without $ at its beginning")
        }
    }

    private static func suggestion(_ value: BSONValue) -> Suggestion {
        switch value {
        case .null: return Suggestion()
        case .array(let items):
            let types = items.map { suggestion($0) }
            let element = types.dropFirst().reduce(types.first ?? Suggestion()) { union($0, $1) }
            return Suggestion(type: element.collection == .single ? element.type ?? .null : .null, collection: .list)
        case .document(let document):
            return document["$ref"] == nil
                ? Suggestion(type: .null, collection: .dictionary) : Suggestion(type: .null)
        default: return Suggestion(type: scalar(value))
        }
    }

    private static func scalar(_ value: BSONValue) -> PayloadType {
        switch value {
        case .bool: .bool
        case .int32, .int64: .int
        case .double: .double
        case .decimal128: .decimal
        case .string: .string
        case .binary: .binary
        case .uuid: .uuid
        case .date: .timestamp
        case .objectID: .objectID
        default: .null
        }
    }

    private static func union(_ left: Suggestion, _ right: Suggestion) -> Suggestion {
        if left == right { return left }
        guard let leftType = left.type else { return right.collection == .single ? right : Suggestion(type: .null) }
        guard let rightType = right.type else { return left.collection == .single ? left : Suggestion(type: .null) }
        guard left.collection == right.collection else { return Suggestion(type: .null) }
        let isNumber = [leftType, rightType].allSatisfy { $0 == .int || $0 == .double }
        return Suggestion(
            type: leftType == rightType ? leftType : isNumber ? .double : .null, collection: left.collection)
    }

    private func additions() throws(DocumentError) -> [SchemaAddition] {
        var additions: [SchemaAddition] = []
        for name in order where schema.table(name) == nil {
            let type = classes[name]?.key ?? .objectID
            additions.append(.table(name, KeySchema(name: Self.keyName, type: type, nullable: false)))
        }
        for name in order {
            guard let suggested = classes[name] else { continue }
            for field in suggested.order {
                guard let suggestion = suggested.fields[field] else { continue }
                let element = ElementType(type: suggestion.type ?? .null, nullable: true)
                additions.append(.column(name, field, element, suggestion.collection))
            }
        }
        return additions
    }
}
