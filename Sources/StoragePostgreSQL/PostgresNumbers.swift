package import PostgreSQL
import Storage
package import SyncModel

extension PostgresRow {
    package func number(_ column: Int) -> UInt64 { UInt64(stored: int(column)) }
    package func optionalNumber(_ column: Int) -> UInt64? { optionalInt(column).map(UInt64.init(stored:)) }
    package func number<Value: WireInteger>(_ column: Int) -> Value { Value(stored: int(column)) }
    package func optionalNumber<Value: WireInteger>(_ column: Int) -> Value? {
        optionalInt(column).map(Value.init(stored:))
    }
}

extension PostgresPipeline {
    /// Makes a pipeline of one statement.
    init(_ sql: String, _ values: [PostgresValue]) {
        self.init()
        add(sql, values)
    }
}
