import Changesets
import HashTreeCollections

/// What has become of an object since the state's changes were last taken.
enum ObjectChange: Sendable {
    /// The object was changed, or has gone.
    case changed
    /// The object was made, and the state's base has no such object.
    case new
}

/// The objects of a state that have changed since its changes were last taken, by class.
struct ObjectChanges: Sendable {
    private(set) var tables: [TableID: [ObjectKey: ObjectChange]] = [:]

    var isEmpty: Bool { tables.values.allSatisfy(\.isEmpty) }

    subscript(table: TableID) -> [ObjectKey: ObjectChange] {
        get { tables[table] ?? [:] }
        set { tables[table] = newValue }
    }

    /// Marks an object as changed, unless it is marked already.
    ///
    /// - Returns: how it was marked.
    mutating func mark(_ reference: ObjectReference, as change: ObjectChange) -> ObjectChange? {
        func mark(_ slot: inout ObjectChange?) -> ObjectChange? {
            defer { slot = slot ?? change }
            return slot
        }
        return mark(&tables[reference.table, default: [:]][reference.key])
    }

    /// Marks an object as it was marked before.
    mutating func restore(_ change: ObjectChange?, of reference: ObjectReference) {
        tables[reference.table]?[reference.key] = change
    }

    /// Lists the objects with what a state has of them now.
    func list(_ schema: Schema, _ rows: [TableID: ObjectRows], in changes: inout StateChanges) {
        for (id, marked) in tables {
            guard let table = schema.table(id) else { continue }
            let rows = rows[id] ?? [:]
            changes.upserted.reserveCapacity(changes.upserted.count + marked.count)
            for (key, change) in marked {
                guard var object = rows[key]?.object else {
                    changes.erased.append((id, key))
                    continue
                }
                if table.hasErasedColumns { object.prune(to: table) }
                changes.upserted.append((id, key, object, change == .new))
            }
        }
    }

    /// Forgets a class.
    ///
    /// - Returns: what was marked of it.
    mutating func remove(_ table: TableID) -> [ObjectKey: ObjectChange] { tables.removeValue(forKey: table) ?? [:] }
}
