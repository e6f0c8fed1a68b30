import Changesets
import Query
import RealmState

extension ObjectQuery {
    /// Whether the query selects an object as a store keeps it. Only the columns that the query looks at are decoded, and nothing is read through
    /// links.
    func matches(row bytes: [UInt8], key: ObjectKey) throws(RealmStateError) -> Bool {
        matches(columns.isEmpty ? StoredObject() : try StoredObject(decoding: bytes, only: columns), key: key)
    }
}
