import Changesets

/// What is known of one object: its values, or that it does not exist.
struct CachedObject: Sendable {
    var object: StoredObject?
    /// When it was last used, in uses of the state.
    var lastUse: UInt64
    /// The savepoint that has already saved what it was before; 0 for none.
    var savedIn: UInt64 = 0
}

/// Names one object inside a state.
struct ObjectReference: Hashable, Sendable {
    var table: TableID
    var key: ObjectKey
}
