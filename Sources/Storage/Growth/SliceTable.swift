/// The fate of a table of slices when realms move to other slices. Pure.
package enum SliceTable: Sendable, Equatable {
    /// A table whose rows go with their realm; the realm's number is in this column.
    case ofRealms(column: String)
    /// A table whose rows hold for realms wherever they are: new slices get them, too.
    case ofApps
    /// A table that is the slice's own, or begins anew in a new slice.
    case ofSlice
    /// A table whose rows follow from other tables.
    case counted
    /// Work that is under way: there must not be any.
    case work

    /// - Throws: `mismatch` for a table of which this is not known.
    package init(_ table: StoredTable) throws(StoreError) {
        switch table.name {
        case "realms": self = .ofRealms(column: "id")
        case "app_generations", "campaign_reasons", "reset_holds", "seen_messages": self = .ofApps
        // What a user may add is counted for each slice, and half of it is forgotten in a week.
        case "meta", "ownership", "ownership_history", "outbox", "user_usage": self = .ofSlice
        case "app_usage": self = .counted
        case "app_erasures", "termination_steps": self = .work
        case _ where table.columns.contains("realm"): self = .ofRealms(column: "realm")
        default:
            throw StoreError(
                .mismatch,
                "the slices have a table \(table.name), and this version does not know what becomes of it when realms move"
            )
        }
    }

    /// Words for the work that goes on while a table of `work` has rows.
    package static func words(forWorkIn table: String) -> String {
        table == "termination_steps"
            ? "a termination is still being carried out" : "a deleted app is still being erased"
    }
}
