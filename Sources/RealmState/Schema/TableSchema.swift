package import Changesets

/// The primary key of a top-level class.
package struct KeySchema: Hashable, Sendable {
    /// Empty for a table without a primary key.
    package var name: ByteString
    /// `globalKey` for a table without a primary key.
    package var type: PayloadType
    package var nullable: Bool

    package init(name: ByteString, type: PayloadType, nullable: Bool) {
        self.name = name
        self.type = type
        self.nullable = nullable
    }
}

/// One class of a realm.
package struct TableSchema: Hashable, Sendable {
    package let id: TableID
    package let name: ByteString
    package let kind: TableType
    /// Nil exactly for embedded classes.
    package let key: KeySchema?
    /// The columns in the order in which they were added.
    package private(set) var columns: [ColumnSchema] = []
    package private(set) var nextColumnID: UInt32 = 0
    private var positions: [ByteString: Int] = [:]

    package init(id: TableID, name: ByteString, kind: TableType, key: KeySchema?) {
        self.id = id
        self.name = name
        self.kind = kind
        self.key = key
    }

    package func column(_ name: ByteString) -> ColumnSchema? { positions[name].map { columns[$0] } }

    /// Where a column is in `columns`.
    ///
    /// - Parameter hint: where it may well be: columns are mostly asked for in their order.
    func position(of name: ByteString, near hint: Int) -> Int? {
        hint < columns.count && columns[hint].name == name ? hint : positions[name]
    }

    /// The columns from a number on, which are those that were added last.
    package func columns(from first: UInt32) -> ArraySlice<ColumnSchema> {
        var start = columns.endIndex
        while start > columns.startIndex, columns[start - 1].id.rawValue >= first { start -= 1 }
        return columns[start...]
    }

    /// The values that an object stores, with their columns; those of erased columns are left out.
    func values(of object: StoredObject) -> some Sequence<(ColumnSchema, Value)> {
        object.entries.lazy.compactMap { entry in
            columns.first { $0.id == entry.column }.map { ($0, entry.value) }
        }
    }

    /// Whether some column was erased, so that objects may hold values that belong to none.
    var hasErasedColumns: Bool { Int(nextColumnID) > columns.count }

    mutating func addColumn(
        _ name: ByteString, element: ElementType, collection: CollectionType, keyType: PayloadType?
    ) throws(RealmStateError) {
        guard nextColumnID < .max else { throw .bad("no more columns") }
        let id = ColumnID(rawValue: nextColumnID)
        nextColumnID += 1
        append(ColumnSchema(id: id, name: name, element: element, collection: collection, keyType: keyType))
    }

    mutating func eraseColumn(_ name: ByteString) {
        guard let position = positions.removeValue(forKey: name) else { return }
        columns.remove(at: position)
        for later in position..<columns.count {
            positions[columns[later].name] = later
        }
    }

    mutating func restore(columns: [ColumnSchema], nextColumnID: UInt32) {
        for column in columns {
            append(column)
        }
        self.nextColumnID = nextColumnID
    }

    private mutating func append(_ column: ColumnSchema) {
        positions[column.name] = columns.count
        columns.append(column)
    }
}
