/// What a new object holds in a property that has one value: null or a scalar.
package struct PlainValue: Sendable {
    package var column: ColumnSchema
    package var value: Value
    /// Whether the class says so, and not who makes the object.
    package var isDefault: Bool

    package init(_ column: ColumnSchema, _ value: Value, isDefault: Bool = false) {
        self.column = column
        self.value = value
        self.isDefault = isDefault
    }
}

extension StoredObject {
    /// - Parameter values: of several columns, in any order.
    init(_ values: [PlainValue]) {
        self.init(
            ascending: values.sorted { $0.column.id < $1.column.id }
                .map { Entry(column: $0.column.id, value: $0.value) })
    }
}
