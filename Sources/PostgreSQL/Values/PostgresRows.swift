import CPostgreSQL

/// A statement's result: its rows, if it returns any, as the server has sent them.
///
/// Sendable though it points to libpq's memory: that does not change before it is freed, with this object.
package final class PostgresRows: RandomAccessCollection, @unchecked Sendable {
    fileprivate let result: OpaquePointer
    private let count32: Int32

    /// Takes over a result of libpq's.
    init(_ result: OpaquePointer) {
        self.result = result
        count32 = PQntuples(result)
    }

    deinit { PQclear(result) }

    package var startIndex: Int { 0 }
    package var endIndex: Int { Int(count32) }
    package subscript(position: Int) -> PostgresRow {
        PostgresRow(rows: self, index: Int32(truncatingIfNeeded: position))
    }

    /// The names of the columns.
    package var columns: [String] {
        (0..<PQnfields(result)).map { column in PQfname(result, column).map { String(cString: $0) } ?? "" }
    }

    /// How many rows the statement has inserted, updated, deleted or returned.
    package var affected: Int { PQcmdTuples(result).flatMap { Int(String(cString: $0)) } ?? 0 }
}

/// One row of a result; columns are counted from 0. What is asked for in another form than the column has reads as 0 or empty: the
/// statement says what its columns are.
package struct PostgresRow {
    private let rows: PostgresRows
    private let index: Int32

    fileprivate init(rows: PostgresRows, index: Int32) {
        self.rows = rows
        self.index = index
    }

    package func isNull(_ column: Int) -> Bool { PQgetisnull(rows.result, index, Int32(column)) != 0 }

    package func byteCount(_ column: Int) -> Int { Int(PQgetlength(rows.result, index, Int32(column))) }

    /// A column's bytes where the result has them; valid during `body`.
    package func withBytes<Value>(_ column: Int, _ body: (UnsafeRawBufferPointer) throws -> Value) rethrows -> Value {
        try withExtendedLifetime(rows) {
            let start = PQgetvalue(rows.result, index, Int32(column))
            return try body(UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : byteCount(column)))
        }
    }

    /// Returns the value of a column of type `bigint`, `integer` or `smallint`.
    package func int(_ column: Int) -> Int64 {
        withBytes(column) { bytes in
            switch bytes.count {
            case 8: Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
            case 4: Int64(Int32(bigEndian: bytes.loadUnaligned(as: Int32.self)))
            case 2: Int64(Int16(bigEndian: bytes.loadUnaligned(as: Int16.self)))
            default: 0
            }
        }
    }

    package func optionalInt(_ column: Int) -> Int64? { isNull(column) ? nil : int(column) }

    /// Returns the value of a column of type `double precision`.
    package func real(_ column: Int) -> Double {
        withBytes(column) {
            $0.count == 8 ? Double(bitPattern: UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self))) : 0
        }
    }

    package func bool(_ column: Int) -> Bool { withBytes(column) { $0.first == 1 } }

    package func text(_ column: Int) -> String { withBytes(column) { String(decoding: $0, as: UTF8.self) } }

    package func bytes(_ column: Int) -> [UInt8] { withBytes(column) { Array($0) } }
}

/// The answer to a pipeline: a result for each of its statements.
package struct PostgresAnswer: Sendable {
    let results: [PostgresRows]

    package var count: Int { results.count }
    package subscript(index: Int) -> PostgresRows { results[index] }
}
