package import SyncModel

/// A row of the control store's tables, whatever the engine: values are found by the names of their columns, so that a table may
/// get more of them.
package protocol ControlRow {
    func textIfAny(_ column: String) throws -> String?
    func integerIfAny(_ column: String) throws -> Int?
    func booleanIfAny(_ column: String) throws -> Bool?
    func bytesIfAny(_ column: String) throws -> [UInt8]?
}

extension ControlRow {
    package func text(_ column: String) throws -> String { try valued(column, textIfAny(column)) }
    package func integer(_ column: String) throws -> Int { try valued(column, integerIfAny(column)) }
    package func boolean(_ column: String) throws -> Bool { try valued(column, booleanIfAny(column)) }
    package func bytes(_ column: String) throws -> [UInt8] { try valued(column, bytesIfAny(column)) }
    package func unsigned(_ column: String) throws -> UInt64 { UInt64(clamping: try integer(column)) }
    package func unsignedIfAny(_ column: String) throws -> UInt64? {
        try integerIfAny(column).map { UInt64(clamping: $0) }
    }

    /// - Throws: `corrupt` if there is no value.
    private func valued<Value>(_ column: String, _ value: Value?) throws -> Value {
        guard let value else { throw StoreError(.corrupt, "a stored row has no \(column)") }
        return value
    }
}

/// A parameter of a statement that all engines understand. Nil is NULL of the type.
package enum ControlValue: Sendable {
    case text(String?)
    case integer(Int64?)
    case boolean(Bool)
    case bytes([UInt8])

    package static func count(_ value: Int) -> ControlValue { .integer(Int64(value)) }
    /// Databases' integers are signed; ours never exceed them in practice, and must not trap if they do.
    package static func number(_ value: UInt64?) -> ControlValue { .integer(value.map { Int64(clamping: $0) }) }
    package static func number(_ ident: FileIdent?) -> ControlValue { number(ident?.rawValue) }
}
