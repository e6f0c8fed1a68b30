import PostgreSQL
import Storage

struct PostgresControlRow: ControlRow {
    private let row: PostgresRow
    private let columns: [String: Int]

    static func list(_ rows: PostgresRows) -> [any ControlRow] {
        let columns = Dictionary(
            rows.columns.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        return rows.map { PostgresControlRow(row: $0, columns: columns) }
    }

    func textIfAny(_ column: String) throws -> String? { row.optionalString(try index(of: column)) }
    func integerIfAny(_ column: String) throws -> Int? { row.optionalInt(try index(of: column)).map { Int($0) } }
    func booleanIfAny(_ column: String) throws -> Bool? { try present(column).map(row.bool) }
    func bytesIfAny(_ column: String) throws -> [UInt8]? { try present(column).map(row.bytes) }

    /// - Throws: `corrupt` for a column that is not there.
    private func index(of column: String) throws -> Int {
        guard let index = columns[column] else {
            throw StoreError(.corrupt, "the database's tables have no column \(column), which this version needs")
        }
        return index
    }

    /// Nil for NULL.
    private func present(_ column: String) throws -> Int? {
        let index = try index(of: column)
        return row.isNull(index) ? nil : index
    }
}
