package import Changesets

/// Forms of a whole state in which two peers can be compared (docs/merge.md, "Promises").
package enum StateDump {
    /// Classes by name, columns by name, objects by key; lists with unresolved slots, links by the target's key.
    package static func canonical(of state: RealmState) -> [UInt8] {
        var form = CanonicalForm(schema: state.schema)
        form.writeSchema()
        for table in state.schema.tables.sorted(by: { $0.name < $1.name }) {
            let objects = state.objects(of: table.name).sorted { $0.key < $1.key }
            form.writer.write(lengthAnd: table.name)
            form.writer.write(UInt64(objects.count))
            for (key, object) in objects {
                form.writer.write(detached: key)
                form.write(object, of: table)
            }
        }
        return form.writer.bytes
    }

    package static func digest(of state: RealmState) -> StateDigest {
        var digest = StateDigest(schema: state.schema)
        for table in state.schema.tables {
            state.forEachObject(of: table.name) { key, object in
                digest.add(ObjectAddress(table.name, key), object, schema: state.schema)
            }
        }
        return digest
    }

    /// MongoDB extended JSON: one array for each top-level class, in which objects stand by key.
    package static func json(of state: RealmState) -> String {
        var writer = StateWriter(state: state)
        writer.writeState()
        return writer.text
    }

    /// One object as in `json(of:)`; nil if it does not exist.
    package static func json(of address: ObjectAddress, in state: RealmState) -> String? {
        guard let table = state.schema.table(address.className), let object = state.object(address) else { return nil }
        var writer = StateWriter(state: state)
        writer.write(object, key: address.key, of: table)
        return writer.text
    }
}
