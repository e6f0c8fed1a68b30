import Changesets

/// The instructions that change a schema.
extension Schema {
    /// - Returns: the class, if it is new.
    mutating func apply(_ addTable: Instruction.AddTable, _ strings: InternTable) throws(RealmStateError) -> TableID? {
        let name = try strings.name(addTable.table)
        let kind: TableType
        var key: KeySchema?
        switch addTable.kind {
        case .embedded: kind = .embedded
        case .topLevel(let keyField, let keyType, let nullable, let asymmetric):
            kind = asymmetric ? .asymmetric : .topLevel
            key = KeySchema(name: try strings.name(keyField), type: keyType, nullable: nullable)
        }
        if let existing = table(name) {
            // The reference takes a table without primary key for any table that is there.
            if key?.type == .globalKey { return nil }
            guard existing.kind == kind, existing.key == key else {
                throw .bad("AddTable: the class exists with another kind or primary key")
            }
            return nil
        }
        guard name.count <= ChangesetLimits.maxClassNameBytes else { throw .bad("AddTable: name too long") }
        guard key.map({ $0.name.count <= ChangesetLimits.maxFieldNameBytes }) ?? true else {
            throw .bad("AddTable: name of the primary key too long")
        }
        return try self.addTable(name, kind: kind, key: key)
    }

    /// - Returns: the class that there is no more.
    mutating func erase(_ name: ByteString) throws(RealmStateError) -> TableID {
        guard let table = table(name) else { throw .bad("EraseTable: no such class") }
        let isReferenced = tables.contains { other in
            other.id != table.id && other.columns.contains { $0.element.type == .link && $0.element.target == name }
        }
        guard !isReferenced else { throw .bad("EraseTable: another class has a column that links to it") }
        eraseTable(name)
        return table.id
    }

    /// - Returns: whether the column is new.
    mutating func apply(_ addColumn: Instruction.AddColumn, _ strings: InternTable) throws(RealmStateError) -> Bool {
        let className = try strings.name(addColumn.table)
        let field = try strings.name(addColumn.field)
        guard let table = table(className) else { throw .bad("AddColumn: no such class") }
        let target = try addColumn.linkTarget.map { interned throws(RealmStateError) in try strings.name(interned) }
        let element = ElementType(type: addColumn.type, nullable: addColumn.nullable, target: target)
        guard try !isThere(field, element, addColumn.collection, in: table) else { return false }

        try check(element, addColumn.collection)
        if addColumn.collection == .dictionary, addColumn.keyType != .string {
            throw .bad("AddColumn: dictionary keys can only be strings")
        }
        guard field.count <= ChangesetLimits.maxFieldNameBytes else { throw .bad("AddColumn: name too long") }
        try updateTable(className) { table throws(RealmStateError) in
            try table.addColumn(
                field, element: element, collection: addColumn.collection, keyType: addColumn.keyType)
        }
        return true
    }

    mutating func erase(_ className: ByteString, _ field: ByteString) throws(RealmStateError) {
        guard let table = table(className) else { throw .bad("EraseColumn: no such class") }
        guard table.column(field) != nil else { throw .bad("EraseColumn: no such field, or the primary key") }
        try updateTable(className) { table throws(RealmStateError) in table.eraseColumn(field) }
    }

    /// Whether the class has the column already. Nullability is not compared.
    private func isThere(
        _ field: ByteString, _ element: ElementType, _ collection: CollectionType, in table: TableSchema
    ) throws(RealmStateError) -> Bool {
        if let existing = table.column(field) {
            guard existing.element.type == element.type, existing.collection == collection,
                existing.element.target == element.target
            else { throw .bad("AddColumn: the field exists with another type") }
            return true
        }
        guard let key = table.key, key.type != .globalKey, key.name == field else { return false }
        guard key.type == element.type, collection == .single else {
            throw .bad("AddColumn: the field is the primary key, of another type")
        }
        return true
    }

    private func check(_ element: ElementType, _ collection: CollectionType) throws(RealmStateError) {
        guard element.type.rawValue >= 0 else { throw .bad("AddColumn: no column has type \(element.type)") }
        if element.isMixed, !element.nullable, collection != .dictionary {
            throw .bad("AddColumn: a mixed column must be nullable")
        }
        guard element.type == .link else { return }
        guard let target = element.target else { throw .bad("AddColumn: a link without a target class") }
        if target.isEmpty {
            guard collection == .single || collection == .list else {
                throw .bad("AddColumn: an untyped link can only be single or in a list")
            }
            return
        }
        guard let table = table(target) else { throw .bad("AddColumn: the link's target class is missing") }
        guard table.kind != .embedded || collection != .set else {
            throw .bad("AddColumn: embedded objects cannot be in a set")
        }
    }
}
