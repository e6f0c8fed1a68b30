import Changesets
import Storage

/// The latest versions of a realm's history, with those that are not committed yet, and their parsed forms as far as a
/// merge has needed them: so that clients that work at the same time do not parse the same changesets again and again.
struct RecentHistory {
    private struct Item {
        var record: HistoryRecord
        var parsed: Changeset?
    }

    private var items: [Item] = []
    private(set) var bytes = 0
    /// The version before the first that is here.
    private(set) var base: UInt64

    init(after latest: UInt64) { base = latest }

    var latest: UInt64 { base &+ UInt64(items.count) }

    mutating func append(_ record: HistoryRecord, parsed: Changeset?) {
        items.append(Item(record: record, parsed: parsed))
        bytes += record.changeset.count + 64
    }

    /// The records of `after + 1 ... through` that are here.
    func records(after: UInt64, through: UInt64) -> [HistoryRecord] {
        range(after: after, through: through).map { items[$0].record }
    }

    /// A version's changeset, parsed once.
    mutating func changeset(_ version: UInt64) throws -> Changeset? {
        guard let index = range(after: version &- 1, through: version).first else { return nil }
        if let parsed = items[index].parsed { return parsed }
        let parsed = try Changeset(parsing: items[index].record.changeset)
        items[index].parsed = parsed
        return parsed
    }

    /// Forgets the oldest until `maxBytes` are left. Only when nothing of it is uncommitted.
    mutating func trim(to maxBytes: Int) {
        guard bytes > maxBytes else { return }
        var count = 0
        while count < items.count, bytes > maxBytes {
            bytes -= items[count].record.changeset.count + 64
            count += 1
        }
        items.removeFirst(count)
        base &+= UInt64(count)
    }

    private func range(after: UInt64, through: UInt64) -> Range<Int> {
        let low = max(after, base)
        let high = min(through, latest)
        guard low < high else { return 0..<0 }
        return Int(low - base)..<Int(high - base)
    }
}
