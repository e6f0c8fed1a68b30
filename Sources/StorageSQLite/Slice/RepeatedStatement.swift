import Changesets
import GRDB
import GRDBSQLite
import Storage
import SyncModel

/// A statement that runs once for every row of a batch, bound without GRDB's arguments: for the small rows of a slice those
/// cost several times what SQLite itself does.
struct RepeatedStatement {
    private let db: Database
    /// Owns what `statement` points to.
    private let owner: Statement
    private let statement: SQLiteStatement
    /// Tells SQLite to copy what is bound.
    private static var transient: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }

    init(_ db: Database, _ sql: String) throws {
        self.db = db
        owner = try db.cachedStatement(sql: sql)
        statement = owner.sqliteStatement
        sqlite3_reset(statement)
    }

    // MARK: Binding; parameters are numbered from 1

    func bind(_ index: Int32, _ value: Int64) { sqlite3_bind_int64(statement, index, value) }
    func bind(_ index: Int32, _ value: UInt64) { sqlite3_bind_int64(statement, index, value.stored) }

    func bind(_ index: Int32, _ value: some WireInteger) { bind(index, value.rawValue) }

    func bind(_ index: Int32, _ bytes: [UInt8]) {
        bytes.withUnsafeBytes { buffer in
            // Without an address SQLite would bind NULL.
            if let address = buffer.baseAddress, !buffer.isEmpty {
                _ = sqlite3_bind_blob64(statement, index, address, UInt64(buffer.count), Self.transient)
            } else {
                _ = sqlite3_bind_zeroblob(statement, index, 0)
            }
        }
    }

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

    // MARK: Running

    /// Runs a statement that returns no rows.
    func run() throws {
        let code = sqlite3_step(statement)
        sqlite3_reset(statement)
        guard code == SQLITE_DONE else { throw error(code) }
    }

    /// Whether there is a first row; `read` is given the statement for its columns.
    func first<T>(_ read: (Columns) -> T) throws -> T? {
        let code = sqlite3_step(statement)
        defer { sqlite3_reset(statement) }
        switch code {
        case SQLITE_ROW: return read(Columns(statement: statement))
        case SQLITE_DONE: return nil
        default: throw error(code)
        }
    }

    private func error(_ code: Int32) -> DatabaseError {
        DatabaseError(
            resultCode: ResultCode(rawValue: code),
            message: db.sqliteConnection.flatMap { sqlite3_errmsg($0) }.map { String(cString: $0) })
    }

    /// The columns of the row at hand, numbered from 0.
    struct Columns {
        fileprivate let statement: SQLiteStatement

        func int(_ index: Int32) -> Int64 { sqlite3_column_int64(statement, index) }
        func number(_ index: Int32) -> UInt64 { UInt64(stored: int(index)) }

        func number<Value: WireInteger>(_ index: Int32) -> Value { Value(rawValue: number(index)) }

        func bytes(_ index: Int32) -> [UInt8] {
            guard let address = sqlite3_column_blob(statement, index) else { return [] }
            return Array(
                UnsafeRawBufferPointer(start: address, count: Int(sqlite3_column_bytes(statement, index))))
        }
    }
}
