import Changesets
import Logging
import Merge
import Messages
import Storage
import SyncModel

extension SliceOwner {
    /// Brings changesets of a client that has not got all of its base over the rest of it, as if the base were history.
    func merge(
        _ incoming: [IncomingChangeset], of ident: FileIdent, over base: BaseRecord, after version: ServerVersion,
        _ result: inout MergedUpload, in context: RealmContext
    ) async throws {
        let touches = Touches(of: result.changesets)
        let isSelective = limits.usesHistoryIndex && !touches.isDestructive
        var rest: ArraySlice<ServerVersion> = []
        if isSelective { rest = try await versions(of: base, touching: touches, after: version)[...] }
        var cursor = version
        while isSelective ? !rest.isEmpty : cursor < base.lastEntry {
            let records: [HistoryRecord]
            if isSelective {
                records = try await store.history(
                    of: base.historyKey, at: rest.prefix(256), maxBytes: limits.maxWindowBytes)
            } else {
                records = try await store.history(
                    of: base.historyKey, after: cursor, through: base.lastEntry, maxBytes: limits.maxWindowBytes)
            }
            guard let last = records.last else {
                throw WorkerError(
                    .corrupt, "realm \(context.name) lacks changesets of its base at version \(base.version)")
            }
            let items = try records.map { try item($0, in: context) }
            let locals = try await reciprocated(items, for: ident, after: version, in: context)
            try transform(incoming, over: locals, &result, in: context)
            rest = rest.dropFirst(records.count)
            cursor = last.version
        }
    }

    /// Those of a base's changesets that touch what others touch, by the digests; all that no digest tells of.
    private func versions(
        of base: BaseRecord, touching touches: Touches, after version: ServerVersion
    ) async throws -> [ServerVersion] {
        let filter = KeyFilter(touches.keys)
        var found: [ServerVersion] = []
        var cursor = version
        while cursor < base.lastEntry {
            let digests = try await store.historyDigests(
                of: base.historyKey, after: cursor, maxBytes: limits.maxDigestBytes)
            guard let last = digests.last else { break }
            for digest in digests {
                guard digest.after <= cursor, let versions = DigestCoding.decode(digest.body),
                    digest.after &+ UInt64(versions.count) == digest.through
                else { return Array(version + 1...base.lastEntry) }
                for (offset, touched) in versions.enumerated() {
                    let version = digest.after &+ UInt64(offset) &+ 1
                    if version > cursor, filter.meets(touched.touches.keys) { found.append(version) }
                }
                cursor = max(cursor, digest.through)
            }
            cursor = max(cursor, last.through)
        }
        if cursor < base.lastEntry { found += cursor + 1...base.lastEntry }
        return found
    }
}
