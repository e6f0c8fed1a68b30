package import Changesets

extension RecordingTransaction {
    /// Adds a top-level class, unless it is there already.
    package mutating func createTable(
        _ className: ByteString, key: KeySchema, isAsymmetric: Bool = false
    ) throws(RecordingError) {
        let kind: TableType = isAsymmetric ? .asymmetric : .topLevel
        guard try isNew(className, kind, key) else { return }
        let table = encoder.strings.intern(className)
        let keyField = encoder.strings.intern(key.name)
        let topLevel = Instruction.AddTable.Kind.topLevel(
            keyField: keyField, keyType: key.type, keyNullable: key.nullable, asymmetric: isAsymmetric)
        try record(.addTable(.init(table: table, kind: topLevel)), className)
    }

    /// Adds an embedded class, unless it is there already.
    package mutating func createEmbeddedTable(_ className: ByteString) throws(RecordingError) {
        guard try isNew(className, .embedded, nil) else { return }
        try record(.addTable(.init(table: encoder.strings.intern(className), kind: .embedded)), className)
    }

    package mutating func eraseTable(_ className: ByteString) throws(RecordingError) {
        _ = try table(className)
        try record(.eraseTable(table: encoder.strings.intern(className)), className)
    }

    /// Adds a column, unless it is there already.
    package mutating func addColumn(
        _ className: ByteString, _ name: ByteString, _ element: ElementType, collection: CollectionType = .single
    ) throws(RecordingError) {
        if let existing = try table(className).column(name) {
            guard existing.element == element, existing.collection == collection else {
                throw RecordingError(.schemaMismatch, className, name, "the field exists with another type")
            }
            return
        }
        // The number does not matter: the instruction does not carry it.
        let column = ColumnSchema(
            id: ColumnID(rawValue: 0), name: name, element: element, collection: collection, keyType: .string)
        let instruction = column.addition(to: className, &encoder.strings)
        if element.type != .link { _ = encoder.strings.intern("") }
        try record(instruction, className, name)
    }

    package mutating func eraseColumn(_ className: ByteString, _ name: ByteString) throws(RecordingError) {
        guard try table(className).column(name) != nil else {
            throw RecordingError(.noSuchField, className, name, "the class has no such field, or it is its primary key")
        }
        let table = encoder.strings.intern(className)
        try record(.eraseColumn(table: table, field: encoder.strings.intern(name)), className, name)
    }

    private func isNew(_ className: ByteString, _ kind: TableType, _ key: KeySchema?) throws(RecordingError) -> Bool {
        guard let existing = state.schema.table(className) else { return true }
        guard existing.kind == kind, existing.key == key else {
            throw RecordingError(.schemaMismatch, className, nil, "the class exists with another kind or primary key")
        }
        return false
    }
}
