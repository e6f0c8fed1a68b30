package import RealmState
package import SyncModel

/// A stretch of a realm's history on its way to one client that holds a view: which objects its versions touch, and what becomes of them at
/// the client. Pure: owners fill it from stores, gateways from notices.
package struct ViewStretch: Sendable {
    package typealias Passages = [ObjectSlot: HeldObject.Passage]

    package let view: View
    /// Where the client stands.
    package let cursor: ServerVersion
    /// The client's own file; its versions are not echoed.
    package let file: FileIdent
    private var events: [ObjectSlot: [Event]] = [:]

    private struct Event {
        var version: ServerVersion
        var isOwn: Bool
        /// Nil for a resync, which touches nothing.
        var image: BeforeImages.Image?
    }

    package init(after cursor: ServerVersion, for file: FileIdent, in view: View) {
        self.cursor = cursor
        self.file = file
        self.view = view
    }

    /// The objects that anything happened to.
    package var slots: some Collection<ObjectSlot> { events.keys }

    /// A version touches an object, later than those before.
    package mutating func touch(_ version: ServerVersion, by author: FileIdent, _ image: BeforeImages.Image) {
        events[image.slot, default: []].append(Event(version: version, isOwn: author == file, image: image))
    }

    /// The client is sent a compensating write about an object.
    package mutating func resync(_ slot: ObjectSlot, _ version: ServerVersion) {
        events[slot, default: []].append(Event(version: version, isOwn: false, image: nil))
    }

    /// - Parameter now: an object at the end of the stretch, as far as views look at it; nil if there is none.
    /// - Returns: nil if it cannot be told without disclosing to the client what it may not know of: it has to begin anew.
    package func passages(now: (ObjectSlot) -> StoredObject?) -> Passages? {
        var passages: Passages = [:]
        passages.reserveCapacity(events.count)
        for (slot, events) in events {
            let passage = course(of: slot, events, now: now(slot)).passage
            guard let passage else { return nil }
            passages[slot] = passage
        }
        return passages
    }

    /// The same at the end of a bootstrap whose pages have gone over all objects that the stretch did not touch when they were made.
    ///
    /// - Parameter imaged: the version since which before images have what the next view looks at. The pages were made later.
    package func passages(to next: View, imaged: ServerVersion, now: (ObjectSlot) -> StoredObject?) -> Passages? {
        var passages: Passages = [:]
        passages.reserveCapacity(events.count)
        let isByNewRoles = view.definition.roles != next.definition.roles
        for (slot, events) in events {
            let now = now(slot)
            let course = course(of: slot, events, now: now)
            guard let passage = course.passage else { return nil }
            // What was touched before the pages were made they have left out.
            let mayBeMade = course.first.map { $0 > imaged } ?? true
            let (was, willBe) = (view.place(of: course.start, slot), next.place(of: course.start, slot))
            let isInNew = next.contains(now, slot.table, slot.key)
            let isUnclear = was.isUnclear || mayBeMade && willBe.isUnclear
            if isUnclear, !isInNew, was == .veiled || mayBeMade && willBe == .veiled { return nil }
            passages[slot] = passage.changing(
                wasInOld: was == .inView || was.isUnclear,
                wasInNew: mayBeMade && (willBe == .inView || willBe.isUnclear), isInNew: isInNew,
                isByNewRoles: isByNewRoles || isUnclear)
        }
        return passages
    }

    /// What has become of an object.
    ///
    /// - Returns: `start`: how it was where the client stands; `first`: the first version that touches it; `passage`: nil if it cannot be told.
    private func course(
        of slot: ObjectSlot, _ events: [Event], now: StoredObject?
    ) -> (start: StoredObject?, first: ServerVersion?, passage: HeldObject.Passage?) {
        let columns = view[slot.table]?.columns ?? []
        let end = view.place(of: now, slot)
        var (after, place) = (now, end)
        var places: [HeldObject.Place?] = []
        places.reserveCapacity(events.count)
        for event in events.reversed() {
            guard let image = event.image else {
                places.append(nil)
                continue
            }
            let before = image.resolved(after: after)
            // What the version leaves alone need not be looked at again.
            if image.changes(columns, after: after) { place = view.place(of: before, slot) }
            after = before
            places.append(place)
        }
        var held = HeldObject(at: cursor)
        for (event, place) in zip(events, places.reversed()) {
            if let place {
                held.touch(event.version, isOwn: event.isOwn, before: place)
            } else {
                held.resync(event.version)
            }
        }
        let first = events.first { $0.image != nil }?.version
        let passage = held.passage(now: end)
        return (after, first, passage == .leaves && held.isVeiled(now: end) ? nil : passage)
    }
}

extension View {
    package func place(of object: StoredObject?, _ slot: ObjectSlot) -> HeldObject.Place {
        guard let object else { return .missing }
        return self[slot.table]?.place(of: object, slot.key) ?? .outside
    }

    /// The place as far as the user's roles alone tell it: an object that may be seen may have been selected.
    package func placeByRole(of object: StoredObject?, _ slot: ObjectSlot) -> HeldObject.Place {
        guard let object else { return .missing }
        guard let view = self[slot.table], view.query != nil, let role = view.role else { return .outside }
        let untold = object.untold
        if !untold.isEmpty, role.columns.contains(where: untold.contains) { return .veiled }
        return role.isVisible(object, slot.key) ? .unclear : .outside
    }

    /// Whether two views show the same properties of a class's objects.
    package func showsAlike(_ other: View, _ table: TableID) -> Bool {
        self[table]?.role?.hiddenColumns ?? [] == other[table]?.role?.hiddenColumns ?? []
    }
}
