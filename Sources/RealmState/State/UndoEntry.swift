import Changesets

/// One step of the way back to a savepoint.
enum UndoEntry: Sendable {
    /// `previous` is nil if nothing was known of the object.
    case object(ObjectReference, previous: CachedObject?, wasChanged: Bool)
    case schema(SchemaSnapshot)
    /// The rows of a table that was erased.
    case table(TableID, rows: ObjectRows, changed: Set<ObjectKey>)
}

struct SchemaSnapshot: Sendable {
    var schema: Schema
    var schemaChanged: Bool
    var erasedTables: [TableID]
    var completeTables: Set<TableID>
}
