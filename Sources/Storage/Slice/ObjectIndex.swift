package import Changesets

/// An entry of an index: an object of a flexible realm by the value of one of its properties. The bytes of values are made by whoever writes
/// them, such that they are in the order of the values; stores compare bytes.
package struct IndexEntry: Hashable, Sendable {
    package var row: ObjectRow
    package var column: UInt32
    /// A few hundred bytes at most: PostgreSQL's indexes have no room for more.
    package var value: [UInt8]

    package init(row: ObjectRow, column: UInt32, value: [UInt8]) {
        self.row = row
        self.column = column
        self.value = value
    }
}

/// Values from `low` to `high`, both included.
package struct IndexRange: Hashable, Sendable {
    package var low: [UInt8]
    package var high: [UInt8]

    package init(low: [UInt8], high: [UInt8]) {
        self.low = low
        self.high = high
    }
}

/// Objects of one class whose entries in one index lie in some ranges, in the order of value and key.
package struct IndexQuery: Sendable {
    package var realm: RealmID
    package var table: UInt32
    package var column: UInt32
    /// The ranges in ascending order; no value is in two of them.
    package var ranges: [IndexRange]
    /// The last entry that was read before.
    package var after: (value: [UInt8], key: ObjectKey)?

    package init(
        realm: RealmID, table: UInt32, column: UInt32, ranges: [IndexRange],
        after: (value: [UInt8], key: ObjectKey)? = nil
    ) {
        self.realm = realm
        self.table = table
        self.column = column
        self.ranges = ranges
        self.after = after
    }

    /// The rest of the ranges, behind `after`.
    package var rest: [IndexRange] {
        guard let after else { return ranges }
        return ranges.compactMap { range in
            guard !range.high.lexicographicallyPrecedes(after.value) else { return nil }
            return IndexRange(
                low: range.low.lexicographicallyPrecedes(after.value) ? after.value : range.low, high: range.high)
        }
    }
}

/// An object that was found by an index.
package struct IndexedObject: Sendable, Equatable {
    package var value: [UInt8]
    package var row: ObjectRow
    package var body: [UInt8]

    package init(value: [UInt8], row: ObjectRow, body: [UInt8]) {
        self.value = value
        self.row = row
        self.body = body
    }
}
