import Changesets
import Merge

/// The input: how the two sides rank, where the first side ends, and both sides' changesets in one buffer each.
enum MergeFuzz {
    static func run(_ bytes: [UInt8]) throws(BrokenLaw) {
        guard bytes.count > 3, let ours = side(bytes, 0), let theirs = side(bytes, 1) else { return }
        let ranks = bytes[0]
        for compatibility in [PeerCompatibility.stockClients, .convergent] {
            let indexed = merge(ours, theirs, ranks, MergeEngine(compatibility: compatibility))
            let exhaustive = merge(
                ours, theirs, ranks, MergeEngine(compatibility: compatibility, search: .exhaustive))
            try BrokenLaw.check(indexed == exhaustive, "the index changes the result under \(compatibility)")
            let mirrored = merge(theirs, ours, ranks ^ 0x80, MergeEngine(compatibility: compatibility))
            try BrokenLaw.check(
                indexed?.mirrored == mirrored, "exchanging the sides changes the result under \(compatibility)")
            for changeset in (indexed?.ours ?? []) + (indexed?.theirs ?? []) { try ChangesetFuzz.check(changeset) }
        }
    }

    private struct Outcome: Equatable {
        var ours: [Changeset]
        var theirs: [Changeset]
        var mirrored: Outcome { Outcome(ours: theirs, theirs: ours) }
    }

    /// nil if they cannot be merged: which pair is found first, and so the reason, is left open.
    private static func merge(
        _ ours: [Changeset], _ theirs: [Changeset], _ ranks: UInt8, _ engine: MergeEngine
    ) -> Outcome? {
        let oursFirst = ranks & 0x80 == 0
        func rank(_ position: Int, isOurs: Bool) -> UInt64 {
            UInt64(position) + UInt64(isOurs == oursFirst ? ranks & 7 : ranks >> 3 & 7)
        }
        var local = ours.enumerated().map { position, changeset in
            LocalChangeset(
                version: UInt64(position + 1), originTimestamp: rank(position, isOurs: true),
                originFileIdent: oursFirst ? 2 : 3, changeset: changeset)
        }
        let incoming = theirs.enumerated().map { position, changeset in
            IncomingChangeset(
                version: UInt64(position + 1), lastIntegratedLocalVersion: 0,
                originTimestamp: rank(position, isOurs: false), originFileIdent: oursFirst ? 3 : 2,
                changeset: changeset)
        }
        guard
            let result = try? engine.transform(
                incoming: incoming, over: local, currentLocalVersion: UInt64(ours.count))
        else { return nil }
        for reciprocal in result.modifiedLocal where reciprocal.version <= UInt64(local.count) {
            local[Int(reciprocal.version) - 1].changeset = reciprocal.changeset
        }
        return Outcome(ours: local.map(\.changeset), theirs: result.incoming)
    }

    private static func side(_ bytes: [UInt8], _ number: Int) -> [Changeset]? {
        let start = 3
        let middle = min(bytes.count, start + Int(bytes[1]) << 8 + Int(bytes[2]))
        let half = Array(number == 0 ? bytes[start..<middle] : bytes[middle...])
        guard let parts = try? ConcatenatedChangesets.split(half, limits: ChangesetFuzz.limits) else { return nil }
        let changesets = parts.compactMap { try? Changeset(parsing: $0, limits: ChangesetFuzz.limits) }
        return changesets.count == parts.count && parts.count <= 16 ? changesets : nil
    }
}
