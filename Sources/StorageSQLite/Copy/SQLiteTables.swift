import Foundation
import GRDB
package import Storage

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
    static let own = ["grdb_migrations", "sqlite_sequence"]

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
        return try await SQLiteFiles.use(file, as: "copy", orSay: "\(file) cannot be copied") { try $0.write(body) }
    }

    // MARK: Reading

    package func tables(of part: StorePart) async throws(StoreError) -> [StoredTable] {
        try await onDatabase(of: part) { db in
            let names = try String.fetchAll(
                db, sql: "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
            return try names.filter { !Self.own.contains($0) }.map { name in
                StoredTable(name: name, columns: try db.columns(in: name).map(\.name).filter { !Self.isOwn($0, name) })
            }
        }
    }

    /// Whether a column is SQLite's alone: a slice's file has one row of ownership, number 0.
    private static func isOwn(_ column: String, _ table: String) -> Bool { table == "ownership" && column == "id" }

    package func page(
        of table: StoredTable, in part: StorePart, after end: [StoredValue]?, limit: Int
    ) async throws(StoreError) -> StoredPage {
        try await onDatabase(of: part) { db in
            let key = try db.primaryKey(table.name).columns.map(\.quotedDatabaseIdentifier)
            let columns = table.columns.map(\.quotedDatabaseIdentifier) + key
            let keys = key.joined(separator: ", ")
            let start = end.map { "WHERE (\(keys)) > (\(databaseQuestionMarks(count: $0.count)))" } ?? ""
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT \(columns.joined(separator: ", ")) FROM \(table.name.quotedDatabaseIdentifier) \(start)
                    ORDER BY \(keys) LIMIT ?
                    """, arguments: StatementArguments((end ?? []).map(\.databaseValue) + [limit.databaseValue])
            ).map { row in row.databaseValues.map(StoredValue.init) }
            return StoredPage(
                rows: rows.map { Array($0.prefix(table.columns.count)) },
                end: rows.count < limit ? nil : rows.last.map { Array($0.suffix(key.count)) })
        }
    }

    // MARK: Writing

    package func beginCopy(of cluster: String) async throws(StoreError) -> Set<StorePart>? {
        switch try await SQLiteStoreInspector(folder: folder).copied() {
        case cluster:
            let settings = try await onDatabase(of: .control) {
                try String.fetchAll($0, sql: "SELECT name FROM settings")
            }
            return CopyMark.parts(doneBy: settings)
        case let other?: throw StoreError.unfinishedCopy(of: other, at: folder)
        case nil: break
        }
        let isEmpty = ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).isEmpty
        guard isEmpty else {
            throw StoreError(.alreadyExists, "\(folder) is not empty: a copy needs a folder of its own")
        }
        _ = try await stores.control()
        try await mark(CopyMark.cluster, cluster)
        return nil
    }

    private func mark(_ name: String, _ value: String) async throws(StoreError) {
        try await onDatabase(of: .control) { db in
            try db.run(ClusterSettings.putting, name, value)
        }
    }

    package func prepare(_ part: StorePart) async throws(StoreError) {
        guard case .slice(let slice) = part else { return }
        _ = try await stores.store(for: slice, mayMake: true)
    }

    package func insert(
        _ rows: [[StoredValue]], into table: StoredTable, in part: StorePart
    ) async throws(StoreError) {
        let columns = table.columns + (table.name == "ownership" ? ["id"] : [])
        let more: [DatabaseValue] = table.name == "ownership" ? [0.databaseValue] : []
        try await onDatabase(of: part) { db in
            let statement = try db.makeStatement(
                sql: """
                    INSERT INTO \(table.name.quotedDatabaseIdentifier)
                        (\(columns.map(\.quotedDatabaseIdentifier).joined(separator: ", ")))
                    VALUES (\(databaseQuestionMarks(count: columns.count)))
                    """)
            for row in rows { try statement.execute(arguments: StatementArguments(row.map(\.databaseValue) + more)) }
        }
    }

    package func clear(_ table: StoredTable, in part: StorePart) async throws(StoreError) {
        try await onDatabase(of: part) { db in
            let marks = table.name == "settings" ? "WHERE name NOT LIKE 'copy%'" : ""
            try db.execute(sql: "DELETE FROM \(table.name.quotedDatabaseIdentifier) \(marks)")
        }
    }

    package func finish(_ part: StorePart) async throws(StoreError) { try await mark(CopyMark.done(part), "") }

    package func endCopy() async throws(StoreError) {
        try await onDatabase(of: .control) { try $0.run("DELETE FROM settings WHERE name LIKE 'copy%'") }
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
