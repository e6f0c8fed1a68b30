/// The values of one object by column number. A column that is missing holds its default.
///
/// Also what an embedded object is: it lives inside the value of the object that owns it.
package struct StoredObject: Hashable, Sendable {
    package struct Entry: Hashable, Sendable {
        package var column: ColumnID
        package var value: Value
    }

    /// The entries in ascending order of columns, each column once.
    package private(set) var entries: [Entry] = []

    package init() {}

    /// Makes an object without values that gets as many, or fewer.
    init(roomFor count: Int) {
        // Objects of a class with very many columns may have few of them.
        entries.reserveCapacity(min(count, 16))
    }

    package init(_ values: [ColumnID: Value]) {
        entries = values.map { Entry(column: $0.key, value: $0.value) }.sorted { $0.column < $1.column }
    }

    /// The entries as they are: in ascending order of columns, each once.
    init(ascending entries: [Entry]) { self.entries = entries }

    /// The value stored for a column, nil for one that holds its default.
    package subscript(_ column: ColumnID) -> Value? {
        get {
            let position = position(of: column)
            guard position < entries.count, entries[position].column == column else { return nil }
            return entries[position].value
        }
        set {
            let position = position(of: column)
            let isPresent = position < entries.count && entries[position].column == column
            switch (isPresent, newValue) {
            case (true, let value?): entries[position].value = value
            case (true, nil): entries.remove(at: position)
            case (false, let value?):
                let entry = Entry(column: column, value: value)
                if position == entries.count { entries.append(entry) } else { entries.insert(entry, at: position) }
            case (false, nil): break
            }
        }
    }

    /// The value that a column holds, changeable in place.
    package subscript(_ column: ColumnSchema) -> Value {
        get { self[column.id] ?? column.defaultValue }
        _modify {
            let position = position(of: column.id)
            if position == entries.count || entries[position].column != column.id {
                entries.insert(Entry(column: column.id, value: column.defaultValue), at: position)
            }
            yield &entries[position].value
        }
    }

    /// Drops values of columns that the table no longer has.
    mutating func prune(to table: TableSchema) {
        let live = Set(table.columns.map(\.id))
        entries.removeAll { !live.contains($0.column) }
    }

    /// Where the column is, or would have to be inserted.
    private func position(of column: ColumnID) -> Int {
        // Columns are numbered from 0, so in an object that has them all the number is the position.
        let guess = Int(column.rawValue)
        if guess < entries.count, entries[guess].column == column { return guess }
        var low = 0
        var high = entries.count
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].column < column { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

package typealias EmbeddedObject = StoredObject
