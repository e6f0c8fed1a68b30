import Changesets
import Merge
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
    /// - Returns: nil if before images lack what tells whether the client may know of an object.
    func catchUp(
        _ request: BootstrapRequest, _ views: ClientViews, after cursor: DownloadCursor,
        through reached: ServerVersion, from old: View, to new: View, maxBytes: Int
    ) async throws -> PageAnswer? {
        let latest = context.record.latest.version
        let found = try await work.history(
            of: context, after: reached, through: latest, maxBytes: min(max(maxBytes, 1), limits.maxPageBytes))
        guard reached == latest || found.first?.version == reached + 1 else { throw context.lacks(reached + 1) }
        let own = Dictionary(
            views.compensations.lazy.filter { $0.version > reached }.map { ($0.version, $0) },
            uniquingKeysWith: { first, _ in first })
        let isOneView = old.definition.queries == new.definition.queries && old.definition.roles == new.definition.roles
        var end = reached
        // Up to which version objects are looked at, though some of its objects may be left for the next page.
        var looked = reached
        // What is erased, and what is brought.
        var touched: Touched = [:]
        var images: [ObjectSlot: [BeforeImages.Image]] = [:]
        // What a page before has gone over of the next version.
        var skipped = Int(request.position?.table ?? 0)
        for record in found {
            let all = try work.images(of: record, in: context)
            try await work.load(all.lazy.map(\.slot), into: context)
            looked = record.version
            for image in all.dropFirst(skipped) {
                skipped += 1
                images[image.slot, default: []].append(image)
                let known = touched[image.slot]
                touched[image.slot] = (
                    known?.mayHold ?? false || record.entry.originFile == file.ident,
                    known?.isIn ?? isIn(image.slot, new)
                )
                try waitIfDue(context)
                if let meter = new.meter, meter.overrun != nil { return tooDear(request, meter, at: cursor) }
                if hasTakenLong(old, new) { break }
            }
            if skipped < all.count { break }
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
        let canBeTold = try await mark(&touched, by: images, through: looked) { object, slot in
            isOneView ? [old.place(of: object, slot)] : [old.place(of: object, slot), new.place(of: object, slot)]
        }
        try waitIfDue(context)
        guard canBeTold else { return nil }
        // What past states take there says nothing of what is to be brought.
        new.meter?.forgive()
        let version = end == latest ? latest : cursor.serverVersion
        // A page before brought objects as they were then, which may be in the view only by what this page is about.
        if request.position != nil { for (slot, found) in touched where found.isIn { touched[slot]?.mayHold = true } }
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

    private typealias Touched = [ObjectSlot: (mayHold: Bool, isIn: Bool)]

    private func isIn(_ slot: ObjectSlot, _ view: View) -> Bool { view.contains(now(slot), slot.table, slot.key) }

    private func hasTakenLong(_ old: View, _ new: View) -> Bool {
        (old.meter?.steps ?? 0) + (new.meter?.steps ?? 0) > limits.evaluation.stepsPerPage
    }

    /// What a client has missed that cannot be told from what it holds: what its user may have seen of it is erased, and what is in the view by
    /// now comes whole.
    ///
    /// - Returns: nil if the history is longer than one answer may be, or if before images lack what tells whether the client may know of an
    ///   object.
    func replacement(
        _ views: ClientViews, from old: View, in view: View, at cursor: DownloadCursor
    ) async throws -> FlexiblePages.Stretch? {
        guard
            let records = try await work.wholeHistory(
                of: context, after: cursor.serverVersion, maxBytes: limits.maxViewHistoryBytes)
        else { return nil }
        let own = views.compensations.filter { $0.version > cursor.serverVersion }
        var touched: Touched = [:]
        var images: [ObjectSlot: [BeforeImages.Image]] = [:]
        for record in records {
            for image in try work.images(of: record, in: context) {
                images[image.slot, default: []].append(image)
                let isOwn = record.entry.originFile == file.ident
                touched[image.slot] = (touched[image.slot]?.mayHold ?? false || isOwn, false)
            }
        }
        for address in own.flatMap(\.objects) {
            guard let table = context.state.schema.table(address.className)?.id else { continue }
            touched[ObjectSlot(table, address.key)] = (true, false)
        }
        try await work.load(touched.keys, into: context)
        for slot in touched.keys { touched[slot]?.isIn = isIn(slot, view) }
        try waitIfDue(context)
        let latest = context.record.latest.version
        // Queries are what takes too long: roles tell whether the user could see an object.
        let canBeTold = try await mark(&touched, by: images, through: latest) { object, slot in
            [old.placeByRole(of: object, slot), view.placeByRole(of: object, slot)]
        }
        guard canBeTold else { return nil }
        var part = try replacing(touched, in: view, at: cursor, of: latest)
        part.cursor = DownloadCursor(serverVersion: latest, clientVersion: integrated(at: cursor))
        part.compensations = own
        return part
    }

    /// Marks the objects that the client may hold since they were in one of its views.
    ///
    /// - Parameters:
    ///   - end: the last version that the images are of.
    ///   - placesOf: where an object was, by each of the views.
    /// - Returns: whether it can be told of all that are not in the new view whether the client may know of them.
    private func mark(
        _ touched: inout Touched, by images: [ObjectSlot: [BeforeImages.Image]], through end: ServerVersion,
        _ placesOf: (StoredObject?, ObjectSlot) -> [HeldObject.Place]
    ) async throws -> Bool {
        try await work.load(images.keys, into: context)
        let isAtEnd = end == context.record.latest.version
        let imaged = context.imaged
        var veiled: Set<ObjectSlot> = []
        for (slot, images) in images where touched[slot]?.mayHold == false {
            // What was left alone by the last one here may have been changed by a later one.
            var after = isAtEnd ? now(slot) : StoredObject()
            if !isAtEnd { after?.untold = imaged.columns(of: slot.table) }
            let places = BeforeImages.resolved(images, now: after).flatMap { placesOf($0, slot) }
            if places.contains(where: { $0 == .inView || $0 == .unclear }) {
                touched[slot]?.mayHold = true
            } else if places.contains(.veiled) {
                veiled.insert(slot)
            }
        }
        guard !veiled.isEmpty else { return true }
        guard let later = isAtEnd ? [:] : try await self.images(of: veiled, after: end) else { return false }
        for slot in veiled {
            let here = images[slot] ?? []
            let states = BeforeImages.resolved(here + (later[slot] ?? []), now: now(slot)).prefix(here.count)
            let places = states.flatMap { placesOf($0, slot) }
            let isHeld = places.contains { $0 == .inView || $0 == .unclear }
            if !isHeld, places.contains(.veiled), touched[slot]?.isIn != true { return false }
            touched[slot]?.mayHold = isHeld || places.contains(.veiled)
        }
        return true
    }

    private func now(_ slot: ObjectSlot) -> StoredObject? {
        context.state.schema.table(slot.table).flatMap { context.state.object(ObjectAddress($0.name, slot.key)) }
    }

    /// What the versions after one have of some objects; nil if that is too much to be read for one page.
    private func images(
        of slots: Set<ObjectSlot>, after end: ServerVersion
    ) async throws -> [ObjectSlot: [BeforeImages.Image]]? {
        var objects = ChangesetSelection()
        for slot in slots {
            if let table = context.state.schema.table(slot.table) { objects.erase(ObjectAddress(table.name, slot.key)) }
        }
        var found: [ObjectSlot: [BeforeImages.Image]] = [:]
        var bytes = 0
        func add(_ record: HistoryRecord) throws {
            bytes += record.images.count
            for image in try work.images(of: record, in: context) where slots.contains(image.slot) {
                found[image.slot, default: []].append(image)
            }
        }
        var rest = try await TouchSearch(work: work, context: context).versions(
            meeting: Touches(of: CollectionOfOne(objects.changeset)), after: end, notBy: 0)[...]
        while let next = rest.first {
            guard bytes <= limits.maxPageBytes else { return nil }
            if let recent = context.recent.record(next) {
                try add(recent)
                rest = rest.dropFirst()
                continue
            }
            let records = try await store.history(
                of: context.historyKey, at: rest.prefix(256).prefix { $0 <= context.recent.base },
                maxBytes: limits.maxWindowBytes)
            guard !records.isEmpty else { throw context.lacks(next) }
            for record in records { try add(record) }
            rest = rest.dropFirst(records.count)
        }
        for record in context.drafted where record.version > end { try add(record) }
        return found
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
            change.add(address, object, without: view[table.id]?.role?.hiddenColumns ?? [])
        }
        return FlexiblePages.Stretch(
            entries: try change.entries(of: version, integrated(at: cursor), at: clock.changesetNow), cursor: cursor)
    }

    /// What entries say that are made of the realm as it is now, and so have in them all that was integrated of the client.
    private func integrated(at cursor: DownloadCursor) -> ClientVersion {
        max(cursor.clientVersion, file.upload.clientVersion)
    }
}
