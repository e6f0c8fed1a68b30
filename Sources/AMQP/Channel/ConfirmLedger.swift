import DequeModule

/// The publishes of a channel that the broker has not confirmed yet, by the broker's count: the first publish is 1. Pure.
struct ConfirmLedger<Entry> {
    private var first: UInt64 = 1
    private var entries: Deque<Entry?> = []
    /// How many entries are open.
    private(set) var count = 0

    /// Adds the next publish.
    mutating func append(_ entry: Entry) {
        entries.append(entry)
        count += 1
    }

    /// Takes out what a confirm covers, in order: one entry, or all up to `tag`; a multiple confirm of 0 covers all.
    ///
    /// - Returns: nil if the tag was never published; an empty list if it is confirmed already.
    mutating func confirm(_ tag: UInt64, multiple: Bool) -> [Entry]? {
        let end = first + UInt64(entries.count)
        let last = multiple && tag == 0 ? end - 1 : tag
        guard last < end, last > 0 || multiple else { return nil }
        guard last >= first else { return [] }
        let index = Int(last - first)
        guard multiple else {
            guard let entry = entries[index] else { return [] }
            entries[index] = nil
            count -= 1
            if index == 0 { dropConfirmed() }
            return [entry]
        }
        let covered = entries.prefix(index + 1).compactMap { $0 }
        entries.removeFirst(index + 1)
        first = last + 1
        count -= covered.count
        dropConfirmed()
        return covered
    }

    private mutating func dropConfirmed() {
        while let entry = entries.first, entry == nil {
            entries.removeFirst()
            first += 1
        }
    }

    /// Empties the ledger and counts from 1 again, as a reopened channel does.
    ///
    /// - Returns: the open entries, in order.
    mutating func reset() -> [Entry] {
        let open = entries.compactMap { $0 }
        self = ConfirmLedger()
        return open
    }

    /// The open entries, in order.
    var open: some Sequence<Entry> { entries.lazy.compactMap { $0 } }
}
