import Changesets
import Messages
import Query
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
        let isOneView = old.definition.queries == new.definition.queries && old.definition.roles == new.definition.roles
        var end = reached
        // What is erased, and what is brought.
        var touched: [ObjectSlot: (mayHold: Bool, isIn: Bool)] = [:]
        // What a page before has gone over of the next version.
        var skipped = Int(request.position?.table ?? 0)
        for record in found {
            let images = try work.images(of: record, in: context)
            try await work.load(images.lazy.map(\.slot), into: context)
            for image in images.dropFirst(skipped) {
                skipped += 1
                let mayHold =
                    record.entry.originFile == file.ident || mayHave(image.before, image.slot, old)
                    || !isOneView && mayHave(image.before, image.slot, new)
                new.meter?.forgive()
                let known = touched[image.slot]
                touched[image.slot] = (
                    known?.mayHold ?? false || mayHold, known?.isIn ?? isIn(image.slot, new)
                )
                if let meter = new.meter, meter.overrun != nil { return tooDear(request, meter, at: cursor) }
                if hasTakenLong(old, new) { break }
            }
            if skipped < images.count { break }
            skipped = 0
            for address in own[record.version]?.objects ?? [] {
                guard let table = context.state.schema.table(address.className)?.id else { continue }
                let slot = ObjectSlot(table, address.key)
                try await work.load(CollectionOfOne(slot), into: context)
                touched[slot] = (true, touched[slot]?.isIn ?? isIn(slot, new))
            }
            end = record.version
            if touched.count >= Self.maxObjects || hasTakenLong(old, new) { break }
        }
        if let meter = new.meter, meter.overrun != nil { return tooDear(request, meter, at: cursor) }
        let version = end == latest ? latest : cursor.serverVersion
        var part = try replacing(touched, in: new, at: cursor, of: version)
        if request.position == nil {
            part.entries.insert(schemaEntry(of: version, integrated(at: cursor), in: new), at: 0)
        }
        guard end == latest else {
            keepBegun(request, views)
            let done = (request.position?.done ?? 0) + UInt64(found.reduce(0) { $0 + $1.entry.changeset.count })
            let share =
                Double(cursor.serverVersion.distance(to: end)) / Double(cursor.serverVersion.distance(to: latest))
            let next = BootstrapPosition(table: UInt32(clamping: skipped), key: [], done: done, version: end)
            return answer(request, after: cursor, part, .more(next), progress: min(Self.mostBeforeTheEnd, share))
        }
        part.cursor = DownloadCursor(serverVersion: latest, clientVersion: integrated(at: cursor))
        part.compensations = views.compensations.filter { $0.version > cursor.serverVersion }
        return last(request, views, after: cursor, part, maxBytes: maxBytes)
    }

    /// Whether the client may have an object by a view, as far as can be told.
    private func mayHave(_ object: StoredObject?, _ slot: ObjectSlot, _ view: View) -> Bool {
        view.membership(of: object, slot.table, slot.key) ?? true
    }

    private func isIn(_ slot: ObjectSlot, _ view: View) -> Bool {
        guard let table = context.state.schema.table(slot.table) else { return false }
        return view.contains(context.state.object(ObjectAddress(table.name, slot.key)), slot.table, slot.key)
    }

    private func hasTakenLong(_ old: View, _ new: View) -> Bool {
        (old.meter?.steps ?? 0) + (new.meter?.steps ?? 0) > limits.evaluation.stepsPerPage
    }

    /// What a client has missed that cannot be told from what it holds: all of it is erased, and what is in the view by now comes whole.
    ///
    /// - Returns: nil if the history is longer than one answer may be.
    func replacement(
        _ views: ClientViews, in view: View, at cursor: DownloadCursor
    ) async throws -> FlexiblePages.Stretch? {
        guard
            let records = try await work.wholeHistory(
                of: context, after: cursor.serverVersion, maxBytes: limits.maxViewHistoryBytes)
        else { return nil }
        let own = views.compensations.filter { $0.version > cursor.serverVersion }
        var slots = Set(
            own.flatMap(\.objects).compactMap { address in
                context.state.schema.table(address.className).map { ObjectSlot($0.id, address.key) }
            })
        for record in records { slots.formUnion(try work.images(of: record, in: context).lazy.map(\.slot)) }
        try await work.load(slots, into: context)
        let touched = slots.map { ($0, (mayHold: true, isIn: isIn($0, view))) }
        let latest = context.record.latest.version
        var part = try replacing(
            Dictionary(uniqueKeysWithValues: touched), in: view, at: cursor, of: latest)
        part.cursor = DownloadCursor(serverVersion: latest, clientVersion: integrated(at: cursor))
        part.compensations = own
        return part
    }

    /// Erases objects, as far as the client may hold them, and brings those that are in the view.
    private func replacing(
        _ touched: [ObjectSlot: (mayHold: Bool, isIn: Bool)], in view: View, at cursor: DownloadCursor,
        of version: ServerVersion
    ) throws -> FlexiblePages.Stretch {
        let schema = context.state.schema
        var change = CopyChange(schema: schema, in: view)
        // In an order that does not depend on chance.
        let sorted = touched.map { (slot: $0.key, key: $0.key.key.detachedEncoding(), found: $0.value) }.sorted {
            $0.slot.table == $1.slot.table ? $0.key.lexicographicallyPrecedes($1.key) : $0.slot.table < $1.slot.table
        }
        for (slot, _, found) in sorted {
            guard let table = schema.table(slot.table) else { continue }
            let address = ObjectAddress(table.name, slot.key)
            if found.mayHold { change.erase(address) }
            guard found.isIn, let object = context.state.object(address) else { continue }
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
