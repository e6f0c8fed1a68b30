import Storage

/// The latest versions of a realm's history, with those that are not committed yet.
struct RecentHistory {
    private var items: [HistoryRecord] = []
    private(set) var bytes = 0
    /// The version before the first that is here.
    private(set) var base: UInt64

    init(after latest: UInt64) { base = latest }

    var latest: UInt64 { base &+ UInt64(items.count) }

    mutating func append(_ record: HistoryRecord) {
        items.append(record)
        bytes += record.changeset.count + 64
    }

    /// The records of `after + 1 ... through` that are here.
    func records(after: UInt64, through: UInt64) -> ArraySlice<HistoryRecord> {
        let low = max(after, base)
        let high = min(through, latest)
        guard low < high else { return [] }
        return items[Int(low - base)..<Int(high - base)]
    }

    func record(_ version: UInt64) -> HistoryRecord? {
        version > base && version <= latest ? items[Int(version - base) - 1] : nil
    }

    /// Forgets the oldest until `maxBytes` are left. Only when nothing of it is uncommitted.
    mutating func trim(to maxBytes: Int) {
        guard bytes > maxBytes else { return }
        var count = 0
        // A quarter more than asked for, so that the rest is not moved for every version.
        while count < items.count, bytes > maxBytes / 4 * 3 {
            bytes -= items[count].changeset.count + 64
            count += 1
        }
        items.removeFirst(count)
        base &+= UInt64(count)
    }
}
