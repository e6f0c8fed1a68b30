import Changesets
import ExtendedJSON
package import RealmState

extension WriteBatch {
    /// Whether a write names a class or a property that the schema lacks.
    package func namesUnknown(to schema: Schema) -> Bool {
        writes.contains { write in
            guard let table = schema.table(write.className) else { return true }
            return write.givenProperties.contains { $0 != table.key?.name && table.column($0) == nil }
        }
    }
}

extension DocumentWrite {
    /// The class's own properties that the write gives values to.
    fileprivate var givenProperties: [ByteString] {
        switch operation {
        case .insert(let document), .upsert(let document), .replace(_, let document): Array(document.keys)
        case .update(_, let updates): updates.map(\.path.first)
        case .delete: []
        }
    }

    /// The filter of a write that has one, on a schema.
    ///
    /// - Parameter index: of the write in its batch, for the place of an error.
    package func filter(in schema: Schema, at index: Int) throws(DocumentError) -> DocumentFilter? {
        let given: BSONDocument
        switch operation {
        case .update(.filter(let filter, _), _), .delete(.filter(let filter, _)): given = filter
        case .insert, .upsert, .replace, .update(.id, _), .delete(.id): return nil
        }
        guard let table = schema.table(className) else { return nil }
        return try at(JSONPlace([.key("writes"), .index(index), .key("filter")])) { () throws(DocumentError) in
            try DocumentFilter(given, on: table, schema: schema)
        }
    }
}
