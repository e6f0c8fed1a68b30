import Changesets
import Logging
import Merge
import Messages
import Storage
import SyncModel

/// The part of a realm's history that an upload has to be merged with.
enum MergeWindow {
    /// These versions, ascending; what its author wrote and what says nothing may be among them.
    case versions([ServerVersion])
    /// Everything since the upload's base.
    case everything
}

extension SliceOwner {
    /// Finds what changesets of a client may conflict with: by the index as far back as that goes, then by the digests that
    /// the store keeps of older history.
    ///
    /// All that is left out has nothing in common that a rule of the merge could act on, so the result is the same, byte for
    /// byte, as that of merging with everything.
    func window(
        for changesets: [Changeset], of ident: FileIdent, after base: ServerVersion, in context: RealmContext
    ) async throws -> MergeWindow {
        guard limits.usesHistoryIndex else { return .everything }
        if context.index.isAll(by: ident, after: base) { return .versions([]) }
        let touches = Touches(of: changesets)
        if touches.isDestructive { return .everything }
        var found: [ServerVersion] = []
        if base < context.index.base {
            try await search(context, for: touches, after: base, notBy: ident, into: &found)
        }
        context.index.collect(touches.keys, after: base, notBy: ident, into: &found)
        return .versions(found.sortedUnique())
    }

    /// Searches the digests between `base` and the index, and lets the index reach further back where it has room.
    private func search(
        _ context: RealmContext, for touches: Touches, after base: ServerVersion, notBy origin: FileIdent,
        into found: inout [ServerVersion]
    ) async throws {
        let filter = KeyFilter(touches.keys)
        let end = context.index.base
        var cursor = base
        while cursor < end {
            let digests = try await store.historyDigests(
                of: context.historyKey, after: cursor, maxBytes: limits.maxDigestBytes)
            guard let last = digests.last else { break }
            var segment = IndexSegment(after: max(digests[0].after, context.record.historyBase))
            for digest in digests where cursor < end {
                // What no digest covers, or a damaged one, is taken as it is.
                if digest.after > cursor { found += cursor + 1...min(digest.after, end) }
                guard let versions = DigestCoding.decode(digest.body),
                    digest.after &+ UInt64(versions.count) == digest.through
                else {
                    logger.error(
                        "digest of the history is damaged; its versions are merged with one by one",
                        metadata: ["realm": "\(context.name)", "after": "\(digest.after)"])
                    cursor = max(cursor, min(digest.after, end))
                    if digest.through > cursor { found += cursor + 1...min(digest.through, end) }
                    cursor = min(digest.through, end)
                    continue
                }
                var version = digest.after
                for (author, touched) in versions {
                    version += 1
                    if segment.through + 1 == version, version <= end {
                        segment.append(origin: author, touched)
                    }
                    guard version > cursor, version <= end, author != origin else { continue }
                    if touched.isDestructive || filter.meets(touched.keys) { found.append(version) }
                }
                cursor = max(cursor, min(digest.through, end))
            }
            if segment.through == end, context.index.bytes + segment.bytes <= limits.maxIndexBytes {
                context.index.prepend(segment)
            }
            if last.through >= end { cursor = end }
        }
        if cursor < end { found += cursor + 1...end }
    }
}

extension [ServerVersion] {
    fileprivate func sortedUnique() -> [ServerVersion] {
        var result: [ServerVersion] = []
        result.reserveCapacity(count)
        for version in sorted() where version != result.last { result.append(version) }
        return result
    }
}
