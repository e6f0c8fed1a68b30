import GRDB
import Storage

/// One step of deleting what an erased realm has left, within one transaction.
struct SQLiteSweep {
    let realm: RealmID
    let maxRows: Int
    let maxBytes: Int

    /// Deletes up to about as much as one step may.
    ///
    /// - Returns: whether nothing is left.
    func run(_ db: Database) throws -> Bool {
        var (rows, bytes) = (0, 0)
        for swept in SweptTable.all {
            while let end = try stretch(of: swept, maxRows - rows, maxBytes - bytes, db) {
                let columns = swept.key.joined(separator: ", ")
                let places = swept.key.map { _ in "?" }.joined(separator: ", ")
                try db.cachedStatement(
                    sql: "DELETE FROM \(swept.name) WHERE realm = ? AND (\(columns)) <= (\(places))"
                ).execute(arguments: [realm.value] + StatementArguments(end.key))
                rows += end.rows
                bytes += end.bytes
                guard rows < maxRows, bytes < maxBytes else { return false }
            }
        }
        return true
    }

    /// The key of the last of a table's first rows that one step may delete, and how much they are; nil if there are none.
    private func stretch(
        of swept: SweptTable, _ maxRows: Int, _ maxBytes: Int, _ db: Database
    ) throws -> (key: [DatabaseValue], rows: Int, bytes: Int)? {
        let columns = swept.key.joined(separator: ", ")
        let bytesOfRow = swept.content.map { "length(\($0))" } ?? "0"
        let found = try Row.fetchCursor(
            db.cachedStatement(
                sql: """
                    SELECT \(bytesOfRow), \(columns) FROM \(swept.name) WHERE realm = ? ORDER BY \(columns) LIMIT ?
                    """), arguments: [realm.value, max(1, maxRows)])
        var (rows, bytes) = (0, 0)
        var key: [DatabaseValue]?
        while rows == 0 || bytes < maxBytes, let row = try found.next() {
            rows += 1
            bytes += row[0] as Int
            key = row.databaseValues.dropFirst().map { $0 }
        }
        return key.map { ($0, rows, bytes) }
    }
}
