import Changesets
import Merge
import Messages
import Storage

/// Uploaded changesets as they apply to the realm's state, and what the merge made of the history for that client.
struct MergedUpload {
    var changesets: [Changeset]
    var reciprocals: [(version: UInt64, changeset: Changeset)] = []
}

extension SliceOwner {
    /// Brings a client's changesets over what it has not seen (merge-rules.md 12.2, step 4).
    ///
    /// Reads only that window of the history, in steps of bounded size: merging over a sequence is the same as merging over
    /// its parts in turn.
    func merge(
        _ incoming: [IncomingChangeset], of ident: UInt64, in context: RealmContext
    ) async throws -> MergedUpload {
        let current = context.record.latest.version
        guard var base = incoming.first?.lastIntegratedLocalVersion, base < current else {
            return MergedUpload(changesets: incoming.map(\.changeset))
        }
        try await loadReciprocals(of: ident, after: base, in: context)
        let engine = MergeEngine(compatibility: .convergent)
        var result = MergedUpload(changesets: incoming.map(\.changeset))
        while base < current {
            let records = try await history(
                of: context, after: base, through: current, maxBytes: limits.maxWindowBytes)
            guard let end = records.last?.version else {
                throw WorkerError(.corrupt, "realm \(context.name) has no version \(base + 1) in its history")
            }
            let window = try window(of: records, for: ident, in: context)
            if !window.isEmpty {
                var step = incoming
                for index in step.indices { step[index].changeset = result.changesets[index] }
                do {
                    let merged = try engine.transform(incoming: step, over: window, currentLocalVersion: end)
                    result.changesets = merged.incoming
                    result.reciprocals += merged.modifiedLocal.map { ($0.version, $0.changeset) }
                    metrics.merged(over: window.count, conflicts: merged.modifiedLocal.count, app: context.name.app)
                } catch {
                    throw BadChangesetError(reason: error.description)
                }
            }
            base = end
        }
        return result
    }

    private func loadReciprocals(of ident: UInt64, after base: UInt64, in context: RealmContext) async throws {
        guard let entry = context.clientFile(ident), !entry.hasReciprocals(after: base) else { return }
        let stored = try await store.reciprocals(
            of: context.key(ident), after: base, through: context.record.latest.version)
        context.updateEntry(ident) { $0.load(stored, after: base) }
    }

    /// The entries that the client did not write and that say something, as earlier merges with it have left them.
    private func window(
        of records: [HistoryRecord], for ident: UInt64, in context: RealmContext
    ) throws -> [LocalChangeset] {
        let reciprocals = context.clientFile(ident)?.reciprocals ?? [:]
        var window: [LocalChangeset] = []
        for record in records where record.originFile != ident && !record.changeset.isEmpty {
            let changeset: Changeset
            do {
                if let reciprocal = reciprocals[record.version] {
                    changeset = try Changeset(parsing: reciprocal)
                } else if let parsed = try context.recent.changeset(record.version) {
                    changeset = parsed
                } else {
                    changeset = try Changeset(parsing: record.changeset)
                }
            } catch {
                throw WorkerError(
                    .corrupt, "version \(record.version) of realm \(context.name) cannot be read", underlying: error)
            }
            window.append(
                LocalChangeset(
                    version: record.version, originTimestamp: record.timestamp, originFileIdent: record.originFile,
                    changeset: changeset))
        }
        return window
    }
}
