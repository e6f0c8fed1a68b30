package import SyncModel

/// The client's own writes that what the server sends next may not know, parsed, as the merges so far have left them.
///
/// A client that comes back after a long time has thousands of them and gets its downloads in many pages; without this,
/// each page would read and parse all of them again. It lives as long as a session, and has to go when a merge or a commit
/// fails: what is stored counts.
package struct LocalWindow: Sendable {
    /// The bytes of changesets beyond which nothing is kept between two pages.
    package static let maximumBytes = 16 << 20

    package private(set) var entries: [LocalChangeset] = []
    /// The bytes of each entry as it was read.
    private var sizes: [Int] = []
    private var bytes = 0
    /// The version up to which the history has been read.
    private var newest: ClientVersion = 0

    package init() {}

    /// Makes the window that of a download: forgets what lies at or before its base, which no later one meets either.
    ///
    /// - Parameter end: the newest version of the client's history.
    /// - Returns: the version after which the client's own writes up to `end` are to be read and appended.
    package mutating func begin(after base: ClientVersion, through end: ClientVersion) -> ClientVersion {
        let settled = entries.firstIndex { $0.version > base.rawValue } ?? entries.count
        if settled > 0 {
            bytes -= sizes[..<settled].reduce(0, +)
            entries.removeFirst(settled)
            sizes.removeFirst(settled)
        }
        defer { newest = max(newest, end) }
        return max(newest, base)
    }

    /// Appends the next of the client's own writes.
    ///
    /// - Parameters:
    ///   - entry: a write that was not empty when it was made, as earlier merges have left it.
    ///   - size: its bytes as stored.
    package mutating func append(_ entry: LocalChangeset, size: Int) {
        entries.append(entry)
        sizes.append(size)
        bytes += size
    }

    /// Takes over what a merge has made of the entries, once that is stored.
    package mutating func replace(_ modified: [TransformResult.Reciprocal]) {
        guard bytes <= Self.maximumBytes else { return self = LocalWindow() }
        var position = 0
        for reciprocal in modified {
            while position < entries.count, entries[position].version < reciprocal.version { position += 1 }
            guard position < entries.count, entries[position].version == reciprocal.version else { continue }
            entries[position].changeset = reciprocal.changeset
        }
    }
}
