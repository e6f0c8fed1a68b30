import PostgreSQL
import Storage

/// A row whose values are found by the names of their columns, so that a table may get more of them.
struct ControlRow {
    private let row: PostgresRow
    private let columns: [String: Int]

    static func list(_ rows: PostgresRows) -> [ControlRow] {
        let columns = Dictionary(
            rows.columns.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        return rows.map { ControlRow(row: $0, columns: columns) }
    }

    /// The values of the columns in their order.
    /// - Throws: `corrupt` for a column that is not there.
    private func index(of column: String) throws -> Int {
        guard let index = columns[column] else {
            throw StoreError(.corrupt, "the database's tables have no column \(column), which this version needs")
        }
        return index
    }

    /// - Throws: `corrupt` if there is no value.
    private func valued(_ column: String) throws -> Int {
        let index = try index(of: column)
        guard !row.isNull(index) else { throw StoreError(.corrupt, "a stored row has no \(column)") }
        return index
    }

    func text(_ column: String) throws -> String { row.string(try valued(column)) }
    func textIfAny(_ column: String) throws -> String? { row.optionalString(try index(of: column)) }
    func integer(_ column: String) throws -> Int { Int(row.int(try valued(column))) }
    func integerIfAny(_ column: String) throws -> Int? { row.optionalInt(try index(of: column)).map { Int($0) } }
    func unsigned(_ column: String) throws -> UInt64 { UInt64(clamping: row.int(try valued(column))) }
    func unsignedIfAny(_ column: String) throws -> UInt64? {
        row.optionalInt(try index(of: column)).map { UInt64(clamping: $0) }
    }
    func boolean(_ column: String) throws -> Bool { row.bool(try valued(column)) }
    func bytes(_ column: String) throws -> [UInt8] { row.bytes(try valued(column)) }
}
