internal import Changesets
internal import RealmState

/// Makes or changes objects from values by the names of properties, in a write transaction.
struct DynamicObjectWriter {
    let instance: RealmInstance
    let policy: Realm.UpdatePolicy

    /// - Parameter value: names that the class does not have are left out.
    /// - Returns: the object's place; an unknown class, a wrong type and an existing object under `.error` trap.
    func write(_ className: String, _ value: [String: Any?]) -> ObjectHandle {
        let schema = instance.schema
        guard let table = schema.table(ByteString(className)), let key = table.key else {
            preconditionFailure("the schema has no class \(className) of objects with a primary key")
        }
        let conversion = ValueConversion(schema: schema)
        let (address, values) = ValueConversion.orTrap {
            let address = ObjectAddress(table.name, try conversion.key(value[key.name.string] ?? nil, of: table))
            let values = try value.sorted { $0.key < $1.key }.compactMap { name, item in
                try table.column(ByteString(name)).map { ($0.name, try conversion.value(item, for: $0)) }
            }
            return (address, values)
        }
        instance.edit { try write(values, at: address, of: table, &$0) }
        return ObjectHandle(instance, address)
    }

    private func write(
        _ values: [(ByteString, Value)], at address: ObjectAddress, of table: TableSchema,
        _ transaction: inout RecordingTransaction
    ) throws {
        let exists = transaction.state.contains(address)
        if !exists { instance.checkSubscription(of: table) }
        if exists, policy == .error {
            throw ValueMismatch(description: "there is a \(table.name.string) with this primary key already")
        }
        if !exists { try transaction.createObject(address) }
        for (name, new) in values {
            let place = FieldAddress(address, name)
            if exists, policy == .modified, transaction.state.value(at: place) == new { continue }
            try transaction.set(place, to: new)
        }
    }
}
