import Changesets
import Merge
import Storage
import SyncModel

/// Uploaded changesets as they apply to the realm's state, and what the merge made of the history for that client.
struct MergedUpload {
    var changesets: [Changeset]
    var reciprocals: [(version: ServerVersion, changeset: Changeset)] = []
}

extension SliceOwner {
    /// Brings a client's changesets over what it has not seen (docs/merge.md, "Uploads at the server").
    ///
    /// Reads of that window only what the changesets may conflict with, in steps of bounded size: merging over a sequence is
    /// the same as merging over its parts in turn.
    func merge(
        _ incoming: [IncomingChangeset], of ident: FileIdent, in context: RealmContext
    ) async throws -> MergedUpload {
        var result = MergedUpload(changesets: incoming.map(\.changeset))
        let current = context.record.latest.version
        guard var base = incoming.first.map({ ServerVersion($0.lastIntegratedLocalVersion) }), base < current else {
            return result
        }
        if let file = context.clientFile(ident)?.record,
            let start = try await self.base(at: base, of: file, in: context)
        {
            try await merge(incoming, of: ident, over: start, after: base, &result, in: context)
            base = start.version
        }
        switch try await window(for: result.changesets, of: ident, after: base, in: context) {
        case .versions(let versions):
            var rest = versions[...]
            while !rest.isEmpty {
                let (locals, count) = try await locals(of: rest, for: ident, after: base, in: context)
                try transform(incoming, over: locals, &result, in: context)
                rest = rest.dropFirst(count)
            }
        case .everything:
            let first = base
            while base < current {
                let records = try await history(
                    of: context, after: base, through: current, maxBytes: limits.maxWindowBytes)
                guard let end = records.last?.version else {
                    throw WorkerError(.corrupt, "realm \(context.name) has no version \(base + 1) in its history")
                }
                let items = try records.filter { $0.entry.originFile != ident && !$0.entry.changeset.isEmpty }
                    .map { try item($0, in: context) }
                let locals = try await reciprocated(items, for: ident, after: first, in: context)
                try transform(incoming, over: locals, &result, in: context)
                base = end
            }
        }
        return result
    }

    func transform(
        _ incoming: [IncomingChangeset], over window: [LocalChangeset], _ result: inout MergedUpload,
        in context: RealmContext
    ) throws {
        guard let end = window.last?.version else { return }
        var step = incoming
        for index in step.indices { step[index].changeset = result.changesets[index] }
        do {
            let merged = try MergeEngine().transform(
                incoming: step, over: window, currentLocalVersion: end)
            result.changesets = merged.incoming
            result.reciprocals += merged.modifiedLocal.map { (ServerVersion($0.version), $0.changeset) }
            metrics.merged(over: window.count, conflicts: merged.modifiedLocal.count, app: context.name.app)
        } catch {
            throw BadChangesetError(reason: error.description)
        }
    }

    // MARK: Local changesets

    /// As many of the versions as one step may hold, at least one; and how many those were.
    private func locals(
        of versions: ArraySlice<ServerVersion>, for ident: FileIdent, after base: ServerVersion,
        in context: RealmContext
    ) async throws -> (locals: [LocalChangeset], count: Int) {
        var items: [ChangesetCache.Item] = []
        var bytes = 0
        var rest = versions
        while let version = rest.first, bytes < limits.maxWindowBytes {
            if let known = context.parsed.item(version) {
                items.append(known)
            } else if let record = context.recent.record(version) {
                let item = try item(record, in: context)
                context.parsed.insert(item)
                items.append(item)
            } else {
                // What is missing is mostly missing in a row.
                let missing = rest.prefix(256).prefix { $0 <= context.recent.base }
                let records = try await store.history(
                    of: context.historyKey, at: missing, maxBytes: min(limits.maxWindowBytes - bytes, 1 << 20))
                guard !records.isEmpty, records.map(\.version).elementsEqual(missing.prefix(records.count)) else {
                    throw WorkerError(
                        .corrupt, "realm \(context.name) lacks a version at or after \(version) in its history")
                }
                for record in records {
                    let item = try item(record, in: context)
                    context.parsed.insert(item)
                    items.append(item)
                    bytes += item.bytes
                    rest = rest.dropFirst()
                }
                continue
            }
            bytes += items.last?.bytes ?? 0
            rest = rest.dropFirst()
        }
        return (try await reciprocated(items, for: ident, after: base, in: context), versions.count - rest.count)
    }

    func item(_ record: HistoryRecord, in context: RealmContext) throws -> ChangesetCache.Item {
        ChangesetCache.Item(
            local: LocalChangeset(
                version: record.version.rawValue, originTimestamp: record.entry.timestamp.rawValue,
                originFileIdent: record.entry.originFile.rawValue,
                changeset: try parsed(record.entry.changeset, record.version, in: context)),
            bytes: record.entry.changeset.count)
    }

    /// The entries that the client did not write and that say something, as earlier merges with it have left them.
    func reciprocated(
        _ items: [ChangesetCache.Item], for ident: FileIdent, after base: ServerVersion, in context: RealmContext
    ) async throws -> [LocalChangeset] {
        var locals: [LocalChangeset] = []
        for item in items where item.local.originFileIdent != ident.rawValue && item.bytes > 0 {
            locals.append(item.local)
        }
        guard !locals.isEmpty else { return [] }
        let reciprocals = try await reciprocals(
            of: ident, at: locals.map { ServerVersion($0.version) }, after: base, in: context)
        guard !reciprocals.isEmpty else { return locals }
        for index in locals.indices {
            let version = ServerVersion(locals[index].version)
            guard let reciprocal = reciprocals[version] else { continue }
            locals[index].changeset = try parsed(reciprocal, version, in: context)
        }
        return locals
    }

    private func parsed(_ bytes: [UInt8], _ version: ServerVersion, in context: RealmContext) throws -> Changeset {
        do {
            return try Changeset(parsing: bytes)
        } catch {
            throw WorkerError(
                .corrupt, "version \(version) of realm \(context.name) cannot be read", underlying: error)
        }
    }

    // MARK: Reciprocals

    /// The client's reciprocals, those of the given versions at least. All are held if they are few; of many only what is
    /// asked for is read.
    private func reciprocals(
        of ident: FileIdent, at versions: [ServerVersion], after base: ServerVersion, in context: RealmContext
    ) async throws -> [ServerVersion: [UInt8]] {
        guard let entry = context.clientFile(ident) else { return [:] }
        if entry.hasReciprocals(after: base) { return entry.reciprocals }
        if !entry.hasMany {
            let stored = try await store.reciprocals(
                of: context.key(ident), after: base, maxBytes: limits.maxReciprocalBytes)
            _ = context.updateEntry(ident) {
                if let stored { $0.load(stored, after: base) } else { $0.hasMany = true }
            }
            if stored != nil { return context.clientFile(ident)?.reciprocals ?? [:] }
        }
        let stored = try await store.reciprocals(
            of: context.key(ident), at: versions.filter { entry.reciprocals[$0] == nil })
        return stored.merging(entry.reciprocals) { _, newer in newer }
    }
}
