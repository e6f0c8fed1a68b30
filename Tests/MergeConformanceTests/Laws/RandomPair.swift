import Changesets
import Merge
import MergeConformance
import RealmState

/// Two peers that began with one state and then went on without knowing of each other, and the merge of what they did.
struct RandomPair {
    let seed: UInt64
    let left: Side
    let right: Side
    let incoming: [IncomingChangeset]
    let local: [LocalChangeset]
    let merged: TransformResult

    struct Side {
        var state: RealmState
        var changesets: [Changeset]
    }

    init(seed: UInt64, _ profile: SimulationProfile) throws {
        self.seed = seed
        var random = SimulationRandom(seed: seed)
        var start = RealmState(compatibility: .convergent)
        _ = try Self.write(profile.setup, to: &start)
        let generator = EditGenerator(profile: profile)
        let prepared = generator.edits(8, on: start, &random)
        _ = try Self.write(prepared, to: &start)
        var sides: [Side] = []
        for _ in 0..<2 {
            var side = Side(state: start, changesets: [])
            for _ in 0..<random.number(1...3) {
                let edits = generator.edits(random.number(1...3), on: side.state, &random)
                let changeset = try Self.write(edits, to: &side.state)
                if !changeset.isEmpty { side.changesets.append(changeset) }
            }
            sides.append(side)
        }
        left = sides[0]
        right = sides[1]
        let rank = UInt64(random.number(1...3))
        local = left.changesets.enumerated().map { index, changeset in
            LocalChangeset(
                version: UInt64(index) + 1, originTimestamp: 2, originFileIdent: 2, changeset: changeset)
        }
        incoming = right.changesets.enumerated().map { index, changeset in
            IncomingChangeset(
                version: UInt64(index) + 1, lastIntegratedLocalVersion: 0, originTimestamp: rank, originFileIdent: 3,
                changeset: changeset)
        }
        merged = try MergeEngine(compatibility: .convergent).transform(
            incoming: incoming, over: local, currentLocalVersion: UInt64(local.count))
    }

    var current: UInt64 { UInt64(local.count) }

    /// The local side as the other peer has to apply it.
    var reciprocals: [Changeset] {
        local.map { entry in
            merged.modifiedLocal.first { $0.version == entry.version }?.changeset ?? entry.changeset
        }
    }

    private static func write(_ edits: [Edit], to state: inout RealmState) throws -> Changeset {
        var transaction = RecordingTransaction(taking: &state)
        for edit in edits { transaction.make(edit) }
        return try Changeset(parsing: transaction.commit(returningTo: &state))
    }
}
