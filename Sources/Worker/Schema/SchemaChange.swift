import Changesets
import Documents
import RealmState
import Storage
import SyncModel

/// What changesets have added to a realm's schema.
struct SchemaChange {
    /// Classes and properties that were not there before; a class comes before its properties.
    private(set) var added: [SchemaElement] = []
    /// The first new class whose objects are sent and never read; flexible sync alone has such classes.
    private(set) var asymmetric: String?
    /// The first new link that stock clients cannot make, and why.
    private(set) var badLink: String?
    /// Why stock clients have no room for the schema; nil if they have.
    private(set) var overflow: String?
    /// The first new name that is no text that every store keeps as it is.
    private(set) var badName: String?

    /// - Parameter old: the same realm's, before; its classes and properties have kept their numbers.
    init(from old: Schema, to new: Schema) {
        for table in new.tables {
            let before = old.table(table.id)
            guard before?.nextColumnID != table.nextColumnID else { continue }
            let columns = table.columns(from: before?.nextColumnID ?? 0)
            let names = (before == nil ? [table.name] + (table.key.map { [$0.name] } ?? []) : []) + columns.map(\.name)
            badName = badName ?? names.first { !$0.isStorableText }?.string
            for column in columns where badLink == nil {
                guard let target = column.element.target else { continue }
                let name = "\(table.name.string).\(column.name.string)"
                if target.isEmpty {
                    badLink = "\(name) links to objects of any class: a mixed property can, and no other"
                } else if new.table(target)?.kind == .asymmetric {
                    badLink = "\(name) links to \(target.string), which is asymmetric: nothing links to its objects"
                }
            }
            if table.columns.count > Self.maxColumns {
                overflow = "\(table.columns.count.counted("property", "properties")) of \(table.name.string)"
            }
            if before == nil, table.kind == .asymmetric { asymmetric = asymmetric ?? table.name.string }
            if before == nil { added.append(SchemaElement(className: table.name.string, type: table.typeName)) }
            for column in columns {
                added.append(
                    SchemaElement(
                        className: table.name.string, property: column.name.string, type: column.typeName))
            }
        }
        if new.tables.count > Self.maxTables { overflow = new.tables.count.counted("class", "classes") }
    }

    /// Stock clients number classes, and a class's properties with the links to it, by 16 bits; some classes are their own.
    static let maxTables = 32_768
    static let maxColumns = 32_768
}

extension Changeset {
    /// Whether it may change the schema of the realm that it is applied to.
    var declaresSchema: Bool {
        instructions.contains { instruction in
            switch instruction {
            case .addTable, .addColumn, .eraseTable, .eraseColumn: true
            default: false
            }
        }
    }

    /// Whether applying it leaves another schema.
    func adds(to schema: Schema) -> Bool {
        instructions.contains { instruction in
            switch instruction {
            case .addTable(let added): strings[added.table].flatMap { schema.table($0) } == nil
            case .addColumn(let added):
                strings[added.table].flatMap { schema.table($0) }.flatMap { table in
                    strings[added.field].flatMap { table.column($0) }
                } == nil
            case .eraseTable, .eraseColumn: true
            default: false
            }
        }
    }

    /// The classes whose objects are sent and never read: those that there are, and those that it adds.
    func asymmetricClasses(in schema: Schema) -> Set<ByteString> {
        var names = Set(schema.tables.lazy.filter { $0.kind == .asymmetric }.map(\.name))
        for case .addTable(let table) in instructions {
            guard case .topLevel(_, _, _, asymmetric: true) = table.kind, let name = strings[table.table],
                schema.table(name) == nil
            else { continue }
            names.insert(name)
        }
        return names
    }

    /// Whether applying it leaves no more in the realm than there was.
    var onlyRemoves: Bool {
        instructions.allSatisfy { instruction in
            switch instruction {
            case .eraseObject, .arrayErase, .setErase, .clear: true
            case .update(let update): update.value == .erased || update.value == .null
            default: false
            }
        }
    }
}

extension ByteString {
    /// Whether it is UTF-8 without U+0000, at which some stores end a text.
    fileprivate var isStorableText: Bool { !bytes.contains(0) && string.utf8.elementsEqual(bytes) }
}

extension TableSchema {
    fileprivate var typeName: String {
        guard let key else { return "embedded" }
        return "\(kind == .asymmetric ? "asymmetric" : "object")"
            + "(\(key.name.string): \(key.type.documentName)\(key.nullable ? "?" : ""))"
    }
}

extension ColumnSchema {
    fileprivate var typeName: String {
        var element = self.element.type.documentName
        if let target = self.element.target { element += " " + target.string }
        if self.element.nullable, !self.element.isMixed, self.element.type != .link { element += "?" }
        return switch collection {
        case .single: element
        case .list: "list<\(element)>"
        case .set: "set<\(element)>"
        case .dictionary: "dictionary<\(element)>"
        }
    }
}
