import Logging
import Merge
import Storage
import SyncModel

/// Finds the versions of a stored history that changesets could conflict with, by the digests that the store keeps of it.
///
/// All that is left out has nothing in common with the changesets that a rule of the merge could act on, so the result of the
/// merge is the same, byte for byte, as that of merging with everything.
struct HistorySearch {
    let key: HistoryKey
    let touches: Touches
    /// What this author wrote is left out.
    let author: FileIdent
    /// The bytes of digests that are read at once.
    let maxBytes: Int

    /// The version after which the history begins.
    var base: ServerVersion = 0
    let logger: Logger

    /// The versions of `start + 1 ... end` that could conflict, ascending.
    ///
    /// - Parameter visit: gets what was read, in stretches without a gap.
    func versions(
        after start: ServerVersion, through end: ServerVersion, in store: any SliceStore,
        visit: ((_ stretch: IndexSegment) -> Void)? = nil
    ) async throws -> [ServerVersion] {
        let filter = KeyFilter(touches.keys)
        var found: [ServerVersion] = []
        var cursor = start
        while cursor < end {
            let digests = try await store.historyDigests(of: key, after: cursor, maxBytes: maxBytes)
            guard let last = digests.last else { break }
            var stretch = IndexSegment(after: max(digests[0].after, base))
            for digest in digests where cursor < end {
                // What no digest covers, or a damaged one, is taken as it is.
                if digest.after > cursor { found += cursor + 1...min(digest.after, end) }
                cursor = max(cursor, min(digest.after, end))
                let through = min(digest.through, end)
                guard let touched = DigestCoding.decode(digest.body),
                    digest.after &+ UInt64(touched.count) == digest.through
                else {
                    logger.error(
                        "digest of the history is damaged; its versions are merged with one by one",
                        metadata: ["realm": "\(key.realm)", "after": "\(digest.after)"])
                    if through > cursor { found += cursor + 1...through }
                    cursor = max(cursor, through)
                    continue
                }
                for (offset, (origin, touched)) in touched.enumerated() {
                    let version = digest.after &+ UInt64(offset) &+ 1
                    guard version <= end else { break }
                    if visit != nil, stretch.through + 1 == version { stretch.append(origin: origin, touched) }
                    guard version > cursor, origin != author else { continue }
                    if touched.isDestructive || filter.meets(touched.keys) { found.append(version) }
                }
                cursor = max(cursor, through)
            }
            visit?(stretch)
            if last.through >= end { cursor = end }
        }
        if cursor < end { found += cursor + 1...end }
        return found
    }
}
