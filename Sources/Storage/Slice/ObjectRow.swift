package import Changesets

/// Where an object is kept: its table's number in the realm's schema, and its key.
package struct ObjectRow: Hashable, Sendable {
    package var table: UInt32
    package var key: ObjectKey

    package init(table: UInt32, key: ObjectKey) {
        self.table = table
        self.key = key
    }
}
