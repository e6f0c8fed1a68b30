import Changesets
import Messages
import RealmState
import Storage
import SyncModel
import Views

// A client that is far behind is brought to the latest version of its view by pages over what it has missed, each a stretch of the history of
// bounded size. Of what a stretch touches everything that the client may hold is erased, and what is in the view by now comes whole: so no page
// has to know what the others have sent, and the last one has nothing to put right.
extension FlexibleBootstraps {
    /// The most objects that one page brings.
    private static let maxObjects = 2_000

    /// - Parameter reached: the version through which pages have gone.
    func catchUp(
        _ request: BootstrapRequest, _ definition: ViewDefinition, _ views: ClientViews, after cursor: DownloadCursor,
        through reached: ServerVersion, from old: View, to new: View, maxBytes: Int
    ) async throws -> PageAnswer {
        let latest = context.record.latest.version
        let found = try await work.history(
            of: context, after: reached, through: latest, maxBytes: min(max(maxBytes, 1), limits.maxPageBytes))
        guard reached == latest || found.first?.version == reached + 1 else {
            throw WorkerError(.corrupt, "realm \(context.name) has no version \(reached + 1) in its history")
        }
        let own = Dictionary(
            views.compensations.lazy.filter { $0.version > reached }.map { ($0.version, $0) },
            uniquingKeysWith: { first, _ in first })
        var end = reached
        var touched: [ObjectSlot: Bool] = [:]
        for record in found {
            for image in try work.images(of: record, in: context) {
                let mayHold =
                    record.entry.originFile == file.ident
                    || old.contains(image.before, image.slot.table, image.slot.key)
                    || new.contains(image.before, image.slot.table, image.slot.key)
                touched[image.slot] = touched[image.slot] ?? false || mayHold
            }
            for address in own[record.version]?.objects ?? [] {
                guard let table = context.state.schema.table(address.className)?.id else { continue }
                touched[ObjectSlot(table, address.key)] = true
            }
            end = record.version
            if touched.count >= Self.maxObjects { break }
        }
        var part = try await replacing(touched, in: new, at: cursor, of: end == latest ? latest : cursor.serverVersion)
        if reached == cursor.serverVersion {
            let schema = StateChangesets(schema: context.state.schema).schemaChangeset().encoded()
            part.entries.insert(entry(schema, at: cursor, of: end == latest ? latest : cursor.serverVersion), at: 0)
        }
        guard end == latest else {
            var views = views
            keep(&views, begun: begun(request))
            let done = (request.position?.done ?? 0) + UInt64(found.reduce(0) { $0 + $1.entry.changeset.count })
            let share =
                Double(cursor.serverVersion.distance(to: end)) / Double(cursor.serverVersion.distance(to: latest))
            return pages.answer(
                after: cursor, part,
                ViewPart(
                    bootstrap: BootstrapPart(
                        version: request.version,
                        outcome: .more(BootstrapPosition(table: 0, key: [], done: done, version: end)),
                        progress: min(0.99, share))))
        }
        part.cursor = DownloadCursor(
            serverVersion: latest, clientVersion: max(cursor.clientVersion, file.upload.clientVersion))
        var changed = views
        changed.views.begin(definition, at: latest, since: cursor.serverVersion)
        changed.roles = request.roles
        if part.entries.reduce(0, { $0 + $1.changeset.count }) > maxBytes { changed.begun = begun(request) }
        work.change(context).update(file.ident) { $0.views = changed.encoded() }
        return pages.answer(
            after: cursor, part,
            ViewPart(
                compensations: pages.notices(
                    views.compensations.filter { $0.version > cursor.serverVersion }),
                bootstrap: BootstrapPart(version: request.version, outcome: .last, progress: 1)))
    }

    /// Erases objects, as far as the client may hold them, and brings those that are in the view.
    private func replacing(
        _ touched: [ObjectSlot: Bool], in view: View, at cursor: DownloadCursor, of version: ServerVersion
    ) async throws -> FlexiblePages.Stretch {
        try await work.load(touched.keys, into: context)
        let schema = context.state.schema
        var change = CopyChange(schema: schema)
        // In an order that does not depend on chance.
        let sorted = touched.map { (slot: $0.key, key: $0.key.key.detachedEncoding(), mayHold: $0.value) }.sorted {
            $0.slot.table == $1.slot.table ? $0.key.lexicographicallyPrecedes($1.key) : $0.slot.table < $1.slot.table
        }
        for (slot, _, mayHold) in sorted {
            guard let table = schema.table(slot.table) else { continue }
            let address = ObjectAddress(table.name, slot.key)
            if mayHold { change.erase(address) }
            guard let object = context.state.object(address), view.contains(object, table.id, slot.key) else {
                continue
            }
            change.add(address, object, as: view[table.id]?.role)
        }
        var result = FlexiblePages.Stretch(cursor: cursor)
        for bytes in try change.changesets() {
            result.entries.append(entry(bytes, at: cursor, of: version))
        }
        return result
    }

    /// - Returns: an entry that is made of the realm as it is now, and so has in it all that was integrated of the client.
    private func entry(_ changeset: [UInt8], at cursor: DownloadCursor, of version: ServerVersion) -> HistoryEntry {
        HistoryEntry(
            serverVersion: version, clientVersion: max(cursor.clientVersion, file.upload.clientVersion),
            originFile: .server, timestamp: clock.changesetNow, changeset: changeset)
    }
}
