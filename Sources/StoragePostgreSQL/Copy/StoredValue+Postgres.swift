import PostgreSQL
import Storage

/// Values by the names of PostgreSQL's types.
extension StoredValue {
    init(_ row: PostgresRow, _ column: Int, type: String?) {
        guard !row.isNull(column) else {
            self = .null
            return
        }
        switch type {
        case "bool": self = .integer(row.bool(column) ? 1 : 0)
        case "float8": self = .real(row.real(column))
        case "bytea": self = .bytes(row.bytes(column))
        case "int8", "int4", "int2": self = .integer(row.int(column))
        default: self = .text(row.string(column))
        }
    }

    /// As a parameter of a column's type.
    func parameter(of type: String?) -> PostgresValue {
        switch (self, type) {
        case (.integer(let number), "bool"): .bool(number != 0)
        case (.integer(let number), _): .int(number)
        case (.real(let number), _): .real(number)
        case (.bytes(let bytes), _): .bytes(bytes)
        case (.text(let text), _): .string(text)
        case (.null, _): .text(nil)
        }
    }

    static func arrayType(of type: String?) -> String {
        switch type {
        case "bool": "boolean"
        case "float8": "double precision"
        case "bytea": "bytea"
        case "int8", "int4", "int2": "bigint"
        default: "text"
        }
    }

    /// A column of rows.
    /// - Throws: `mismatch` if a value is none of the column's type.
    static func list(
        _ values: [StoredValue], of type: String?, in table: String
    ) throws(StoreError) -> PostgresValue {
        func wrong() -> StoreError {
            StoreError(.mismatch, "a row of \(table) has a value that is no \(arrayType(of: type)) in PostgreSQL")
        }
        switch type {
        case "bool":
            return .bools(
                try values.map { value throws(StoreError) in
                    guard case .integer(let number) = value else { throw wrong() }
                    return number != 0
                })
        case "float8":
            return .reals(
                try values.map { value throws(StoreError) in
                    switch value {
                    case .real(let number): return number
                    case .integer(let number): return Double(number)
                    default: throw wrong()
                    }
                })
        case "bytea":
            return .byteStrings(
                try values.map { value throws(StoreError) in
                    guard case .bytes(let bytes) = value else { throw wrong() }
                    return bytes
                })
        case "int8", "int4", "int2":
            return .optionalInts(
                try values.map { value throws(StoreError) in
                    switch value {
                    case .integer(let number): return number
                    case .null: return nil
                    default: throw wrong()
                    }
                })
        default:
            return .optionalStrings(
                try values.map { value throws(StoreError) in
                    switch value {
                    case .text(let text): return text
                    case .null: return nil
                    default: throw wrong()
                    }
                })
        }
    }
}
