package import Changesets

/// Operational transformation: makes two sequences of changes, each made without knowledge of the other, apply after
/// one another (docs/merge.md).
///
/// `state + local + result.incoming` equals `state + incoming + result.modifiedLocal`, where entries that are not listed
/// as modified stand for themselves. Pure: the same input gives the same output, and nothing is kept between calls.
package struct MergeEngine: Sendable {
    private let compatibility: PeerCompatibility
    private let search: ConflictSearch

    package init(compatibility: PeerCompatibility = .standard, search: ConflictSearch = .indexed) {
        self.compatibility = compatibility
        self.search = search
    }

    /// Merges a peer's changesets with the entries of our history that it may not have known.
    ///
    /// Each incoming changeset meets the local entries after its `lastIntegratedLocalVersion`, up to and including
    /// `currentLocalVersion`, as the changesets before it have left them.
    ///
    /// - Parameters:
    ///   - incoming: the changesets in the peer's order, and its bases never descending.
    ///   - local: the entries by ascending version; those that no incoming changeset has to meet may be among them.
    ///   - meter: counts the work, and may end it.
    /// - Throws: `MergeError` if the two cannot be merged; nothing of the call counts then.
    package func transform(
        incoming: [IncomingChangeset], over local: [LocalChangeset], currentLocalVersion: UInt64,
        meter: MergeMeter
    ) throws(MergeError) -> TransformResult {
        guard let lowestBase = incoming.lazy.map(\.lastIntegratedLocalVersion).min() else {
            return TransformResult(incoming: [], modifiedLocal: [])
        }
        let window = local.filter { $0.version > lowestBase && $0.version <= currentLocalVersion }
        guard !window.isEmpty else {
            return TransformResult(incoming: incoming.map(\.changeset), modifiedLocal: [])
        }
        if let narrow = Self.narrowed(window, to: incoming) {
            let result = try merge(incoming, over: narrow.entries, meter)
            // What has changed of a part does not tell the whole.
            guard result.modifiedLocal.contains(where: { narrow.versions.contains($0.version) }) else { return result }
        }
        return try merge(incoming, over: window, meter)
    }

    /// The entries, of the long ones only what the incoming changesets may meet.
    ///
    /// - Returns: also the versions of these; nil if there are none.
    private static func narrowed(
        _ entries: [LocalChangeset], to incoming: [IncomingChangeset]
    ) -> (entries: [LocalChangeset], versions: Set<UInt64>)? {
        guard entries.contains(where: { $0.positions != nil }) else { return nil }
        let touches = Touches(of: incoming.lazy.map(\.changeset))
        var narrow = entries
        var versions: Set<UInt64> = []
        for index in entries.indices {
            guard let part = entries[index].positions?.part(of: entries[index].changeset, on: touches) else { continue }
            narrow[index].changeset = part
            versions.insert(entries[index].version)
        }
        return versions.isEmpty ? nil : (narrow, versions)
    }

    private func merge(
        _ incoming: [IncomingChangeset], over window: [LocalChangeset], _ meter: MergeMeter
    ) throws(MergeError) -> TransformResult {
        let ranks = Self.ranks(
            window.map { Rank($0.originTimestamp, $0.originFileIdent) }
                + incoming.map { Rank($0.originTimestamp, $0.originFileIdent) })
        let incomingRanks = ranks[window.count...]
        var session = MergeSession(compatibility: compatibility, search: search, meter: meter)
        session.reserve(local: window.reduce(0) { $0 + $1.changeset.instructions.count })
        for (entry, rank) in zip(window, ranks) { try session.addLocal(entry, rank: rank) }

        var transformed: [Changeset] = []
        transformed.reserveCapacity(incoming.count)
        var start = 0
        while start < incoming.count {
            let base = incoming[start].lastIntegratedLocalVersion
            let end = incoming[start...].firstIndex { $0.lastIntegratedLocalVersion != base } ?? incoming.count
            guard let last = window.last, last.version > base else {
                transformed += incoming[start..<end].map(\.changeset)
                start = end
                continue
            }
            let run = try session.merge(
                incoming[start..<end], ranks: incomingRanks[window.count + start..<window.count + end],
                after: base)
            let writer = session.writer
            transformed += run.changesets.indices.map { writer.changeset($0, of: run) }
            start = end
        }
        return TransformResult(incoming: transformed, modifiedLocal: session.modifiedLocal())
    }

    /// The same without a bound.
    package func transform(
        incoming: [IncomingChangeset], over local: [LocalChangeset], currentLocalVersion: UInt64
    ) throws(MergeError) -> TransformResult {
        try transform(
            incoming: incoming, over: local, currentLocalVersion: currentLocalVersion, meter: MergeMeter())
    }

    /// Section 1.1: by time, then by file. Neither is rewritten anywhere, so all peers agree on the order.
    private struct Rank: Hashable, Comparable {
        var timestamp: UInt64
        var fileIdent: UInt64

        init(_ timestamp: UInt64, _ fileIdent: UInt64) {
            self.timestamp = timestamp
            self.fileIdent = fileIdent
        }

        static func < (left: Rank, right: Rank) -> Bool {
            (left.timestamp, left.fileIdent) < (right.timestamp, right.fileIdent)
        }
    }

    /// The places of the ranks in their order, equal ones in the same place: one number to compare instead of two.
    private static func ranks(_ ranks: [Rank]) -> [UInt32] {
        let sorted = ranks.indices.sorted { ranks[$0] < ranks[$1] }
        var places = [UInt32](repeating: 0, count: ranks.count)
        var place: UInt32 = 0
        var previous: Rank?
        for index in sorted {
            if let previous, previous != ranks[index] { place += 1 }
            previous = ranks[index]
            places[index] = place
        }
        return places
    }
}
