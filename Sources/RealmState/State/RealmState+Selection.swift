package import Changesets
import HashTreeCollections

extension RealmState {
    /// The keys of the objects of a class that hold a value in these ranges in a column, in no order: those that the base's index finds, and
    /// all that the state itself knows of, whatever they hold.
    ///
    /// - Returns: nil if the base has no index of the column, or finds so many that going through the class takes no longer.
    package func keys(
        of className: ByteString, having column: ColumnID, in ranges: [OrderedBytes.Range]
    ) -> (indexed: [ObjectKey], known: [ObjectKey])? {
        guard let table = schema.table(className)?.id,
            let found = base?.keys(of: table, having: column, in: ranges)
        else { return nil }
        let known = objects.held(of: table)
        return (known.isEmpty ? found : found.filter { known[$0] == nil }, Array(known.keys))
    }

    /// Returns those of the objects that exist, in the order of `keys`.
    package func objects(
        at keys: some Collection<ObjectKey>, of className: ByteString
    ) -> [(key: ObjectKey, object: StoredObject)] {
        guard let table = schema.table(className)?.id else { return [] }
        let known = objects.held(of: table)
        let unknown = base == nil ? [] : keys.filter { known[$0] == nil }
        var read = (base?.objects(at: unknown, of: table) ?? [])[...]
        return keys.compactMap { key in
            let object = known[key].map(\.object) ?? (base == nil ? nil : read.popFirst() ?? nil)
            return object.map { (key, $0) }
        }
    }
}
