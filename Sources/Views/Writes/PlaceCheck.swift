package import Changesets
import Query
package import RealmState
package import Rules

/// Tells whether a write leaves a place in an object that no geospatial query could read: an embedded object of the shape of GeoJSON, `type` and
/// `coordinates`, that is no point on earth. Only properties that are queryable, and that the write sets, are looked at. Pure.
package struct PlaceCheck: Sendable {
    private let queryable: Queryable

    package init(_ queryable: Queryable) { self.queryable = queryable }

    /// - Parameters:
    ///   - object: as the write leaves it; nil: it is gone.
    ///   - fields: the properties that the write sets.
    package func isSpoiled(
        _ object: StoredObject?, of className: ByteString, setting fields: Set<ByteString>, in schema: Schema
    ) -> Bool {
        guard let object, let table = schema.table(className) else { return false }
        return table.columns.contains { column in
            guard fields.contains(column.name), column.element.target != nil, let value = object[column.id]
            else { return false }
            return Self.holdsNoPlace(value, of: column, in: schema)
                && queryable.includes(column.name.string, of: className.string)
        }
    }

    /// Whether a place in the value, however deep, is none that queries can read.
    private static func holdsNoPlace(_ value: Value, of column: ColumnSchema, in schema: Schema) -> Bool {
        guard let table = column.element.target.flatMap({ schema.table($0) }), table.kind == .embedded else {
            return false
        }
        switch value {
        case .embedded(let object):
            if table.column("coordinates") != nil, let place = GeoProperties(QueryClass(table)) {
                return !place.isPlace(object)
            }
            return table.columns.contains { inner in
                object[inner.id].map { holdsNoPlace($0, of: inner, in: schema) } ?? false
            }
        case .list(let elements): return elements.contains { holdsNoPlace($0, of: column, in: schema) }
        case .dictionary(let members): return members.values.contains { holdsNoPlace($0, of: column, in: schema) }
        default: return false
        }
    }
}
