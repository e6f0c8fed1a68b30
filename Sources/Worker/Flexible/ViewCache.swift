import RealmState
import SyncModel
import Views

/// Views of a realm that were read and checked, by what they are made of. Bounded: what would be too much makes it forget everything else.
struct ViewCache {
    static let maxBytes = 4 << 20
    private struct Key: Hashable {
        var definition: ViewDefinition
        /// Of the schema.
        var version: UInt64?
    }

    private var views: [Key: View] = [:]
    private var bytes = 0
    /// Tells one state of the schema from the others: it only grows.
    private var stamp = 0

    /// - Parameter version: the schema version of the client's copy.
    mutating func view(
        _ definition: ViewDefinition, schema: Schema, version: SchemaVersion?
    ) throws(ViewError) -> View {
        let now = schema.tables.reduce(schema.tables.count) { $0 &+ Int($1.nextColumnID) }
        if now != stamp {
            (views, bytes, stamp) = ([:], 0, now)
        }
        let key = Key(definition: definition, version: version?.number)
        if let known = views[key] { return known }
        let view = try View(definition, schema: schema, version: version)
        // A compiled query takes several times what its text does.
        let cost = 4 * (definition.queries.utf8.count + definition.roles.utf8.count) + 4_096
        if bytes + cost > Self.maxBytes { (views, bytes) = ([:], 0) }
        views[key] = view
        bytes += cost
        return view
    }
}
