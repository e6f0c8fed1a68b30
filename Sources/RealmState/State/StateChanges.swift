package import Changesets

/// The changes that a store has to write so that it holds the state again.
package struct StateChanges: Sendable {
    package var schemaChanged = false
    /// `isNew`: neither the state's base nor any changes that were taken before have such an object; never so for a state without a base.
    package var upserted: [(table: TableID, key: ObjectKey, object: StoredObject, isNew: Bool)] = []
    package var erased: [(table: TableID, key: ObjectKey)] = []
    /// All rows of these go; their numbers are never used again.
    package var erasedTables: [TableID] = []

    package init() {}

    package var isEmpty: Bool { !schemaChanged && upserted.isEmpty && erased.isEmpty && erasedTables.isEmpty }
}
