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

    /// Returns the value as a parameter of a column's type.
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
        /// - Throws: `mismatch` if `read` finds nothing in a value.
        func each<Value>(_ read: (StoredValue) -> Value?) throws(StoreError) -> [Value] {
            try values.map { value throws(StoreError) in
                guard let value = read(value) else {
                    throw StoreError(
                        .mismatch, "a row of \(table) has a value that is no \(arrayType(of: type)) in PostgreSQL")
                }
                return value
            }
        }
        /// The same, but for NULL.
        func eachIfAny<Value>(_ read: (StoredValue) -> Value?) throws(StoreError) -> [Value?] {
            try each { value -> Value?? in value == .null ? .some(nil) : read(value).map { .some($0) } }
        }
        switch type {
        case "bool": return .bools(try each { $0.asInteger.map { $0 != 0 } })
        case "float8": return .reals(try each { $0.asReal ?? $0.asInteger.map(Double.init) })
        case "bytea": return .byteStrings(try each(\.asBytes))
        case "int8", "int4", "int2": return .optionalInts(try eachIfAny(\.asInteger))
        default: return .optionalStrings(try eachIfAny(\.asText))
        }
    }

    private var asInteger: Int64? { if case .integer(let number) = self { number } else { nil } }
    private var asReal: Double? { if case .real(let number) = self { number } else { nil } }
    private var asText: String? { if case .text(let text) = self { text } else { nil } }
    private var asBytes: [UInt8]? { if case .bytes(let bytes) = self { bytes } else { nil } }
}
