internal import Changesets
internal import RealmState

/// The objects that one or several commits have changed.
struct ChangedObjects: Sendable {
    /// The number of changed objects beyond which comparing two states is cheaper than remembering the objects.
    private static let limit = 50_000

    /// Nothing is known: anything may have changed.
    private(set) var isEverything = false
    private var keys: [TableID: Set<ObjectKey>] = [:]
    private var count = 0

    static let everything: ChangedObjects = {
        var changed = ChangedObjects()
        changed.isEverything = true
        return changed
    }()

    mutating func add(_ changes: StateChanges) {
        guard !isEverything else { return }
        count += changes.upserted.count + changes.erased.count
        guard changes.erasedTables.isEmpty, !changes.schemaChanged, count <= Self.limit else {
            return self = .everything
        }
        for object in changes.upserted { keys[object.table, default: []].insert(object.key) }
        for object in changes.erased { keys[object.table, default: []].insert(object.key) }
    }

    mutating func add(_ other: ChangedObjects) {
        guard !isEverything else { return }
        count += other.count
        guard !other.isEverything, count <= Self.limit else { return self = .everything }
        for (table, keys) in other.keys { self.keys[table, default: []].formUnion(keys) }
    }

    /// The changed objects of one class; nil if any may have changed.
    func keys(of className: ByteString, in schema: StoredSchema) -> Set<ObjectKey>? {
        guard !isEverything else { return nil }
        return schema.table(className).flatMap { keys[$0.id] } ?? []
    }

    /// The changed objects of some classes; nil if any may have changed.
    func addresses(of tables: Set<TableID>, in schema: StoredSchema) -> [ObjectAddress]? {
        guard !isEverything else { return nil }
        var result: [ObjectAddress] = []
        for (id, keys) in keys where tables.contains(id) {
            guard let table = schema.table(id) else { continue }
            for key in keys { result.append(ObjectAddress(table.name, key)) }
        }
        return result
    }
}
