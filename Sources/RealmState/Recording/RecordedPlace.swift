package import Changesets

/// What stands at the end of a field address, as far as recording a change of it needs to know.
///
/// Holds no value: that would be a second owner of a collection, and the change would have to copy it.
package struct RecordedPlace: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// A property that is a single value, of a top-level or embedded object.
        case property
        /// A field that is a collection.
        case list, dictionary, set
        case slot
        case entry
    }
    package enum Content: Hashable, Sendable {
        /// A dictionary entry that does not exist, or the slot behind a list's last.
        case absent
        case null, scalar, embedded
        case list(count: Int)
        case dictionary(count: Int)
        case set(count: Int)
    }
    package var kind: Kind
    package var element: ElementType
    package var content: Content
    /// Of a slot: the size of its list.
    package var listCount = 0
    /// The class that directly holds the field.
    package var owner: ByteString
    /// How many collections are around it.
    package var depth: Int
}

extension RecordedPlace.Content {
    init(_ value: Value) {
        self =
            switch value {
            case .null: .null
            case .embedded: .embedded
            case .list(let items): .list(count: items.count)
            case .dictionary(let entries): .dictionary(count: entries.count)
            case .set(let members): .set(count: members.count)
            default: .scalar
            }
    }
}

extension RecordingTransaction {
    /// Follows an address through the state.
    package func place(_ address: FieldAddress) throws(RecordingError) -> RecordedPlace {
        let table = try table(address.object.className)
        guard let object = state.object(address.object) else { throw noSuchObject(address.object) }
        return try PlaceFinder(schema: state.schema).find(address.field, in: object, table, address.path[...])
    }
}

private struct PlaceFinder {
    let schema: Schema

    func find(
        _ field: ByteString, in object: StoredObject, _ table: TableSchema, _ path: ArraySlice<PathStep>
    ) throws(RecordingError) -> RecordedPlace {
        guard let column = table.column(field) else {
            throw RecordingError(
                .noSuchField, table.name, field, "the class has no such field, or it is its primary key")
        }
        let value = object[column]
        guard path.isEmpty else {
            let depth = column.collection == .single ? 0 : 1
            return try descend(value, column, path, column.collection != .single, table, depth)
        }
        let kind: RecordedPlace.Kind
        switch column.collection {
        case .single: kind = .property
        case .list: kind = .list
        case .dictionary: kind = .dictionary
        case .set: kind = .set
        }
        return RecordedPlace(
            kind: kind, element: column.element, content: .init(value), owner: table.name,
            depth: kind == .property ? 0 : 1)
    }

    /// `isColumn`: whether the value is the column's own collection, so that slots have the column's element type.
    private func descend(
        _ value: Value, _ column: ColumnSchema, _ path: ArraySlice<PathStep>, _ isColumn: Bool, _ table: TableSchema,
        _ depth: Int
    ) throws(RecordingError) -> RecordedPlace {
        guard let next = path.first else { throw wrong(table, column, "the path ends early") }
        let rest = path.dropFirst()
        let element = isColumn ? column.element : ElementType.mixed
        if !isColumn, !column.element.isMixed {
            return try enter(value, column, path, table)
        }
        let inner = isColumn ? depth : depth + 1
        switch (value, next) {
        case (.list(let items), .index(let index)):
            guard rest.isEmpty else {
                guard items.indices.contains(index) else { throw outOfRange(table, column, index, items.count) }
                return try descend(items[index], column, rest, false, table, inner)
            }
            guard index >= 0, index <= items.count else { throw outOfRange(table, column, index, items.count) }
            let content = index < items.count ? RecordedPlace.Content(items[index]) : .absent
            return RecordedPlace(
                kind: .slot, element: element, content: content, listCount: items.count, owner: table.name, depth: inner
            )
        case (.dictionary(let entries), .key(let key)):
            guard rest.isEmpty else {
                guard let entry = entries[key] else { throw wrong(table, column, "the dictionary has no such key") }
                return try descend(entry, column, rest, false, table, inner)
            }
            let content = entries[key].map(RecordedPlace.Content.init) ?? .absent
            return RecordedPlace(kind: .entry, element: element, content: content, owner: table.name, depth: inner)
        default: throw wrong(table, column, "the path goes on, but there is no such collection")
        }
    }

    private func enter(
        _ value: Value, _ column: ColumnSchema, _ path: ArraySlice<PathStep>, _ table: TableSchema
    ) throws(RecordingError) -> RecordedPlace {
        guard let embedded = schema.embeddedTarget(of: column.element), case .key(let field) = path.first else {
            throw wrong(table, column, "the path goes on below a scalar or link")
        }
        guard case .embedded(let object) = value else { throw wrong(table, column, "there is no embedded object") }
        return try find(field, in: object, embedded, path.dropFirst())
    }

    private func wrong(_ table: TableSchema, _ column: ColumnSchema, _ message: String) -> RecordingError {
        RecordingError(.wrongType, table.name, column.name, message)
    }

    private func outOfRange(
        _ table: TableSchema, _ column: ColumnSchema, _ index: Int, _ count: Int
    ) -> RecordingError {
        RecordingError(.outOfRange, table.name, column.name, "index \(index), the list has \(count) elements")
    }
}
