import Changesets
import Messages
import RealmState
import Storage
import SyncModel
import Views

extension NoticedObjects {
    /// Makes what gateways need to tell whom a commit concerns; nil if there is nothing, or if it is too much.
    ///
    /// - Parameters:
    ///   - history: the versions of the commit.
    ///   - state: the realm after them, with everything that they touch.
    init?(
        _ history: ArraySlice<HistoryRecord>, _ state: RealmState, _ imaged: ImagedColumns, schema stamp: UInt64,
        isNewSchema: Bool, maxBytes: Int
    ) {
        guard !history.isEmpty, history.reduce(0, { $0 + $1.images.count }) <= maxBytes else { return nil }
        var now: [ObjectSlot: BeforeImages.Image] = [:]
        var bytes = 0
        for record in history {
            guard let images = try? BeforeImages(decoding: record.images).images else { return nil }
            for image in images where now[image.slot] == nil {
                guard let table = state.schema.table(image.slot.table) else { return nil }
                let address = ObjectAddress(table.name, image.slot.key)
                guard state.isLoaded(address) else { return nil }
                let object = state.object(address).map { imaged.image(of: $0, in: table.id) }
                bytes += object?.encodedWeight ?? 0
                guard bytes <= maxBytes else { return nil }
                now[image.slot] = BeforeImages.Image(image.slot, before: object)
            }
        }
        self.init(
            schema: stamp, changedSchema: isNewSchema ? state.schema.encoded() : [], before: history.map(\.images),
            now: BeforeImages(Array(now.values)).encoded())
    }
}

/// A number that tells a realm's schema from others, worked out once for each.
struct SchemaStamp {
    private var known: (columns: Int, stamp: UInt64)?

    mutating func of(_ schema: Schema) -> UInt64 {
        // A schema only grows.
        let columns = schema.tables.reduce(schema.tables.count) { $0 &+ Int($1.nextColumnID) }
        if let known, known.columns == columns { return known.stamp }
        let stamp = max(FNV1a.hash64(schema.encoded()), 1)
        known = (columns, stamp)
        return stamp
    }
}
