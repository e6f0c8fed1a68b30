import Merge
import SyncModel

/// A stretch of a realm's history by what it touches: for each key the versions, newest first.
///
/// Postings lie in three arrays and are chained through them, and the table of keys is open, so neither a key nor a version
/// costs an allocation of its own; about 24 bytes a posting, all told.
struct IndexSegment {
    /// The version before the first that is here.
    let after: ServerVersion
    /// The author of each version.
    private var origins: [FileIdent] = []
    private var destructive: [ServerVersion] = []
    private var keys: [UInt32] = []
    private var versions: [UInt32] = []
    /// The posting of the same key before this one, plus 1; 0 for none.
    private var previous: [UInt32] = []
    /// The newest posting of a key, plus 1; 0 for an empty slot.
    private var slots: [UInt32] = [UInt32](repeating: 0, count: 16)
    private var distinctKeys = 0

    init(after: ServerVersion) { self.after = after }

    var through: ServerVersion { after &+ UInt64(origins.count) }
    var postings: Int { keys.count }
    var bytes: Int { 12 * keys.count + 4 * slots.count + 8 * origins.count }

    mutating func append(origin: FileIdent, _ touches: Touches) {
        origins.append(origin)
        if touches.isDestructive { destructive.append(through) }
        let version = UInt32(truncatingIfNeeded: origins.count)
        for key in touches.keys {
            if 2 * distinctKeys >= slots.count { grow() }
            let slot = slot(of: key)
            if slots[slot] == 0 { distinctKeys += 1 }
            keys.append(key)
            versions.append(version)
            previous.append(slots[slot])
            slots[slot] = UInt32(truncatingIfNeeded: keys.count)
        }
    }

    /// Adds the versions after `base` that touch one of the keys or erase schema, and are not by `origin`; in no order, and
    /// possibly more than once.
    func collect(
        _ wanted: [UInt32], after base: ServerVersion, notBy origin: FileIdent, into found: inout [ServerVersion]
    ) {
        for version in destructive where version > base && origins[after.distance(to: version) - 1] != origin {
            found.append(version)
        }
        for key in wanted {
            var posting = slots[slot(of: key)]
            while posting != 0 {
                let index = Int(posting) - 1
                let offset = versions[index]
                let version = after &+ UInt64(offset)
                guard version > base else { break }
                if origins[Int(offset) - 1] != origin { found.append(version) }
                posting = previous[index]
            }
        }
    }

    /// Where the key is, or would have to be put.
    private func slot(of key: UInt32) -> Int {
        let mask = slots.count - 1
        var slot = Int(key &* 0x9e37_79b1) & mask
        while slots[slot] != 0, keys[Int(slots[slot]) - 1] != key { slot = (slot + 1) & mask }
        return slot
    }

    private mutating func grow() {
        let old = slots
        slots = [UInt32](repeating: 0, count: 2 * old.count)
        for posting in old where posting != 0 { slots[slot(of: keys[Int(posting) - 1])] = posting }
    }
}
