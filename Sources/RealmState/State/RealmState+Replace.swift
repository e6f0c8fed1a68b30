package import Changesets

extension RealmState {
    /// Puts an object in place of what the state holds under that address, or removes it; not by an instruction, so
    /// for the one case that is none: a client reset, which takes over the server's state.
    package mutating func replace(_ address: ObjectAddress, with object: StoredObject?) {
        guard let table = schema.table(address.className) else { return }
        store(object, ObjectReference(table: table.id, key: address.key))
        if let object { incoming?.add(linksOf: object, from: address) }
    }
}
