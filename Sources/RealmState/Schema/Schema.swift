package import Changesets

/// The classes of a realm, by name and by number.
package struct Schema: Sendable, Equatable {
    /// The classes in the order in which they were added.
    package private(set) var tables: [TableSchema] = []
    package private(set) var nextTableID: UInt32 = 0
    private var positionsByName: [ByteString: Int] = [:]
    private var positionsByID: [TableID: Int] = [:]

    package init() {}

    package func table(_ name: ByteString) -> TableSchema? { positionsByName[name].map { tables[$0] } }
    package func table(_ id: TableID) -> TableSchema? { positionsByID[id].map { tables[$0] } }

    package func isEmbedded(_ name: ByteString) -> Bool { table(name)?.kind == .embedded }

    /// The embedded class that a link of this type holds objects of, nil for any other type.
    package func embeddedTarget(of element: ElementType) -> TableSchema? {
        guard element.type == .link, let target = element.target, let table = table(target), table.kind == .embedded
        else { return nil }
        return table
    }

    mutating func addTable(_ name: ByteString, kind: TableType, key: KeySchema?) throws(RealmStateError) -> TableID {
        guard nextTableID < .max else { throw .bad("no more tables") }
        let id = TableID(rawValue: nextTableID)
        nextTableID += 1
        append(TableSchema(id: id, name: name, kind: kind, key: key))
        return id
    }

    mutating func eraseTable(_ name: ByteString) {
        guard let position = positionsByName[name] else { return }
        var rest = tables
        rest.remove(at: position)
        tables = []
        positionsByName = [:]
        positionsByID = [:]
        for table in rest {
            append(table)
        }
    }

    mutating func updateTable(
        _ name: ByteString, _ body: (inout TableSchema) throws(RealmStateError) -> Void
    ) throws(RealmStateError) {
        guard let position = positionsByName[name] else { return }
        try body(&tables[position])
    }

    mutating func restore(tables: [TableSchema], nextTableID: UInt32) {
        for table in tables {
            append(table)
        }
        self.nextTableID = nextTableID
    }

    private mutating func append(_ table: TableSchema) {
        positionsByName[table.name] = tables.count
        positionsByID[table.id] = tables.count
        tables.append(table)
    }
}

/// The same for modules with a `Schema` of their own.
package typealias StoredSchema = Schema
