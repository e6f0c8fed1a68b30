import Foundation
import GRDB
package import Storage
import SyncModel

/// The rows of the stores in a folder, as they are kept. For copies, while no process uses the folder.
package final class SQLiteTables: StoreCopyTarget {
    private let folder: String
    private let stores: SQLiteStores

    package init(folder: String) {
        self.folder = folder
        stores = SQLiteStores(folder: folder)
    }

    package var place: String { folder }

    /// Tables that an engine keeps for itself.
    private static let own = ["grdb_migrations", "sqlite_sequence"]

    private func file(of part: StorePart) -> String {
        switch part {
        case .control: "\(folder)/control.sqlite"
        case .slice(let slice): SQLiteSliceStore.file(of: slice, in: folder)
        }
    }

    private func onDatabase<Value: Sendable>(
        of part: StorePart, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(StoreError) -> Value {
        let file = file(of: part)
        do {
            return try await onOwnThread {
                guard FileManager.default.fileExists(atPath: file) else {
                    throw StoreError(.notFound, "\(file) is missing")
                }
                var configuration = Configuration()
                configuration.label = "copy"
                configuration.busyMode = .timeout(10)
                let database = try DatabaseQueue(path: file, configuration: configuration)
                defer { try? database.close() }
                return try database.write(body)
            }
        } catch {
            throw SQLiteFailure.storeError(error, "\(file) cannot be copied")
        }
    }

    // MARK: Reading

    package func tables(of part: StorePart) async throws(StoreError) -> [StoredTable] {
        try await onDatabase(of: part) { db in
            let names = try String.fetchAll(
                db, sql: "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
            return try names.filter { !Self.own.contains($0) }.map { name in
                StoredTable(
                    name: name, columns: try db.columns(in: name).map(\.name), key: try db.primaryKey(name).columns)
            }
        }
    }

    package func rows(
        of table: StoredTable, in part: StorePart, after key: [StoredValue]?, limit: Int
    ) async throws(StoreError) -> [[StoredValue]] {
        try await onDatabase(of: part) { db in
            let columns = table.columns.map(\.quotedDatabaseIdentifier).joined(separator: ", ")
            let keys = table.key.map(\.quotedDatabaseIdentifier).joined(separator: ", ")
            let start = key.map { "WHERE (\(keys)) > (\(databaseQuestionMarks(count: $0.count)))" } ?? ""
            let rows = try Row.fetchAll(
                db.cachedStatement(
                    sql: """
                        SELECT \(columns) FROM \(table.name.quotedDatabaseIdentifier) \(start) ORDER BY \(keys) LIMIT ?
                        """),
                arguments: StatementArguments((key ?? []).map(\.databaseValue) + [limit.databaseValue]))
            return rows.map { row in row.databaseValues.map(StoredValue.init) }
        }
    }

    // MARK: Writing

    package func beginCopy(of cluster: String) async throws(StoreError) -> Bool {
        switch try await SQLiteStoreInspector(folder: folder).copied() {
        case cluster: return true
        case let other?: throw StoreError.unfinishedCopy(of: other, at: folder)
        case nil: break
        }
        let isEmpty = ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).isEmpty
        guard isEmpty else {
            throw StoreError(.alreadyExists, "\(folder) is not empty: a copy needs a folder of its own")
        }
        _ = try await stores.control()
        try await onDatabase(of: .control) { db in
            try db.run("INSERT INTO settings (name, value) VALUES (?, ?)", SQLiteStoreInspector.copyMark, cluster)
        }
        return false
    }

    package func prepare(_ part: StorePart) async throws(StoreError) {
        guard case .slice(let slice) = part else { return }
        _ = try await stores.store(for: slice, mayMake: true)
    }

    package func lastKey(of table: StoredTable, in part: StorePart) async throws(StoreError) -> [StoredValue]? {
        try await onDatabase(of: part) { db in
            let keys = table.key.map(\.quotedDatabaseIdentifier)
            return try Row.fetchOne(
                db,
                sql: """
                    SELECT \(keys.joined(separator: ", ")) FROM \(table.name.quotedDatabaseIdentifier)
                    ORDER BY \(keys.map { "\($0) DESC" }.joined(separator: ", ")) LIMIT 1
                    """
            ).map { $0.databaseValues.map(StoredValue.init) }
        }
    }

    package func insert(
        _ rows: [[StoredValue]], into table: StoredTable, in part: StorePart
    ) async throws(StoreError) {
        try await onDatabase(of: part) { db in
            let columns = table.columns.map(\.quotedDatabaseIdentifier).joined(separator: ", ")
            let statement = try db.cachedStatement(
                sql: """
                    INSERT OR REPLACE INTO \(table.name.quotedDatabaseIdentifier) (\(columns))
                    VALUES (\(databaseQuestionMarks(count: table.columns.count)))
                    """)
            for row in rows { try statement.execute(arguments: StatementArguments(row.map(\.databaseValue))) }
        }
    }

    package func clear(_ table: StoredTable, in part: StorePart) async throws(StoreError) {
        try await onDatabase(of: part) { try $0.execute(sql: "DELETE FROM \(table.name.quotedDatabaseIdentifier)") }
    }

    /// SQLite's own numbering goes by the highest number that was ever inserted.
    package func finish(_ part: StorePart) async throws(StoreError) {}

    package func endCopy() async throws(StoreError) {
        try await onDatabase(of: .control) { db in
            try db.run("DELETE FROM settings WHERE name = ?", SQLiteStoreInspector.copyMark)
        }
    }
}

extension StoredValue {
    fileprivate init(_ value: DatabaseValue) {
        switch value.storage {
        case .null: self = .null
        case .int64(let number): self = .integer(number)
        case .double(let number): self = .real(number)
        case .string(let text): self = .text(text)
        case .blob(let data): self = .bytes([UInt8](data))
        }
    }

    fileprivate var databaseValue: DatabaseValue {
        switch self {
        case .null: .null
        case .integer(let number): number.databaseValue
        case .real(let number): number.databaseValue
        case .text(let text): text.databaseValue
        case .bytes(let bytes): Data(bytes).databaseValue
        }
    }
}
