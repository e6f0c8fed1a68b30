import Changesets
package import Storage
import SyncModel

extension MemorySlice {
    /// The entries that a query is about, in their order.
    func entries(_ query: IndexQuery) -> [IndexEntry] {
        let ranges = query.rest
        return indexEntries[query.realm, default: []].filter { entry in
            guard entry.row.table == query.table, entry.column == query.column,
                ranges.contains(where: { $0.contains(entry.value) })
            else { return false }
            guard let after = query.after, entry.value == after.value else { return true }
            return after.key.detachedEncoding().lexicographicallyPrecedes(entry.row.key.detachedEncoding())
        }.sorted { $0.place.lexicographicallyPrecedes($1.place) { $0.lexicographicallyPrecedes($1) } }
    }

    func entries(in realm: RealmID, after: IndexEntry?) -> [IndexEntry] {
        indexEntries[realm, default: []]
            .sorted { $0.place.lexicographicallyPrecedes($1.place) { $0.lexicographicallyPrecedes($1) } }
            .filter { entry in
                after.map { $0.place.lexicographicallyPrecedes(entry.place) { $0.lexicographicallyPrecedes($1) } }
                    ?? true
            }
    }
}

extension IndexRange {
    fileprivate func contains(_ value: [UInt8]) -> Bool {
        !value.lexicographicallyPrecedes(low) && !high.lexicographicallyPrecedes(value)
    }
}

extension IndexEntry {
    /// What it is sorted by.
    fileprivate var place: [[UInt8]] {
        func bytes(_ number: UInt32) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }
        return [bytes(row.table), bytes(column), value, row.key.detachedEncoding()]
    }
}

extension MemorySliceStore {
    package func objects(_ query: IndexQuery, maxBytes: Int) async throws(StoreError) -> [IndexedObject] {
        let content = content
        return content.entries(query).compactMap { entry in
            content.objects[query.realm]?[entry.row].map { IndexedObject(value: entry.value, row: entry.row, body: $0) }
        }.page(maxBytes: maxBytes) { $0.body.count }
    }

    package func countObjects(in realm: RealmID, of table: UInt32, limit: Int) async throws(StoreError) -> Int {
        min(limit, content.objects[realm, default: [:]].keys.count { $0.table == table })
    }

    package func countEntries(_ query: IndexQuery, limit: Int) async throws(StoreError) -> Int {
        min(limit, content.entries(query).count)
    }

    package func indexEntries(
        in realm: RealmID, after: IndexEntry?, limit: Int
    ) async throws(StoreError) -> [IndexEntry] {
        Array(content.entries(in: realm, after: after).prefix(limit))
    }
}
