import Changesets
import Merge
import Storage
import SyncModel
import Views

/// Feeds one upload's merge with what its client has not seen: of that only what the upload may conflict with, read in steps of
/// bounded size (docs/merge.md, "Uploads at the server").
struct UploadMerge: SlicePart {
    let work: SliceWork
    let file: ClientFileRecord
    let context: RealmContext
    let upload: AsideMerge.Upload
    /// The upload as a step beside the slice has left it; nil if none has gone on.
    private let aside: Result<AsideMerge.Merged, MergeError>?
    /// Counts what the merge takes, and ends it where it takes too much.
    private let meter: MergeMeter
    /// The cost that had been taken before this batch.
    private let taken: UInt64

    /// - Parameters:
    ///   - spent: what merging the upload has taken in this batch already, in steps.
    ///   - judging: what judging it has taken: the slice waits for that much less.
    init(
        work: SliceWork, file: ClientFileRecord, context: RealmContext, upload: AsideMerge.Upload, spent: UInt64 = 0,
        judging: UInt64 = 0
    ) {
        self.work = work
        self.file = file
        self.context = context
        self.upload = upload
        aside =
            upload.entries.isEmpty ? nil : work.memory.asides.merges.take(of: context.name) { $0.upload == upload }
        taken = (try? aside?.get().steps) ?? spent
        meter = MergeMeter(
            limit: work.environment.limits.mergeStepsPerUpload, taken: taken,
            patience: work.mergePatience - min(work.mergePatience, spent + judging))
    }

    private var own: [ObjectAddress: ServerVersion] { upload.own }

    /// The cost of the upload so far, in steps.
    var steps: UInt64 { meter.steps }

    /// Merges changesets with all that their client has not seen.
    ///
    /// - Throws: `BadChangesetError`, `MergePause`, `CancellationError`.
    func merged(_ changesets: [IncomingChangeset]) async throws -> UploadIntegration {
        var integration: UploadIntegration
        switch aside {
        case .success(let merged):
            metrics.merged(over: merged.entries, conflicts: merged.conflicts, app: context.name.app)
            metrics.mergeSteps(merged.ownSteps, app: context.name.app)
            if merged.duration > .seconds(1) { metrics.slowMerge(app: context.name.app) }
            integration = merged.integration
        case .failure(let error): throw failure(error)
        case nil:
            integration = UploadIntegration(
                upload.head, of: file.ident, changesets: changesets, recorded: upload.recorded)
        }
        guard !changesets.isEmpty else { return integration }
        defer {
            work.cost += meter.steps - taken
            metrics.mergeSteps(meter.steps - taken, app: context.name.app)
        }
        try await merge(&integration)
        return integration
    }

    private func merge(_ integration: inout UploadIntegration) async throws {
        let current = context.record.latest.version
        guard integration.position < current else { return }
        if let base = try await work.base(at: integration.position, of: file, in: context) {
            try await merge(&integration, over: base)
        }
        let start = integration.position
        if let versions = try await versions(for: integration) {
            var rest = versions[...]
            while let first = rest.first {
                let (locals, count) = try await locals(of: rest, for: integration, after: start)
                let end = rest.dropFirst(count - 1).first ?? first
                try merge(&integration, over: locals, through: end)
                rest = rest.dropFirst(count)
            }
            return
        }
        while integration.position < current {
            let records = try await work.history(
                of: context, after: integration.position, through: current, maxBytes: limits.maxWindowBytes)
            guard let end = records.last?.version else { throw context.lacks(integration.position + 1) }
            let items = try records.filter {
                integration.meets(author: $0.entry.originFile, isEmpty: $0.entry.changeset.isEmpty)
            }.map(item)
            try merge(&integration, over: try await reciprocated(items, for: integration, after: start), through: end)
        }
    }

    /// Merges an upload of a client that has not got all of its base with the rest of it, as if the base were history.
    private func merge(_ integration: inout UploadIntegration, over base: BaseRecord) async throws {
        let start = integration.position
        var selected: ArraySlice<ServerVersion>?
        if let touches = touches(of: integration) {
            let search = HistorySearch(
                key: base.historyKey, touches: touches, author: integration.clientFile,
                maxBytes: limits.maxDigestBytes, logger: logger)
            selected = try await search.versions(after: start, through: base.lastEntry, in: store)[...]
        }
        var cursor = start
        while selected.map({ !$0.isEmpty }) ?? (cursor < base.lastEntry) {
            let records: [HistoryRecord]
            if let selected {
                records = try await store.history(
                    of: base.historyKey, at: selected.prefix(256), maxBytes: limits.maxWindowBytes)
            } else {
                records = try await store.history(
                    of: base.historyKey, after: cursor, through: base.lastEntry, maxBytes: limits.maxWindowBytes)
            }
            guard let last = records.last else {
                throw WorkerError(
                    .corrupt, "realm \(context.name) lacks changesets of its base at version \(base.version)")
            }
            let locals = try await reciprocated(try records.map(item), for: integration, after: start)
            try merge(&integration, over: locals, through: last.version)
            selected = selected?.dropFirst(records.count)
            cursor = last.version
        }
        // The base as a whole is the realm as it was at the base's version.
        try merge(&integration, over: [], through: base.version)
    }

    /// Merges an upload with the next versions that take part.
    private func merge(
        _ integration: inout UploadIntegration, over entries: [LocalChangeset], through end: ServerVersion
    ) throws {
        let taken = meter.steps
        do {
            let conflicts = try integration.merge(over: entries, through: end, using: MeteredMerge(meter: meter))
            if !entries.isEmpty { metrics.merged(over: entries.count, conflicts: conflicts, app: context.name.app) }
        } catch {
            guard error.code == .paused else { throw failure(error) }
            throw MergePause(
                merge: AsideMerge(
                    upload: upload, integration: integration, entries: entries, end: end, taken: taken,
                    limit: limits.mergeStepsPerUpload))
        }
    }

    /// Makes the error of an upload whose merge has failed.
    private func failure(_ error: MergeError) -> any Error {
        switch error.code {
        case .cancelled: CancellationError()
        case .budgetExceeded: BadChangesetError(reason: costs, isTooDear: true)
        default: BadChangesetError(reason: error.description, tellsOfObjects: true)
        }
    }

    /// Why the upload is cut off.
    private var costs: String {
        "merging an upload of client file \(file.ident) with what it had not seen of realm \(context.name.partition), from"
            + " version \(file.upload.serverVersion) to \(context.record.latest.version), takes more than the"
            + " \(limits.mergeStepsPerUpload) steps that one upload may take (worker.upload_merge_steps)"
    }

    // MARK: Selecting

    /// Returns what an upload touches, by which is searched for what it may conflict with; nil if it may conflict with
    /// everything.
    private func touches(of integration: UploadIntegration) -> Touches? {
        let touches = integration.touches()
        return limits.usesHistoryIndex && !touches.isDestructive ? touches : nil
    }

    /// The versions that an upload may still conflict with, ascending. Nil: all of them.
    private func versions(for integration: UploadIntegration) async throws -> [ServerVersion]? {
        let (author, start) = (integration.clientFile, integration.position)
        if limits.usesHistoryIndex, context.index.isAll(by: author, after: start) { return [] }
        guard let touches = touches(of: integration) else { return nil }
        return try await TouchSearch(work: work, context: context).versions(
            meeting: touches, after: start, notBy: author)
    }

    // MARK: Local changesets

    /// Returns the changesets of as many of the versions as one step may hold, at least one, and the number of those versions.
    private func locals(
        of versions: ArraySlice<ServerVersion>, for integration: UploadIntegration, after base: ServerVersion
    ) async throws -> (locals: [LocalChangeset], count: Int) {
        var items: [ChangesetCache.Item] = []
        var bytes = 0
        var rest = versions
        while let version = rest.first, bytes < limits.maxWindowBytes {
            if let known = context.parsed.item(version) {
                items.append(known)
            } else if let record = context.recent.record(version) {
                let item = try item(record)
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
                    let item = try item(record)
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
        return (try await reciprocated(items, for: integration, after: base), versions.count - rest.count)
    }

    private func item(_ record: HistoryRecord) throws -> ChangesetCache.Item {
        let changeset = try parsed(record.entry.changeset, record.version)
        return ChangesetCache.Item(
            local: LocalChangeset(
                version: record.version.rawValue, originTimestamp: record.entry.timestamp.rawValue,
                originFileIdent: record.entry.originFile.rawValue, changeset: changeset,
                positions: ObjectPositions(changeset)), bytes: record.entry.changeset.count)
    }

    /// The entries that take part in the merge, as earlier merges with the same client have left them.
    private func reciprocated(
        _ items: [ChangesetCache.Item], for integration: UploadIntegration, after base: ServerVersion
    ) async throws -> [LocalChangeset] {
        var locals: [LocalChangeset] = []
        for item in items
        where integration.meets(author: FileIdent(item.local.originFileIdent), isEmpty: item.bytes == 0) {
            locals.append(item.local)
        }
        guard !locals.isEmpty else { return [] }
        let reciprocals = try await reciprocals(
            at: locals.map { ServerVersion($0.version) }, after: base)
        guard !reciprocals.isEmpty || !own.isEmpty else { return locals }
        for index in locals.indices {
            let version = ServerVersion(locals[index].version)
            if let reciprocal = reciprocals[version] { locals[index].changeset = try parsed(reciprocal, version) }
            if own.contains(where: { version <= $0.value }) {
                locals[index].changeset = try without(own, locals[index].changeset, version)
            }
        }
        return locals
    }

    /// A changeset but for what it does to some objects up to some versions.
    private func without(
        _ objects: [ObjectAddress: ServerVersion], _ changeset: Changeset, _ version: ServerVersion
    ) throws -> Changeset {
        var selection = ChangesetSelection()
        try WorkerError.reading("version \(version) of realm \(context.name)") {
            try selection.append(changeset) { address, _ in
                guard let address, let last = objects[address] else { return true }
                return version > last
            }
        }
        return selection.changeset
    }

    private func parsed(_ bytes: [UInt8], _ version: ServerVersion) throws -> Changeset {
        try WorkerError.reading("version \(version) of realm \(context.name)") { try Changeset(parsing: bytes) }
    }

    // MARK: Reciprocals

    /// The client's reciprocals, those of the given versions at least. All are held if they are few; of many only what is
    /// asked for is read.
    private func reciprocals(
        at versions: [ServerVersion], after base: ServerVersion
    ) async throws -> [ServerVersion: [UInt8]] {
        let drafted = context.draftedReciprocals(of: file.ident)
        let stored = try await storedReciprocals(at: versions, after: base)
        return drafted.isEmpty ? stored : stored.merging(drafted) { _, newer in newer }
    }

    private func storedReciprocals(
        at versions: [ServerVersion], after base: ServerVersion
    ) async throws -> [ServerVersion: [UInt8]] {
        let key = context.key(file.ident)
        guard let entry = context.clientFile(file.ident) else { return [:] }
        if entry.hasReciprocals(after: base) { return entry.reciprocals }
        if !entry.hasMany {
            let stored = try await store.reciprocals(of: key, after: base, maxBytes: limits.maxReciprocalBytes)
            context.remember(stored, after: base, of: file.ident)
            if stored != nil { return context.clientFile(file.ident)?.reciprocals ?? [:] }
        }
        let stored = try await store.reciprocals(of: key, at: versions.filter { entry.reciprocals[$0] == nil })
        return stored.merging(entry.reciprocals) { _, newer in newer }
    }
}
