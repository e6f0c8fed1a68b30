package import Changesets
import HashTreeCollections

extension RealmState {
    /// The keys of the objects of a class that may hold a value in these ranges in a column, ascending: all that do, some that do not.
    ///
    /// What the state itself knows of is always among them.
    /// - Returns: nil if the base has no index of the column, or finds so many that going through the class takes no longer.
    package func keys(
        of className: ByteString, having column: ColumnID, in ranges: [OrderedBytes.Range]
    ) -> [ObjectKey]? {
        guard let table = schema.table(className)?.id,
            let found = base?.keys(of: table, having: column, in: ranges)
        else { return nil }
        return Set(found).union((rows[table] ?? [:]).keys).sorted()
    }

    /// Of these objects those that there are, in the same order.
    package func objects(
        at keys: some Collection<ObjectKey>, of className: ByteString
    ) -> [(key: ObjectKey, object: StoredObject)] {
        guard let table = schema.table(className)?.id else { return [] }
        let known = rows[table] ?? [:]
        let unknown = base == nil ? [] : keys.filter { known[$0] == nil }
        var read = (base?.objects(at: unknown, of: table) ?? [])[...]
        return keys.compactMap { key in
            let object = known[key].map(\.object) ?? (base == nil ? nil : read.popFirst() ?? nil)
            return object.map { (key, $0) }
        }
    }
}
