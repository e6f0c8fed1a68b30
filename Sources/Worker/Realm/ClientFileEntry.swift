import Storage

/// A client file in memory: its row, and its reciprocals once a merge has needed them.
struct ClientFileEntry {
    var record: ClientFileRecord
    /// Those after `loadedAfter`, present and empty ones with no bytes; nil if none have been read.
    private(set) var reciprocals: [UInt64: [UInt8]]?
    private(set) var loadedAfter: UInt64 = 0
    private(set) var reciprocalBytes = 0
    var lastUse: UInt64 = 0

    init(record: ClientFileRecord) { self.record = record }

    /// Whether the reciprocals of all versions after `version` are here.
    func hasReciprocals(after version: UInt64) -> Bool { reciprocals != nil && loadedAfter <= version }

    mutating func load(_ stored: [UInt64: [UInt8]], after version: UInt64) {
        // What a merge wrote since wins over what the store still has.
        reciprocals = stored.merging(reciprocals ?? [:]) { _, newer in newer }
        loadedAfter = version
        reciprocalBytes = reciprocals?.values.reduce(0) { $0 + $1.count + 32 } ?? 0
    }

    mutating func setReciprocal(_ changeset: [UInt8], version: UInt64) {
        let previous = reciprocals?.updateValue(changeset, forKey: version)
        reciprocalBytes += changeset.count - (previous?.count ?? -32)
    }

    mutating func dropReciprocals(through version: UInt64) {
        guard let kept = reciprocals?.filter({ $0.key > version }) else { return }
        reciprocals = kept
        loadedAfter = max(loadedAfter, version)
        reciprocalBytes = kept.values.reduce(0) { $0 + $1.count + 32 }
    }

    mutating func forgetReciprocals() {
        reciprocals = nil
        reciprocalBytes = 0
    }
}
