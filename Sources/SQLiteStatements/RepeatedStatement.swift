package import GRDB
internal import GRDBSQLite

/// A statement that runs once for every row of many, bound without GRDB's arguments: for small rows those
/// cost several times what SQLite itself does.
package struct RepeatedStatement {
    private let db: Database
    /// Owns what `statement` points to.
    private let owner: Statement
    private let statement: SQLiteStatement
    /// Tells SQLite to copy what is bound.
    private static var transient: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }

    package init(_ db: Database, _ sql: String) throws {
        self.db = db
        owner = try db.cachedStatement(sql: sql)
        statement = owner.sqliteStatement
        sqlite3_reset(statement)
    }

    // MARK: Binding; parameters are numbered from 1

    package func bind(_ index: Int32, _ value: Int64) { sqlite3_bind_int64(statement, index, value) }

    package func bind(_ index: Int32, _ text: String) {
        var text = text
        text.withUTF8 { buffer in
            // Without an address SQLite would bind NULL.
            let start = buffer.isEmpty ? nil : buffer.baseAddress
            _ = withUnsafePointer(to: 0 as CChar) { empty in
                sqlite3_bind_text(
                    statement, index, start.map { UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self) } ?? empty,
                    Int32(clamping: buffer.count), Self.transient)
            }
        }
    }

    package func bind(_ index: Int32, _ bytes: [UInt8]) {
        bytes.withUnsafeBytes { buffer in
            // Without an address SQLite would bind NULL.
            if let address = buffer.baseAddress, !buffer.isEmpty {
                _ = sqlite3_bind_blob64(statement, index, address, UInt64(buffer.count), Self.transient)
            } else {
                _ = sqlite3_bind_zeroblob(statement, index, 0)
            }
        }
    }

    // MARK: Running

    /// Runs a statement that returns no rows.
    package func run() throws {
        let code = sqlite3_step(statement)
        sqlite3_reset(statement)
        guard code == SQLITE_DONE else { throw error(code) }
    }

    /// The value that `read` makes of the columns of the first row; nil if there is none.
    package func first<T>(_ read: (Columns) throws -> T) throws -> T? {
        let code = sqlite3_step(statement)
        defer { sqlite3_reset(statement) }
        switch code {
        case SQLITE_ROW: return try read(Columns(statement: statement))
        case SQLITE_DONE: return nil
        default: throw error(code)
        }
    }

    /// Whether there is a row.
    package func findsRow() throws -> Bool { try first { _ in true } ?? false }

    private func error(_ code: Int32) -> DatabaseError {
        DatabaseError(
            resultCode: ResultCode(rawValue: code),
            message: db.sqliteConnection.flatMap { sqlite3_errmsg($0) }.map { String(cString: $0) })
    }

    /// The columns of the row at hand, numbered from 0.
    package struct Columns {
        fileprivate let statement: SQLiteStatement

        package func int(_ index: Int32) -> Int64 { sqlite3_column_int64(statement, index) }

        package func bytes(_ index: Int32) -> [UInt8] {
            guard let address = sqlite3_column_blob(statement, index) else { return [] }
            return Array(
                UnsafeRawBufferPointer(start: address, count: Int(sqlite3_column_bytes(statement, index))))
        }
    }
}
