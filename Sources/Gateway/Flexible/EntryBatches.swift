import SyncModel

// Entries divided into the messages in which they are sent.
extension [HistoryEntry] {
    /// Messages of at most `maxBytes` of changesets each, or of one entry that is larger.
    func batches(maxBytes: Int) -> [[HistoryEntry]] {
        var batches: [[HistoryEntry]] = []
        var bytes = 0
        for entry in self {
            if batches.isEmpty || bytes + entry.changeset.count > maxBytes {
                batches.append([])
                bytes = 0
            }
            batches[batches.count - 1].append(entry)
            bytes += entry.changeset.count
        }
        return batches
    }

    /// Batches behind any of which a client may stop: each version comes whole, since a client that stops behind a part of a version would not be
    /// sent the rest.
    func batchesOfWholeVersions(maxBytes: Int) -> [[HistoryEntry]] {
        var whole: [[HistoryEntry]] = []
        for batch in batches(maxBytes: maxBytes) {
            if let last = whole.last?.last, last.serverVersion == batch.first?.serverVersion {
                whole[whole.count - 1] += batch
            } else {
                whole.append(batch)
            }
        }
        return whole
    }

    /// The sum of the changesets' sizes.
    var changesetBytes: Int { reduce(0) { $0 + $1.changeset.count } }
}
