internal import Changesets
internal import Merge

/// The local writes that what the server sends next may not know, parsed, as the merges so far have left them.
///
/// A client that comes back after a long time has thousands of them and gets its downloads in many pages; without this,
/// each page would read and parse all of them again.
struct LocalWindow {
    /// Beyond this many bytes of changesets nothing is kept between two pages.
    static let maximumBytes = 16 << 20

    private(set) var entries: [LocalChangeset] = []
    /// The bytes of each entry as it was read.
    private var sizes: [Int] = []
    private var bytes = 0
    /// The version up to which the history is in here.
    private var newest: UInt64 = 0

    /// Brings the window up to date: the writes after `base` and up to `version`.
    mutating func advance(to version: UInt64, base: UInt64, file: RealmFile, own: UInt64) throws {
        let settled = entries.firstIndex { $0.version > base } ?? entries.count
        if settled > 0 {
            bytes -= sizes[..<settled].reduce(0, +)
            entries.removeFirst(settled)
            sizes.removeFirst(settled)
        }
        for entry in try file.localEntries(after: max(newest, base), upTo: version) {
            let changeset = entry.reciprocal ?? entry.changeset
            entries.append(
                LocalChangeset(
                    version: entry.version, originTimestamp: entry.originTimestamp, originFileIdent: own,
                    changeset: try Changeset(parsing: changeset)))
            sizes.append(changeset.count)
            bytes += changeset.count
        }
        newest = max(newest, version)
    }

    /// Takes over what a merge has made of the entries, once that is stored.
    mutating func replace(_ modified: [TransformResult.Reciprocal]) {
        guard bytes <= Self.maximumBytes else { return self = LocalWindow() }
        var position = 0
        for reciprocal in modified {
            while position < entries.count, entries[position].version < reciprocal.version { position += 1 }
            guard position < entries.count, entries[position].version == reciprocal.version else { continue }
            entries[position].changeset = reciprocal.changeset
        }
    }
}
