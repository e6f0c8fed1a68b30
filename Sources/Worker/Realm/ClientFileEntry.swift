import Storage
import SyncModel

/// A client file in memory: its row, and its reciprocals as far as merges have needed them.
struct ClientFileEntry {
    var record: ClientFileRecord
    /// Present and empty ones with no bytes.
    private(set) var reciprocals: [ServerVersion: [UInt8]] = [:]
    private(set) var reciprocalBytes = 0
    /// The version after which there are no reciprocals but those in memory; nil if the store may have others.
    private(set) var completeAfter: ServerVersion?
    /// There are too many to hold them all.
    var hasMany = false
    var lastUse: UInt64 = 0

    func hasReciprocals(after version: ServerVersion) -> Bool { completeAfter.map { $0 <= version } ?? false }

    /// Everything that the store has after a version. What a merge wrote since wins.
    mutating func load(_ stored: [ServerVersion: [UInt8]], after version: ServerVersion) {
        for (version, changeset) in stored where reciprocals[version] == nil {
            setReciprocal(changeset, version: version)
        }
        completeAfter = version
    }

    mutating func setReciprocal(_ changeset: [UInt8], version: ServerVersion) {
        let previous = reciprocals.updateValue(changeset, forKey: version)
        reciprocalBytes += changeset.count - (previous?.count ?? -32)
    }

    /// - Parameter settled: up to where they were dropped before.
    /// - Returns: whether the store may have any of them.
    mutating func dropReciprocals(after settled: ServerVersion, through version: ServerVersion) -> Bool {
        let wereAllKnown = hasReciprocals(after: settled)
        let count = reciprocals.count
        if count > 0 {
            reciprocals = reciprocals.filter { $0.key > version }
            reciprocalBytes = reciprocals.values.reduce(0) { $0 + $1.count + 32 }
        }
        if let complete = completeAfter { completeAfter = max(complete, version) }
        hasMany = false
        return !wereAllKnown || reciprocals.count < count
    }

    /// Forgets them if they are more than `maxBytes`. Only when they are durable.
    mutating func trimReciprocals(to maxBytes: Int) {
        guard reciprocalBytes > maxBytes else { return }
        reciprocals = [:]
        reciprocalBytes = 0
        completeAfter = nil
        hasMany = true
    }
}
