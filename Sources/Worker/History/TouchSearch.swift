import Merge
import Storage
import SyncModel

/// Finds the versions of a realm's history that have something in common with changesets: by the index as far back as that goes, then by
/// the digests of older history, by which the index is made to reach further back.
struct TouchSearch: SlicePart {
    let work: SliceWork
    let context: RealmContext

    /// The versions, ascending; those of the message in hand are not among them.
    ///
    /// - Parameter author: what this client file wrote is left out; 0: nothing is.
    func versions(
        meeting touches: Touches, after start: ServerVersion, notBy author: FileIdent
    ) async throws -> [ServerVersion] {
        let end = context.index.base
        var found: [ServerVersion] = []
        if start < end {
            let search = HistorySearch(
                key: context.historyKey, touches: touches, author: author, maxBytes: limits.maxDigestBytes,
                base: context.record.historyBase, logger: logger)
            found = try await search.versions(after: start, through: end, in: store) { stretch in
                if stretch.through == end { context.prepend(stretch, maxBytes: limits.maxIndexBytes) }
            }
        }
        var indexed: [ServerVersion] = []
        context.index.collect(touches.keys, after: start, notBy: author, into: &indexed)
        for version in indexed.sorted() where version > found.last ?? 0 { found.append(version) }
        return found
    }
}
