import Storage
import SyncModel

/// The latest versions of a realm's history, with those that are not committed yet.
struct RecentHistory {
    private var items: [HistoryRecord] = []
    private(set) var bytes = 0
    /// The version before the first that is here.
    private(set) var base: ServerVersion

    init(after latest: ServerVersion) { base = latest }

    var latest: ServerVersion { base &+ UInt64(items.count) }

    mutating func append(_ record: HistoryRecord) {
        items.append(record)
        bytes += record.bytes
    }

    /// The records of `after + 1 ... through` that are here.
    func records(after: ServerVersion, through: ServerVersion) -> ArraySlice<HistoryRecord> {
        let low = max(after, base)
        let high = min(through, latest)
        guard low < high else { return [] }
        return items[base.distance(to: low)..<base.distance(to: high)]
    }

    func record(_ version: ServerVersion) -> HistoryRecord? {
        version > base && version <= latest ? items[base.distance(to: version) - 1] : nil
    }

    /// Forgets the oldest until `maxBytes` are left. Only when nothing of it is uncommitted.
    mutating func trim(to maxBytes: Int) {
        guard bytes > maxBytes else { return }
        var count = 0
        // A quarter more than asked for, so that the rest is not moved for every version.
        while count < items.count, bytes > maxBytes / 4 * 3 {
            bytes -= items[count].bytes
            count += 1
        }
        items.removeFirst(count)
        base &+= UInt64(count)
    }
}

extension HistoryRecord {
    /// The bytes that it takes in memory, about.
    fileprivate var bytes: Int { entry.changeset.count + images.count + 64 }
}
