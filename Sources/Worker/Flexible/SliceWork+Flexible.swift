import Changesets
import RealmState
import Storage
import SyncModel
import Views

extension SliceWork {
    /// The client file of a flexible realm comes for the first time: what it has is set 0, which is empty, as the realm is now; or what it says.
    func beginFlexible(
        _ file: ClientFileRecord, at version: ServerVersion, in context: RealmContext
    ) throws -> ClientFileRecord {
        guard file.historyStart == nil else { return file }
        let start = version == 0 ? context.record.latest.version : version
        var file = file
        file.historyStart = start
        var views = try clientViews(of: file, in: context)
        if views.views.segments.isEmpty {
            views.views.begin(.empty(roles: views.roles), at: start)
            file.views = views.encoded()
        }
        change(context).update(file.ident) { [file] in
            $0.historyStart = file.historyStart
            $0.views = file.views
        }
        return file
    }

    func clientViews(of file: ClientFileRecord, in context: RealmContext) throws -> ClientViews {
        guard !file.views.isEmpty else { return ClientViews() }
        return try WorkerError.reading("the views of client file \(file.ident) in realm \(context.name)") {
            try ClientViews(decoding: file.views)
        }
    }

    /// The objects that a version touches, as they were.
    func images(of record: HistoryRecord, in context: RealmContext) throws -> [BeforeImages.Image] {
        try WorkerError.reading("the before images of version \(record.version) in realm \(context.name)") {
            try BeforeImages(decoding: record.images).images
        }
    }

    /// Loads objects as they are now.
    func load(_ slots: some Sequence<ObjectSlot>, into context: RealmContext) async throws {
        var rows: [ObjectRow: ObjectAddress] = [:]
        for slot in slots {
            guard let table = context.state.schema.table(slot.table) else { continue }
            let address = ObjectAddress(table.name, slot.key)
            if !context.state.isLoaded(address) { rows[ObjectRow(table: slot.table.rawValue, key: slot.key)] = address }
        }
        try await load(rows, into: context)
    }

    /// What versions after one touch. No version is read twice, as long as that is not too much to be kept.
    func touches(after version: ServerVersion, in context: RealmContext) async throws -> RecentTouches {
        var touches = context.flexible.touches
        // Taken out, so that it is changed in place.
        context.flexible.touches = RecentTouches()
        let drafted = context.drafted
        let through = drafted.first.map { $0.version - 1 } ?? context.record.latest.version
        var cursor = touches.reach(
            back: version, generation: context.record.generation, base: context.record.historyBase)
        while cursor < through {
            let records = try await history(of: context, after: cursor, through: through, maxBytes: 1 << 20)
            guard let last = records.last, records.first?.version == cursor + 1 else { throw context.lacks(cursor + 1) }
            for record in records {
                touches.add(try images(of: record, in: context).lazy.map(\.slot), of: record.version)
            }
            cursor = last.version
        }
        if !touches.isTooLarge { context.flexible.touches = touches }
        for record in drafted where record.version > version {
            touches.add(try images(of: record, in: context).lazy.map(\.slot), of: record.version)
        }
        return touches
    }

    /// Whether a client that stands at a version has missed more of the history than it is sent version by version, or than its view can be
    /// told of so.
    func isFarBehind(
        _ version: ServerVersion, _ file: FileIdent, in context: RealmContext
    ) async throws -> Bool {
        let record = context.record
        guard version < record.latest.version else { return false }
        if context.flexible.tooDear.contains(file) { return true }
        let next = version + 1
        let heading =
            if let known = context.recent.record(next) { known } else {
                try await environment.store.historyHeading(of: context.historyKey, version: next)
            }
        guard let heading else { throw context.lacks(next) }
        let bytes = record.historyBytes &- min(heading.cumulativeBytes, record.historyBytes)
        let versions = UInt64(version.distance(to: record.latest.version))
        return bytes + versions * UInt64(HistoryQuery.overhead) > UInt64(environment.limits.maxViewArrears)
    }

    /// The history after a version up to the latest, with what the message in hand has appended; nil if it is more than `maxBytes`.
    func wholeHistory(
        of context: RealmContext, after: ServerVersion, maxBytes: Int
    ) async throws -> [HistoryRecord]? {
        let drafted = context.drafted
        let end = drafted.first.map { $0.version - 1 } ?? context.record.latest.version
        var records: [HistoryRecord] = []
        var bytes = 0
        var cursor = after
        while cursor < end {
            let part = try await history(of: context, after: cursor, through: end, maxBytes: 1 << 20)
            guard let last = part.last, part.first?.version == cursor + 1 else { throw context.lacks(cursor + 1) }
            records += part
            bytes += part.reduce(0) { $0 + $1.entry.changeset.count + $1.images.count + HistoryQuery.overhead }
            guard bytes <= maxBytes else { return nil }
            cursor = last.version
        }
        return records + drafted.filter { $0.version > after }
    }
}
