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
        _ request: BootstrapRequest, _ views: ClientViews, after cursor: DownloadCursor,
        through reached: ServerVersion, from old: View, to new: View, maxBytes: Int
    ) async throws -> PageAnswer {
        let latest = context.record.latest.version
        let found = try await work.history(
            of: context, after: reached, through: latest, maxBytes: min(max(maxBytes, 1), limits.maxPageBytes))
        guard reached == latest || found.first?.version == reached + 1 else { throw context.lacks(reached + 1) }
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
        let version = end == latest ? latest : cursor.serverVersion
        var part = try await replacing(touched, in: new, at: cursor, of: version)
        if reached == cursor.serverVersion {
            part.entries.insert(schemaEntry(of: version, integrated(at: cursor), in: new), at: 0)
        }
        guard end == latest else {
            keepBegun(request, views)
            let done = (request.position?.done ?? 0) + UInt64(found.reduce(0) { $0 + $1.entry.changeset.count })
            let share =
                Double(cursor.serverVersion.distance(to: end)) / Double(cursor.serverVersion.distance(to: latest))
            return answer(
                request, after: cursor, part, .more(BootstrapPosition(table: 0, key: [], done: done, version: end)),
                progress: min(Self.mostBeforeTheEnd, share))
        }
        part.cursor = DownloadCursor(serverVersion: latest, clientVersion: integrated(at: cursor))
        part.compensations = views.compensations.filter { $0.version > cursor.serverVersion }
        return last(request, views, after: cursor, part, maxBytes: maxBytes)
    }

    /// Erases objects, as far as the client may hold them, and brings those that are in the view.
    private func replacing(
        _ touched: [ObjectSlot: Bool], in view: View, at cursor: DownloadCursor, of version: ServerVersion
    ) async throws -> FlexiblePages.Stretch {
        try await work.load(touched.keys, into: context)
        let schema = context.state.schema
        var change = CopyChange(schema: schema, in: view)
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
        return FlexiblePages.Stretch(
            entries: try change.entries(of: version, integrated(at: cursor), at: clock.changesetNow), cursor: cursor)
    }

    /// What entries say that are made of the realm as it is now, and so have in them all that was integrated of the client.
    private func integrated(at cursor: DownloadCursor) -> ClientVersion {
        max(cursor.clientVersion, file.upload.clientVersion)
    }
}
