extension Schema {
    /// The schema with some classes left out, and with other columns. Classes and columns keep their numbers, so that objects can be read by
    /// either schema.
    ///
    /// - Parameter columns: a class's; nil: the class is left out.
    package func projected(_ columns: (TableSchema) -> [ColumnSchema]?) -> Schema {
        var projected = Schema()
        projected.restore(
            tables: tables.compactMap { table in columns(table).map { table.projected($0) } },
            nextTableID: nextTableID)
        return projected
    }
}

extension TableSchema {
    /// The class with other columns.
    package func projected(_ columns: [ColumnSchema]) -> TableSchema {
        var projected = TableSchema(id: id, name: name, kind: kind, key: key)
        projected.restore(columns: columns, nextColumnID: nextColumnID)
        return projected
    }
}
