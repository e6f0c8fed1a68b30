import Changesets
import HashTreeCollections

/// Savepoints cost what is touched after them: the first change of an object keeps its old values, which the state no
/// longer shares, so later changes of it are in place again.
extension RealmState {
    /// Opens a savepoint inside any that is open.
    package mutating func begin() {
        lastSavepoint += 1
        savepoints.append(Savepoint(number: lastSavepoint, journalStart: journal.count))
    }

    /// Keeps what has been done since the innermost savepoint, which is closed; an outer one can still undo it.
    package mutating func commit() {
        guard savepoints.popLast() != nil else { return }
        if savepoints.isEmpty { journal.removeAll() }
    }

    /// Undoes what has been done since the innermost savepoint and closes it.
    package mutating func rollback() {
        guard let savepoint = savepoints.popLast() else { return }
        while journal.count > savepoint.journalStart, let entry = journal.popLast() {
            undo(entry)
        }
    }

    package var hasSavepoint: Bool { !savepoints.isEmpty }

    private mutating func undo(_ entry: UndoEntry) {
        switch entry {
        case .object(let reference, let previous, let wasChanged):
            let current = rows[reference.table, default: [:]].removeValue(forKey: reference.key)
            rows[reference.table]?[reference.key] = previous
            cachedObjectCount += (previous == nil ? 0 : 1) - (current == nil ? 0 : 1)
            if !wasChanged { changedObjects[reference.table]?.remove(reference.key) }
            if let object = previous?.object, let table = schema.table(reference.table) {
                incoming?.add(linksOf: object, from: ObjectAddress(table.name, reference.key))
            }
        case .schema(let snapshot):
            // Tables that come into being after the savepoint have lost their rows by now, in earlier entries.
            for table in schema.tables where snapshot.schema.table(table.id) == nil {
                cachedObjectCount -= rows.removeValue(forKey: table.id)?.count ?? 0
                changedObjects[table.id] = nil
            }
            schema = snapshot.schema
            schemaChanged = snapshot.schemaChanged
            erasedTables = snapshot.erasedTables
            completeTables = snapshot.completeTables
        case .table(let table, let saved, let changed):
            rows[table] = saved
            changedObjects[table] = changed
            cachedObjectCount += saved.count
        }
    }

    // MARK: Saving what is about to change

    /// Saves the object's state for the open savepoint and marks it as changed. Call before changing it.
    mutating func prepareToChange(_ reference: ObjectReference) {
        let wasChanged = changedObjects[reference.table]?.contains(reference.key) ?? false
        if !wasChanged { changedObjects[reference.table, default: []].insert(reference.key) }
        guard let savepoint = savepoints.last else { return }
        let previous = rows[reference.table]?[reference.key]
        if let previous, previous.savedIn == savepoint.number { return }
        journal.append(.object(reference, previous: previous, wasChanged: wasChanged))
        rows[reference.table]?[reference.key]?.savedIn = savepoint.number
    }

    mutating func prepareToChangeSchema() {
        defer { schemaChanged = true }
        guard let last = savepoints.indices.last, !savepoints[last].hasSavedSchema else { return }
        savepoints[last].hasSavedSchema = true
        let snapshot = SchemaSnapshot(
            schema: schema, schemaChanged: schemaChanged, erasedTables: erasedTables, completeTables: completeTables)
        journal.append(.schema(snapshot))
    }

    /// Forgets a table's rows. The schema must be prepared first.
    mutating func dropRows(of table: TableID) {
        let dropped = rows.removeValue(forKey: table) ?? [:]
        let changed = changedObjects.removeValue(forKey: table) ?? []
        cachedObjectCount -= dropped.count
        erasedTables.append(table)
        if hasSavepoint { journal.append(.table(table, rows: dropped, changed: changed)) }
    }
}
