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
    private var first: [ObjectSlot: StoredObject?] = [:]

    package init(after cursor: ServerVersion, for file: FileIdent, in view: View) {
        self.cursor = cursor
        self.file = file
        self.view = view
    }

    /// The objects that anything happened to.
    package var slots: some Collection<ObjectSlot> { held.keys }

    /// A version touches an object, later than those before.
    package mutating func touch(_ version: ServerVersion, by author: FileIdent, _ image: BeforeImages.Image) {
        if first[image.slot] == nil { first.updateValue(image.before, forKey: image.slot) }
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

    /// The same at the end of a bootstrap whose pages have gone over all objects that the stretch does not touch.
    package func passages(to next: View, now: (ObjectSlot) -> StoredObject?) -> Passages {
        var passages = passages(now: now)
        for (slot, passage) in passages {
            let now = now(slot)
            let start = first[slot] ?? now
            passages[slot] = passage.changing(
                wasInOld: view.contains(start, slot.table, slot.key),
                wasInNew: next.contains(start, slot.table, slot.key), isInNew: next.contains(now, slot.table, slot.key))
        }
        return passages
    }
}

extension View {
    package func place(of object: StoredObject?, _ slot: ObjectSlot) -> HeldObject.Place {
        guard let object else { return .missing }
        return contains(object, slot.table, slot.key) ? .inView : .outside
    }
}
