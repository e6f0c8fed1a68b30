import Foundation
import GRDB
import Storage

struct SQLiteControlRow: ControlRow {
    let row: Row

    func textIfAny(_ column: String) throws -> String? { try value(column) }
    func integerIfAny(_ column: String) throws -> Int? { try value(column) }
    func booleanIfAny(_ column: String) throws -> Bool? { try value(column) }
    func bytesIfAny(_ column: String) throws -> [UInt8]? { try (value(column) as Data?).map(Array.init) }

    private func value<Value: DatabaseValueConvertible>(_ column: String) throws -> Value? {
        guard let stored: DatabaseValue = row[column], !stored.isNull else { return nil }
        guard let value = Value.fromDatabaseValue(stored) else {
            throw StoreError(.corrupt, "a stored row's \(column) does not have the expected form")
        }
        return value
    }
}

extension Database {
    /// - Parameter arguments: of `?`, in their order.
    func rows(_ sql: String, _ arguments: (any DatabaseValueConvertible)?...) throws -> [any ControlRow] {
        try Row.fetchAll(self, sql: sql, arguments: StatementArguments(arguments)).map(SQLiteControlRow.init(row:))
    }

    /// - Parameter values: of `$1` and so on.
    func rows(_ sql: String, values: [ControlValue]) throws -> [any ControlRow] {
        try Row.fetchAll(self, sql: sql, arguments: StatementArguments(values)).map(SQLiteControlRow.init(row:))
    }

    /// Runs a statement that returns no rows, and keeps it for the next time.
    ///
    /// - Parameter values: of `$1` and so on.
    func run(_ sql: String, values: [ControlValue]) throws {
        try cachedStatement(sql: sql).execute(arguments: StatementArguments(values))
    }
}

extension StatementArguments {
    fileprivate init(_ values: [ControlValue]) {
        let named = values.enumerated().map { ("\($0.offset + 1)", $0.element.databaseValue) }
        self.init(Dictionary(named) { first, _ in first })
    }
}

extension ControlValue {
    fileprivate var databaseValue: DatabaseValue {
        switch self {
        case .text(let text): text?.databaseValue ?? .null
        case .integer(let number): number?.databaseValue ?? .null
        case .boolean(let isTrue): isTrue.databaseValue
        case .bytes(let bytes): Data(bytes).databaseValue
        }
    }
}
