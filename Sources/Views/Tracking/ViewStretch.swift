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
    private var held: [ObjectSlot: HeldObject] = [:]
    private var first: [ObjectSlot: (version: ServerVersion, before: StoredObject?)] = [:]

    package init(after cursor: ServerVersion, for file: FileIdent, in view: View) {
        self.cursor = cursor
        self.file = file
        self.view = view
    }

    /// The objects that anything happened to.
    package var slots: some Collection<ObjectSlot> { held.keys }

    /// A version touches an object, later than those before.
    package mutating func touch(_ version: ServerVersion, by author: FileIdent, _ image: BeforeImages.Image) {
        if first[image.slot] == nil { first[image.slot] = (version, image.before) }
        held[image.slot, default: HeldObject(at: cursor)].touch(
            version, isOwn: author == file, before: view.place(of: image.before, image.slot))
    }

    /// The client is sent a compensating write about an object.
    package mutating func resync(_ slot: ObjectSlot, _ version: ServerVersion) {
        held[slot, default: HeldObject(at: cursor)].resync(version)
    }

    /// - Parameter now: an object at the end of the stretch, as far as views look at it; nil if there is none.
    package func passages(now: (ObjectSlot) -> StoredObject?) -> Passages {
        var passages: Passages = [:]
        passages.reserveCapacity(held.count)
        for (slot, held) in held { passages[slot] = held.passage(now: view.place(of: now(slot), slot)) }
        return passages
    }

    /// The same at the end of a bootstrap whose pages have gone over all objects that the stretch did not touch when they were made.
    ///
    /// - Parameter imaged: the version since which before images have what the next view looks at. The pages were made later.
    package func passages(to next: View, imaged: ServerVersion, now: (ObjectSlot) -> StoredObject?) -> Passages {
        var passages = passages(now: now)
        let isByNewRoles = view.definition.roles != next.definition.roles
        for (slot, passage) in passages {
            let now = now(slot)
            let start = first[slot].map(\.before) ?? now
            // What was touched before the pages were made they have left out.
            let mayBeMade = first[slot].map { $0.version > imaged } ?? true
            passages[slot] = passage.changing(
                wasInOld: view.contains(start, slot.table, slot.key),
                wasInNew: mayBeMade && next.contains(start, slot.table, slot.key),
                isInNew: next.contains(now, slot.table, slot.key), isByNewRoles: isByNewRoles)
        }
        return passages
    }
}

extension View {
    package func place(of object: StoredObject?, _ slot: ObjectSlot) -> HeldObject.Place {
        guard let object else { return .missing }
        return contains(object, slot.table, slot.key) ? .inView : .outside
    }

    /// Whether two views show the same properties of a class's objects.
    package func showsAlike(_ other: View, _ table: TableID) -> Bool {
        self[table]?.role?.hiddenColumns ?? [] == other[table]?.role?.hiddenColumns ?? []
    }
}
