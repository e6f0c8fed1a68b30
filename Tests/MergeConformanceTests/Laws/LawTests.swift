import Changesets
import Merge
import MergeConformance
import RealmState
import TestSupport
import Testing

/// The algebra by itself, on pairs of sequences of changes that honest clients record.
@Suite(.hangGuard) struct LawTests {
    private static let profiles = SimulationProfile.all.map(\.name)

    @Test(arguments: profiles)
    func bothOrdersReachOneState(profile: String) throws {
        try forPairs(profile) { pair in
            var left = pair.left.state
            var right = pair.right.state
            for changeset in pair.merged.incoming { try left.apply(changeset) }
            for changeset in pair.reciprocals { try right.apply(changeset) }
            expectEqual(StateDump.canonical(of: left), StateDump.canonical(of: right), "seed \(pair.seed)")
        }
    }

    /// Encoding, the index, single steps and exchanged sides: `MergeLaws` says which law it is.
    @Test(arguments: profiles)
    func everyWayOfMergingGivesTheSame(profile: String) throws {
        let laws = MergeLaws(.convergent)
        try forPairs(profile) { pair in
            for changeset in pair.incoming.map(\.changeset) + pair.local.map(\.changeset) {
                try laws.checkEncoding(changeset)
            }
            try laws.check(pair.merged, pair.incoming, over: pair.local, current: pair.current)
        }
    }

    @Test(arguments: profiles)
    func transformingByNothingChangesNothing(profile: String) throws {
        let engine = MergeEngine(compatibility: .convergent)
        try forPairs(profile) { pair in
            let overNothing = try engine.transform(
                incoming: pair.incoming, over: [], currentLocalVersion: pair.current)
            expectTrue(overNothing.incoming == pair.incoming.map(\.changeset) && overNothing.modifiedLocal.isEmpty)
            let byNothing = try engine.transform(incoming: [], over: pair.local, currentLocalVersion: pair.current)
            expectEqual(byNothing, TransformResult(incoming: [], modifiedLocal: []))
            let empty = pair.local.map { entry in
                LocalChangeset(
                    version: entry.version, originTimestamp: entry.originTimestamp,
                    originFileIdent: entry.originFileIdent, changeset: Changeset())
            }
            let overEmpty = try engine.transform(
                incoming: pair.incoming, over: empty, currentLocalVersion: pair.current)
            expectTrue(overEmpty.incoming == pair.incoming.map(\.changeset) && overEmpty.modifiedLocal.isEmpty)
        }
    }

    private func forPairs(_ profile: String, _ body: (RandomPair) throws -> Void) throws {
        let profile = try #require(SimulationProfile.named(profile))
        var changed = 0
        for seed in UInt64(1)...40 {
            let pair = try RandomPair(seed: seed, profile)
            if !pair.merged.modifiedLocal.isEmpty { changed += 1 }
            try body(pair)
        }
        expectTrue(changed > 0, "no two sides had anything to do with each other")
    }
}
