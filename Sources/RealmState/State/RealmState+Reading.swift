import Changesets

extension RealmState {
    /// The value at an address: of a field, a slot, an entry, or a field of an embedded object. Nil where nothing is.
    package func value(at address: FieldAddress) -> Value? {
        guard let table = schema.table(address.object.className), let object = object(address.object),
            let column = table.column(address.field)
        else { return nil }
        return value(in: object[column], column, isColumn: column.collection != .single, address.path[...])
    }

    private func value(
        in value: Value, _ column: ColumnSchema, isColumn: Bool, _ path: ArraySlice<PathStep>
    ) -> Value? {
        guard let next = path.first else { return value }
        let rest = path.dropFirst()
        switch (value, next) {
        case (.list(let items), .index(let index)):
            guard items.indices.contains(index) else { return nil }
            return self.value(in: items[index], column, isColumn: false, rest)
        case (.dictionary(let entries), .key(let key)):
            return entries[key].flatMap { self.value(in: $0, column, isColumn: false, rest) }
        case (.embedded(let object), .key(let field)):
            guard let inner = schema.embeddedTarget(of: column.element)?.column(field) else { return nil }
            return self.value(in: object[inner], inner, isColumn: inner.collection != .single, rest)
        default: return nil
        }
    }
}
