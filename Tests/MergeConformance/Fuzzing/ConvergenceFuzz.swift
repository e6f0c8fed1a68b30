import Changesets
import Merge
import RealmState

/// Two peers edit copies of one realm without knowledge of each other, then each gets the other's changes.
enum ConvergenceFuzz {
    private struct Peer {
        var state = FuzzRealm.state
        var changesets: [(rank: UInt64, changeset: Changeset)] = []

        /// One to three writes, in the order of their times.
        mutating func write(_ source: inout ByteSource, clock: inout UInt64) {
            for _ in 0...source.choice(3) {
                clock += UInt64(source.choice(4))
                let changeset = EditScript.write(&state, &source)
                if !changeset.isEmpty { changesets.append((clock, changeset)) }
            }
        }
    }

    static func run(_ bytes: [UInt8]) throws(BrokenLaw) {
        var source = ByteSource(bytes)
        var (ours, theirs) = (Peer(), Peer())
        ours.state.compatibility = .convergent
        theirs.state.compatibility = .convergent
        var (clock, otherClock) = (UInt64(1), UInt64(1))
        ours.write(&source, clock: &clock)
        theirs.write(&source, clock: &otherClock)

        let local = ours.changesets.enumerated().map { position, entry in
            LocalChangeset(
                version: UInt64(position + 1), originTimestamp: entry.rank, originFileIdent: 2,
                changeset: entry.changeset)
        }
        let incoming = theirs.changesets.enumerated().map { position, entry in
            IncomingChangeset(
                version: UInt64(position + 1), lastIntegratedLocalVersion: 0, originTimestamp: entry.rank,
                originFileIdent: 3, changeset: entry.changeset)
        }
        let result: TransformResult
        do throws(MergeError) {
            result = try MergeEngine(compatibility: .convergent).transform(
                incoming: incoming, over: local, currentLocalVersion: UInt64(local.count))
        } catch {
            throw BrokenLaw("what two recorders have written cannot be merged: \(error)")
        }
        let reciprocals = Dictionary(
            result.modifiedLocal.map { ($0.version, $0.changeset) }, uniquingKeysWith: { first, _ in first })
        try apply(result.incoming, to: &ours.state, "ours")
        try apply(local.map { reciprocals[$0.version] ?? $0.changeset }, to: &theirs.state, "theirs")
        try BrokenLaw.check(
            StateDump.canonical(of: ours.state) == StateDump.canonical(of: theirs.state),
            "the two peers hold different things: \(StateDump.json(of: ours.state)) and "
                + StateDump.json(of: theirs.state))
    }

    private static func apply(
        _ changesets: [Changeset], to state: inout RealmState, _ name: String
    ) throws(BrokenLaw) {
        for changeset in changesets {
            do throws(RealmStateError) {
                try state.apply(changeset)
            } catch {
                throw BrokenLaw("merged changes cannot be applied to \(name): \(error)")
            }
        }
    }
}
