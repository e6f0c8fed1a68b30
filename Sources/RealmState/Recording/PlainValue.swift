/// The value of a new object in a property that has one value: null or a scalar.
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

extension Value {
    /// Whether it is null or a scalar: neither a link nor anything with values in it.
    var isNullOrScalar: Bool {
        switch self {
        case .link, .embedded, .list, .dictionary, .set: false
        default: true
        }
    }
}

extension StoredObject {
    /// - Parameter values: of several columns, in any order.
    init(_ values: [PlainValue]) {
        var entries = values.map { Entry(column: $0.column.id, value: $0.value) }
        // Most come in the order of their columns.
        let isAscending = zip(entries, entries.dropFirst()).allSatisfy { $0.column < $1.column }
        if !isAscending { entries.sort { $0.column < $1.column } }
        self.init(ascending: entries)
    }
}
