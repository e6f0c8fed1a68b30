package import Changesets

extension Changeset {
    /// The objects that applying the changeset touches; the targets of links are not among them.
    package var touchedAddresses: Set<ObjectAddress> {
        var result: Set<ObjectAddress> = []
        var last: (table: InternedString, object: PrimaryKey)?
        for instruction in instructions {
            let target = instruction.target
            guard let object = target.object else { continue }
            // Most instructions follow another one for the same object.
            if let last, last == (target.table, object) { continue }
            last = (target.table, object)
            guard let table = strings[target.table], let key = strings.resolve(object) else { continue }
            result.insert(ObjectAddress(table, key))
        }
        return result
    }
}
