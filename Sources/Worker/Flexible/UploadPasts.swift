import Changesets
import Merge
import RealmState
import Storage
import SyncModel
import Views

/// Reads what has happened to the objects of an upload since its changesets' bases: the history is gone through once, from its end, for all of
/// them. What is held of an object does not depend on how often it was touched (`ObjectPast`).
struct UploadPasts: SlicePart {
    let work: SliceWork
    let context: RealmContext
    let views: UploadViews
    /// The upload's.
    let author: FileIdent

    /// What was read for an upload that waits for its merge, so that it is not read again when its turn comes.
    struct Kept {
        /// The changesets, and the state of the history and of the client file's views, that the pasts were read for.
        struct Key: Equatable {
            var file: FileIdent
            var latest: ServerVersion
            var views: [UInt8]
            var entries: [UploadedChangeset]
        }

        /// More are read again.
        private static let most = 10_000
        private static let bytesPerObject = 400
        private let key: Key
        private let pasts: [ObjectAddress: ObjectPast]
        let bytes: Int

        init?(_ pasts: [ObjectAddress: ObjectPast], of key: Key) {
            guard pasts.count <= Self.most else { return nil }
            self.key = key
            self.pasts = pasts
            bytes = pasts.count * Self.bytesPerObject
        }

        func pasts(of key: Key) -> [ObjectAddress: ObjectPast]? { key == self.key ? pasts : nil }
    }

    private var slots: [ObjectSlot: ObjectAddress] = [:]
    private var bases: [ObjectAddress: [ServerVersion]] = [:]
    private var readers: [ObjectAddress: PastReader<Int>] = [:]
    /// What this has taken, in steps of merging.
    private(set) var steps: UInt64 = 0

    /// The steps for looking at a version, the bytes of its images that count as one step, and the steps for one object that the version
    /// touches.
    private static let stepsPerVersion: UInt64 = 200
    private static let bytesPerStep = 4
    private static let stepsPerTouch: UInt64 = 100

    init(work: SliceWork, context: RealmContext, views: UploadViews, author: FileIdent) {
        self.work = work
        self.context = context
        self.views = views
        self.author = author
    }

    /// What has happened to each of the changesets' objects.
    ///
    /// - Parameter trials: of changesets whose bases ascend.
    mutating func read(_ trials: [WriteTrial]) async throws -> [ObjectAddress: ObjectPast] {
        for trial in trials {
            for address in trial.judged where bases[address]?.last != trial.base {
                bases[address, default: []].append(trial.base)
                if let table = context.state.schema.table(address.className) {
                    slots[ObjectSlot(table.id, address.key)] = address
                }
            }
        }
        try await work.load(slots.keys, into: context)
        if let start = trials.first?.base, start < context.record.latest.version, !slots.isEmpty {
            try await walk(Touches(of: trials.lazy.map(\.changeset)), after: start)
        }
        var pasts: [ObjectAddress: ObjectPast] = [:]
        pasts.reserveCapacity(bases.count)
        for address in bases.keys {
            if readers[address] == nil, context.state.object(address) == nil {
                pasts[address] = ObjectPast(
                    latest: context.record.latest.version, hasViews: views.history.latest != nil)
            } else if var reader = readers.removeValue(forKey: address) ?? reader(of: address) {
                pasts[address] = reader.finish()
            }
        }
        return pasts
    }

    private func reader(of address: ObjectAddress) -> PastReader<Int>? {
        bases[address].map {
            views.judge(of: address).reader(
                bases: $0, latest: context.record.latest.version, now: context.state.object(address))
        }
    }

    /// Goes through the versions after one that have to do with the objects, from the latest one back.
    private mutating func walk(_ touches: Touches, after start: ServerVersion) async throws {
        // The index does not have them yet.
        for record in context.drafted.reversed() where record.version > start { try add(record) }
        var rest = try await TouchSearch(work: work, context: context).versions(
            meeting: touches, after: start, notBy: 0)[...]
        var atOnce = 16
        while let last = rest.last {
            if let recent = context.recent.record(last) {
                try add(recent)
                rest = rest.dropLast()
                continue
            }
            let wanted = rest.suffix(atOnce)
            let records = try await store.history(
                of: context.historyKey, at: wanted, maxBytes: limits.maxWindowBytes)
            guard records.count == wanted.count else {
                guard wanted.count > 1 else { throw context.lacks(last) }
                // More than is read at once.
                atOnce = wanted.count / 2
                continue
            }
            var bytes = 0
            for record in records.reversed() {
                try add(record)
                bytes += record.entry.changeset.count + record.images.count + HistoryQuery.overhead
            }
            rest = rest.dropLast(records.count)
            if bytes > limits.maxWindowBytes / 2 { atOnce = max(1, atOnce / 2) } else { atOnce = min(256, 2 * atOnce) }
        }
    }

    private mutating func add(_ record: HistoryRecord) throws {
        steps += Self.stepsPerVersion + UInt64(record.images.count / Self.bytesPerStep)
        for image in try work.images(of: record, in: context) {
            guard let address = slots[image.slot] else { continue }
            if readers[address] == nil { readers[address] = reader(of: address) }
            steps += Self.stepsPerTouch
            let before = image.resolved(after: readers[address]?.object)
            readers[address]?.add(record.version, isOwn: record.entry.originFile == author, before: before)
        }
    }
}
