package import Changesets
import HashTreeCollections

extension RealmState {
    /// What has changed since the last call. There must be no open savepoint.
    package mutating func takeChanges() -> StateChanges {
        precondition(!hasSavepoint, "changes taken inside a savepoint could still be undone")
        var changes = StateChanges()
        changes.schemaChanged = schemaChanged
        changes.erasedTables = erasedTables
        objectChanges.list(schema, rows, in: &changes)
        schemaChanged = false
        erasedTables = []
        objectChanges = ObjectChanges()
        return changes
    }

    package var hasChanges: Bool {
        schemaChanged || !erasedTables.isEmpty || !objectChanges.isEmpty
    }

    /// Forgets the objects that have not been used for longest, until `limit` are left, if more are held.
    ///
    /// Only a partial state may forget; objects whose changes have not been taken stay. Forgets an eighth more than
    /// asked for, so that the search is not repeated for every object.
    package mutating func trimCache(to limit: Int) {
        guard residency == .partial, !hasSavepoint, cachedObjectCount > max(0, limit) else { return }
        var candidates: [(lastUse: UInt64, reference: ObjectReference)] = []
        for (table, objects) in rows {
            let changed = objectChanges[table]
            for (key, row) in objects where changed[key] == nil {
                candidates.append((row.lastUse, ObjectReference(table: table, key: key)))
            }
        }
        candidates.sort { $0.lastUse < $1.lastUse }
        let excess = cachedObjectCount - max(0, limit) + max(0, limit) / 8
        for candidate in candidates.prefix(excess) {
            rows[candidate.reference.table]?[candidate.reference.key] = nil
            completeTables.remove(candidate.reference.table)
            cachedObjectCount -= 1
        }
    }

    /// Removes an object as a consequence of this realm's own rules, not of an instruction: an asymmetric object, say,
    /// once it has been recorded for upload.
    package mutating func discard(_ address: ObjectAddress) {
        guard let table = schema.table(address.className), contains(address) else { return }
        store(nil, ObjectReference(table: table.id, key: address.key))
    }

    /// Replaces what is known of an object.
    ///
    /// - Parameter existed: whether there was one, if that is known.
    mutating func store(_ object: StoredObject?, _ reference: ObjectReference, existed: Bool? = nil) {
        let isKnown = rows[reference.table]?[reference.key] != nil
        let existed = existed ?? (self.object(reference) != nil)
        if let object, !isKnown, !existed { return insert(object, reference) }
        prepareToChange(reference)
        clock &+= 1
        if existed != (object != nil) { noteMembership(of: reference.table, more: object == nil ? -1 : 1) }
        // What the base has must stay covered.
        if object == nil, residency == .complete, base == nil {
            if isKnown { cachedObjectCount -= 1 }
            rows[reference.table]?[reference.key] = nil
            return
        }
        if !isKnown { cachedObjectCount += 1 }
        rows[reference.table, default: [:]][reference.key] = CachedObject(
            object: object, lastUse: clock, savedIn: savepoints.last?.number ?? 0)
    }

    /// A class has one object more or less, for states that know of every object.
    mutating func noteMembership(of table: TableID, more: Int) {
        guard residency == .complete else { return }
        membership = Self.nextMembership()
        if base != nil { countsBeyondBase[table, default: 0] += more }
    }

    /// Puts an object in place of the one at that address, or removes that one: for a client reset, which takes over the
    /// server's state without instructions.
    package mutating func replace(_ address: ObjectAddress, with object: StoredObject?) {
        guard let table = schema.table(address.className) else { return }
        store(object, ObjectReference(table: table.id, key: address.key))
        if let object { incoming?.add(linksOf: object, from: address) }
    }

    /// Takes an object of the base over, so that it can be changed in place. To be called after `prepareToChange`: going back gives it up again.
    mutating func takeOver(_ reference: ObjectReference) {
        guard let base, rows[reference.table]?[reference.key] == nil,
            let object = base.object(reference.key, of: reference.table)
        else { return }
        clock &+= 1
        rows[reference.table, default: [:]][reference.key] = CachedObject(
            object: object, lastUse: clock, savedIn: savepoints.last?.number ?? 0)
        cachedObjectCount += 1
    }

    /// Visits the objects that the state itself knows of, or knows not to exist: on a base, what has changed since.
    package func forEachKnownKey(_ body: (TableID, ObjectKey) -> Void) {
        for (table, objects) in rows {
            for key in objects.keys { body(table, key) }
        }
    }
}
