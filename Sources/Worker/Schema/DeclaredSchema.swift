import Changesets
import Storage

/// What changesets declare of a schema: the classes and properties that they would add, and whether they take some away.
struct DeclaredSchema {
    private(set) var elements: [SchemaElement] = []
    /// The first class or property that is taken away.
    private(set) var erased: String?

    init(of changesets: some Sequence<Changeset>) {
        for changeset in changesets {
            for instruction in changeset.instructions {
                let text = { (string: InternedString) in changeset.strings[string]?.string ?? "" }
                switch instruction {
                case .addTable(let added):
                    declare(SchemaElement(className: text(added.table), type: added.kind.name(text)))
                case .addColumn(let added):
                    declare(
                        SchemaElement(
                            className: text(added.table), property: text(added.field), type: added.typeName(text)))
                case .eraseTable(let table): erased = erased ?? text(table)
                case .eraseColumn(let table, let field): erased = erased ?? "\(text(table)).\(text(field))"
                default: continue
                }
            }
        }
    }

    /// What has names that no realm takes is not declared by anybody: it will not apply.
    private mutating func declare(_ element: SchemaElement) {
        guard element.className.utf8.count <= ChangesetLimits.maxClassNameBytes,
            element.property?.utf8.count ?? 0 <= ChangesetLimits.maxFieldNameBytes,
            element.type.utf8.count <= 2 * ChangesetLimits.maxFieldNameBytes
        else { return }
        elements.append(element)
    }
}

extension Instruction.AddTable.Kind {
    fileprivate func name(_ text: (InternedString) -> String) -> String {
        switch self {
        case .embedded: "embedded"
        case .topLevel(let keyField, let keyType, let keyNullable, let asymmetric):
            "\(asymmetric ? "asymmetric" : "object")(\(text(keyField)): \(keyType.name)\(keyNullable ? "?" : ""))"
        }
    }
}

extension Instruction.AddColumn {
    fileprivate func typeName(_ text: (InternedString) -> String) -> String {
        var element = type == .null ? "mixed" : type.name
        if let linkTarget { element += " " + text(linkTarget) }
        if nullable, type != .null, type != .link { element += "?" }
        return switch collection {
        case .single: element
        case .list: "list<\(element)>"
        case .set: "set<\(element)>"
        case .dictionary: "dictionary<\(element)>"
        }
    }
}

extension PayloadType {
    /// As App Services' schemas call it.
    fileprivate var name: String {
        switch self {
        case .int: "int"
        case .bool: "bool"
        case .string: "string"
        case .binary: "binData"
        case .timestamp: "date"
        case .float: "float"
        case .double: "double"
        case .decimal: "decimal"
        case .link: "link"
        case .objectID: "objectId"
        case .uuid: "uuid"
        case .globalKey: "globalKey"
        case .objectValue: "object"
        case .null: "mixed"
        case .set, .list, .dictionary, .erased: "\(rawValue)"
        }
    }
}
