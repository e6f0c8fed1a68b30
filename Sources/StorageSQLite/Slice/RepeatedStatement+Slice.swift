import Changesets
import SQLiteStatements
import Storage
import SyncModel

/// What the rows of a slice are made of.
extension RepeatedStatement {
    func bind(_ index: Int32, _ value: UInt64) { bind(index, value.stored) }

    func bind(_ index: Int32, _ value: some WireInteger) { bind(index, value.rawValue) }

    /// Binds a table's number and the object's key to this parameter and the next one.
    func bind(_ index: Int32, _ row: ObjectRow) {
        bind(index, Int64(row.table))
        bind(index + 1, row.key.detachedEncoding())
    }

    /// Binds an index entry's table, column, value and key to this parameter and the next three.
    func bind(_ index: Int32, _ entry: IndexEntry) {
        bind(index, Int64(entry.row.table))
        bind(index + 1, Int64(entry.column))
        bind(index + 2, entry.value)
        bind(index + 3, entry.row.key.detachedEncoding())
    }
}

extension RepeatedStatement.Columns {
    func number(_ index: Int32) -> UInt64 { UInt64(stored: int(index)) }

    func number<Value: WireInteger>(_ index: Int32) -> Value { Value(rawValue: number(index)) }
}
