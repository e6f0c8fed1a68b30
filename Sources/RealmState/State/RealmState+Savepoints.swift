import Changesets
import HashTreeCollections

/// What brings a state back to where it was at one moment: its schema, and the objects that were changed since.
///
/// It costs what is touched after it. The first change of an object keeps its old values, which the state no longer
/// shares, so that later changes of the object are in place again.
struct Savepoint: Sendable {
    enum UndoEntry: Sendable {
        /// `previous` is nil if nothing was known of the object.
        case object(ObjectReference, previous: CachedObject?, previousChange: ObjectChange?)
        /// The rows of a table that was erased.
        case table(TableID, rows: ObjectRows, changed: [ObjectKey: ObjectChange])
    }

    let number: UInt64
    let schema: Schema
    let schemaChanged: Bool
    let erasedTables: [TableID]
    let completeTables: Set<TableID>
    let countsBeyondBase: [TableID: Int]
    var journal: [UndoEntry] = []
}

extension RealmState {
    package var hasSavepoint: Bool { !savepoints.isEmpty }

    /// Opens a savepoint inside any that is open.
    package mutating func begin() {
        lastSavepoint += 1
        let savepoint = Savepoint(
            number: lastSavepoint, schema: schema, schemaChanged: schemaChanged, erasedTables: erasedTables,
            completeTables: completeTables, countsBeyondBase: countsBeyondBase)
        savepoints.append(savepoint)
    }

    /// Keeps what has been done since the innermost savepoint, which is closed; an outer one can still undo it.
    package mutating func commit() {
        guard let savepoint = savepoints.popLast(), hasSavepoint else { return }
        savepoints[savepoints.count - 1].journal += savepoint.journal
    }

    /// Undoes what has been done since the innermost savepoint and closes it.
    package mutating func rollback() {
        guard let savepoint = savepoints.popLast() else { return }
        for entry in savepoint.journal.reversed() {
            switch entry {
            case .object(let reference, let previous, let previousChange):
                let current = rows[reference.table, default: [:]].removeValue(forKey: reference.key)
                rows[reference.table]?[reference.key] = previous
                cachedObjectCount += (previous == nil ? 0 : 1) - (current == nil ? 0 : 1)
                objectChanges.restore(previousChange, of: reference)
            case .table(let table, let saved, let changed):
                rows[table] = saved
                objectChanges[table] = changed
                cachedObjectCount += saved.count
            }
        }
        for table in schema.tables where savepoint.schema.table(table.id) == nil {
            cachedObjectCount -= rows.removeValue(forKey: table.id)?.count ?? 0
            _ = objectChanges.remove(table.id)
        }
        schema = savepoint.schema
        schemaChanged = savepoint.schemaChanged
        erasedTables = savepoint.erasedTables
        completeTables = savepoint.completeTables
        countsBeyondBase = savepoint.countsBeyondBase
        if residency == .complete { membership = Self.nextMembership() }
    }

    /// Marks an object as changed, and keeps what it was for the open savepoint. To be called before it changes.
    mutating func prepareToChange(_ reference: ObjectReference) {
        let previousChange = objectChanges.mark(reference, as: .changed)
        guard let savepoint = savepoints.last?.number else { return }
        let previous = rows[reference.table]?[reference.key]
        if let previous, previous.savedIn == savepoint { return }
        savepoints[savepoints.count - 1].journal.append(
            .object(reference, previous: previous, previousChange: previousChange))
        if previous != nil { rows[reference.table]?[reference.key]?.savedIn = savepoint }
    }

    /// Takes an object in of which nothing was known: neither the state nor its base has one.
    mutating func insert(_ object: StoredObject, _ reference: ObjectReference) {
        let previousChange = objectChanges.mark(reference, as: base == nil ? .changed : .new)
        if hasSavepoint {
            savepoints[savepoints.count - 1].journal.append(
                .object(reference, previous: nil, previousChange: previousChange))
        }
        noteMembership(of: reference.table, more: 1)
        clock &+= 1
        cachedObjectCount += 1
        rows[reference.table, default: [:]][reference.key] = CachedObject(
            object: object, lastUse: clock, savedIn: savepoints.last?.number ?? 0)
    }

    /// Forgets a table's rows, but for the open savepoint.
    mutating func dropRows(of table: TableID) {
        let dropped = rows.removeValue(forKey: table) ?? [:]
        let changed = objectChanges.remove(table)
        cachedObjectCount -= dropped.count
        countsBeyondBase[table] = nil
        if residency == .complete { membership = Self.nextMembership() }
        erasedTables.append(table)
        if hasSavepoint {
            savepoints[savepoints.count - 1].journal.append(.table(table, rows: dropped, changed: changed))
        }
    }
}
