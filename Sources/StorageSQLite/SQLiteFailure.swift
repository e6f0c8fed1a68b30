import GRDB
import Storage
import SyncModel

/// An SQLite error without its statement and arguments, which may hold secrets.
struct SQLiteFailure: Error, CustomStringConvertible, Sendable {
    var code: Int32
    var message: String

    var description: String { "SQLite \(code): \(message)" }

    static func storeError(_ error: any Error, _ message: String) -> StoreError {
        switch error {
        case let error as StoreError: return error
        case let error as DatabaseError:
            let failure = SQLiteFailure(
                code: error.extendedResultCode.rawValue, message: error.message ?? "no further words")
            return StoreError(code(of: error.resultCode), message, underlying: failure)
        case is DecodingError, is RowDecodingError:
            return StoreError(.corrupt, "\(message): what is stored does not have the expected form")
        case is CancellationError: return StoreError(.unavailable, "\(message): cancelled")
        default: return StoreError(.unavailable, message, underlying: error)
        }
    }

    private static func code(of result: ResultCode) -> StoreError.Code {
        switch result {
        case .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_MISMATCH, .SQLITE_FORMAT: .corrupt
        case .SQLITE_CONSTRAINT: .alreadyExists
        default: .unavailable
        }
    }
}

extension Database {
    /// Runs a statement that returns no rows, and keeps it for the next time.
    func run(_ sql: String, _ arguments: (any DatabaseValueConvertible)?...) throws {
        try cachedStatement(sql: sql).execute(arguments: StatementArguments(arguments))
    }
}

extension Database {
    /// Runs reads that see one state of the file. SQLite locks the file for each statement outside of a transaction, and many short reads take
    /// twice as long.
    func reading<Value>(_ body: (Database) throws -> Value) throws -> Value {
        isInsideTransaction ? try body(self) : try transact(.deferred) { try body(self) }
    }

    /// Runs one transaction that has the file's write lock from its beginning.
    func transact<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try transact(.immediate) { try body(self) }
    }

    private func transact<Value>(_ kind: TransactionKind, _ body: () throws -> Value) throws -> Value {
        var result: Value?
        try inTransaction(kind) {
            result = try body()
            return .commit
        }
        guard let result else { throw StoreError(.unavailable, "the transaction did not run") }
        return result
    }
}

/// SQLite's integers are signed; ours never exceed them in practice, and must not trap if they do.
func sqlInteger(_ value: UInt64?) -> Int64? { value.map { Int64(clamping: $0) } }
func sqlInteger(_ value: FileIdent?) -> Int64? { sqlInteger(value?.rawValue) }
