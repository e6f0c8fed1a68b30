import Changesets
import Messages
import RealmState
import Storage
import SyncModel
import Views

/// Answers sessions of flexible realms: what takes a client from where it stands to the latest version of its view, and from one view to
/// another (docs/flexible.md, "What a client gets" and "Bootstraps").
struct FlexiblePages: SlicePart {
    let work: SliceWork
    let context: RealmContext
    let file: ClientFileRecord

    /// A part of a realm's history as one client gets it.
    struct Stretch {
        var entries: [HistoryEntry] = []
        var cursor: DownloadCursor
        var compensations: [CompensatingWrite] = []
    }

    // MARK: Steady state

    /// Returns all that is new in the client's view; nil if the client is so far behind that it has to be reset.
    func page(after cursor: DownloadCursor) async throws -> PageAnswer? {
        let views = try work.clientViews(of: file, in: context)
        try read(views.views.latest.map { [$0] } ?? [], of: views, in: context)
        let view = context.latestView(of: views)
        guard let stretch = try await stretch(after: cursor, views, from: view, to: nil) else { return nil }
        return answer(after: cursor, stretch, ViewPart(compensations: notices(stretch.compensations)))
    }

    func answer(after cursor: DownloadCursor, _ stretch: Stretch, _ part: ViewPart) -> PageAnswer {
        PageAnswer(
            generation: context.record.generation, after: cursor, entries: stretch.entries, download: stretch.cursor,
            latest: context.record.latest, upload: file.upload, downloadableBytes: 0, view: part)
    }

    /// What the client is told of compensating writes on its way to the latest version, whose entries undo the writes.
    func notices(_ compensations: [CompensatingWrite]) -> [CompensationNotice] {
        compensations.filter { $0.isTold && !$0.refused.isEmpty }.map { compensation in
            CompensationNotice(
                version: context.record.latest.version, clientVersion: compensation.clientVersion,
                updates: compensation.refused.map {
                    .init(className: $0.className.string, key: $0.key.detachedEncoding(), reason: $0.text)
                }, isIngest: compensation.undoes ? nil : true)
        }
    }

    // MARK: Histories

    /// What the history after a cursor comes to for the client.
    ///
    /// - Parameters:
    ///   - view: the client's at the cursor.
    ///   - next: nil: the same at the end. Else the pages of a bootstrap have gone over all objects that no version after the cursor touched then;
    ///     and since when before images have what the view looks at.
    /// - Returns: nil if the history is longer than one answer may be, or if before images lack what tells whether the client may know of an object.
    func stretch(
        after cursor: DownloadCursor, _ views: ClientViews, from view: View,
        to next: (view: View, imaged: ServerVersion)?
    ) async throws -> Stretch? {
        let end = next?.view ?? view
        var result = Stretch(cursor: cursor)
        let latest = context.record.latest.version
        guard cursor.serverVersion < latest else { return result }
        guard
            let records = try await work.wholeHistory(
                of: context, after: cursor.serverVersion, maxBytes: limits.maxViewHistoryBytes)
        else { return nil }
        let own = Dictionary(
            views.compensations.lazy.filter { $0.version > cursor.serverVersion }.map { ($0.version, $0) },
            uniquingKeysWith: { first, _ in first })
        guard let passages = try await passages(records, own, after: cursor.serverVersion, from: view, to: next) else {
            return nil
        }
        var timestamp: SyncTimestamp = 0
        for record in records {
            let isOthers = result.cursor.pass(
                record.entry.originFile, record.entry.clientVersion, isEmpty: record.entry.changeset.isEmpty,
                for: file.ident)
            timestamp = max(timestamp, record.entry.timestamp)
            // The entries of a bootstrap all have the version at which it ends.
            let version = next == nil ? record.version : latest
            if let compensation = own[record.version] { result.compensations.append(compensation) }
            guard isOthers else { continue }
            let bytes = try selection(of: record, passages, in: end)
            guard !bytes.isEmpty else { continue }
            result.entries.append(
                HistoryEntry(
                    serverVersion: version, clientVersion: result.cursor.clientVersion,
                    originFile: record.entry.originFile, timestamp: record.entry.timestamp, changeset: bytes))
        }
        try settle(passages, in: end, at: timestamp, &result)
        return result
    }

    /// What becomes of each object that the versions touch; nil if that cannot be told.
    private func passages(
        _ records: [HistoryRecord], _ compensations: [ServerVersion: CompensatingWrite], after cursor: ServerVersion,
        from view: View, to next: (view: View, imaged: ServerVersion)?
    ) async throws -> ViewStretch.Passages? {
        var stretch = ViewStretch(after: cursor, for: file.ident, in: view)
        for record in records {
            for image in try work.images(of: record, in: context) {
                stretch.touch(record.version, by: record.entry.originFile, image)
            }
            for address in compensations[record.version]?.objects ?? [] {
                guard let table = context.state.schema.table(address.className)?.id else { continue }
                stretch.resync(ObjectSlot(table, address.key), record.version)
            }
        }
        try await work.load(stretch.slots, into: context)
        guard let next else { return stretch.passages(now: object) }
        return stretch.passages(to: next.view, imaged: next.imaged, now: object)
    }

    private func object(_ slot: ObjectSlot) -> StoredObject? {
        context.state.schema.table(slot.table).flatMap { context.state.object(ObjectAddress($0.name, slot.key)) }
    }

    /// Returns the part of a version that the client gets.
    private func selection(
        of record: HistoryRecord, _ passages: ViewStretch.Passages, in view: View
    ) throws -> [UInt8] {
        try WorkerError.reading("version \(record.version) of realm \(context.name)") {
            try SplitChangeset(parsing: record.entry.changeset).selection(record.version, passages, in: view)
        }
    }

    /// Adds what leaves the view, and what comes into it, as it is now.
    private func settle(
        _ passages: ViewStretch.Passages, in view: View, at timestamp: SyncTimestamp,
        _ result: inout Stretch
    ) throws {
        let schema = context.state.schema
        var change = CopyChange(schema: schema, in: view)
        // In an order that does not depend on chance.
        let sorted = passages.map { (slot: $0.key, key: $0.key.key.detachedEncoding(), passage: $0.value) }.sorted {
            $0.slot.table == $1.slot.table ? $0.key.lexicographicallyPrecedes($1.key) : $0.slot.table < $1.slot.table
        }
        for (slot, _, passage) in sorted {
            guard let table = schema.table(slot.table) else { continue }
            let address = ObjectAddress(table.name, slot.key)
            switch passage {
            case .passes, .nothing: continue
            case .leaves: change.erase(address)
            case .enters(let erasingFirst):
                if erasingFirst { change.erase(address) }
                if let object = context.state.object(address) {
                    change.add(address, object, without: view[table.id]?.role?.hiddenColumns ?? [])
                }
            }
        }
        result.entries += try change.entries(
            of: context.record.latest.version, result.cursor.clientVersion, at: timestamp)
    }
}
