package import PostgreSQL
package import SyncModel

// Numbers are stored by their bits: the database's integers are signed.

extension UInt64 {
    /// The same bits as a signed integer.
    package var stored: Int64 { Int64(bitPattern: self) }
    package init(stored value: Int64) { self.init(bitPattern: value) }
}

extension WireInteger {
    package var stored: Int64 { rawValue.stored }
    package init(stored value: Int64) { self.init(rawValue: UInt64(stored: value)) }
}

extension PostgresRow {
    package func number(_ column: Int) -> UInt64 { UInt64(stored: int(column)) }
    package func optionalNumber(_ column: Int) -> UInt64? { optionalInt(column).map(UInt64.init(stored:)) }
    package func number<Value: WireInteger>(_ column: Int) -> Value { Value(stored: int(column)) }
    package func optionalNumber<Value: WireInteger>(_ column: Int) -> Value? {
        optionalInt(column).map(Value.init(stored:))
    }
}
