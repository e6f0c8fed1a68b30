package import Changesets
package import RealmState

extension RealmState {
    /// The state as changesets, schema first.
    package func changesets(byteBudget: Int, clearingCollections: Bool = false) -> [Changeset] {
        var builder = StateChangesets(
            schema: schema, byteBudget: byteBudget, clearingCollections: clearingCollections)
        var result = [builder.schemaChangeset()]
        for table in schema.tables {
            for (key, object) in objects(of: table.name) {
                result += builder.append(ObjectAddress(table.name, key), object)
            }
        }
        if let last = builder.finish() { result.append(last) }
        return result
    }
}
