import Changesets
import RealmState

/// A store as a worker has one: encoded objects by table number and key.
struct MemoryStore {
    private struct Row: Hashable {
        var table: TableID
        var key: ObjectKey
    }

    private var rows: [Row: [UInt8]] = [:]
    private(set) var schema: [UInt8] = []

    func object(_ address: ObjectAddress, _ schema: Schema) -> StoredObject? {
        guard let table = schema.table(address.className)?.id, let bytes = rows[Row(table: table, key: address.key)]
        else { return nil }
        return try? StoredObject(decoding: bytes)
    }

    mutating func write(_ changes: StateChanges, schema: Schema) throws {
        if changes.schemaChanged { self.schema = schema.encoded() }
        for table in changes.erasedTables {
            rows = rows.filter { $0.key.table != table }
        }
        for (table, key, object, _) in changes.upserted {
            rows[Row(table: table, key: key)] = object.encoded()
        }
        for (table, key) in changes.erased {
            rows[Row(table: table, key: key)] = nil
        }
    }

    /// A whole state of what is stored.
    func state() throws -> RealmState {
        let schema = try Schema(decoding: schema)
        var state = RealmState(schema: schema)
        for (row, bytes) in rows {
            guard let table = schema.table(row.table) else { continue }
            state.load(ObjectAddress(table.name, row.key), try StoredObject(decoding: bytes))
        }
        return state
    }
}
