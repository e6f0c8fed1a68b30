import Changesets
import Merge
import SeededRandom
import TestSupport
import Testing

@Suite struct RandomMergeTests {
    private struct Sides {
        var local: [LocalChangeset] = []
        var incoming: [IncomingChangeset] = []

        /// Incoming changesets of rising bases over local versions from 1.
        init(seed: UInt64) {
            var changes = RandomChanges(seed: seed)
            changes.erasesSchema = seed % 4 == 0
            for changeset in changes.changesets(upTo: 4, instructions: 6) {
                local.append(
                    LocalChangeset(
                        version: UInt64(local.count + 1), originTimestamp: .random(in: 1...5, using: &changes.random),
                        originFileIdent: 2, changeset: changeset))
            }
            var base: UInt64 = 0
            for changeset in changes.changesets(upTo: 4, instructions: 6) {
                incoming.append(
                    IncomingChangeset(
                        version: UInt64(incoming.count + 1), lastIntegratedLocalVersion: base,
                        originTimestamp: .random(in: 1...5, using: &changes.random), originFileIdent: 3,
                        changeset: changeset))
                if Bool.random(using: &changes.random) { base = min(base + 1, UInt64(local.count)) }
            }
        }

        func merge(
            _ compatibility: PeerCompatibility = .convergent, _ search: ConflictSearch = .indexed
        ) -> Result<TransformResult, MergeError> {
            Result { () throws(MergeError) in
                try MergeEngine(compatibility: compatibility, search: search).transform(
                    incoming: incoming, over: local, currentLocalVersion: UInt64(local.count))
            }
        }
    }

    private static let seeds = seedRanges(20, of: 100)

    /// P3, errors included.
    @Test(arguments: seeds)
    func theIndexChangesNothing(seeds: Range<UInt64>) {
        var merged = 0
        for seed in seeds {
            let sides = Sides(seed: seed)
            for compatibility in [PeerCompatibility.convergent, .stockClients] {
                let indexed = sides.merge(compatibility)
                expectEqual(indexed, sides.merge(compatibility, .exhaustive), "seed \(seed)")
                // Where in a list that is merged by itself the two sides disagree is left open.
                for search in [ConflictSearch.indexedWithWholeLists, .indexedWithListPairs] {
                    let byItself = sides.merge(compatibility, search)
                    expectTrue(
                        indexed == byItself || (indexed.error != nil && indexed.error?.code == byItself.error?.code),
                        "seed \(seed), \(search)")
                }
                if case .success = indexed { merged += 1 }
            }
        }
        expectTrue(merged > seeds.count / 4)
    }

    /// P4: a batch gives what its changesets give one by one.
    @Test(arguments: seeds)
    func aBatchIsAsGoodAsItsParts(seeds: Range<UInt64>) {
        for seed in seeds {
            let sides = Sides(seed: seed)
            guard case .success(let batch) = sides.merge() else { continue }
            var single = sides
            var reciprocals: [UInt64: Changeset] = [:]
            for (index, incoming) in sides.incoming.enumerated() {
                single.incoming = [incoming]
                guard case .success(let result) = single.merge() else {
                    Issue.record("seed \(seed): refused one by one")
                    break
                }
                expectEqual(result.incoming, [batch.incoming[index]], "seed \(seed)")
                for modified in result.modifiedLocal {
                    reciprocals[modified.version] = modified.changeset
                    single.local[Int(modified.version) - 1].changeset = modified.changeset
                }
            }
            let expected = Dictionary(uniqueKeysWithValues: batch.modifiedLocal.map { ($0.version, $0.changeset) })
            // What one changeset has changed and another changed back is as it was.
            let different = reciprocals.filter { sides.local[Int($0) - 1].changeset != $1 }
            expectEqual(different, expected, "seed \(seed)")
        }
    }

    /// A short upload reads what is on its own objects of long entries, and the result is as if it had read all.
    @Test func changesToOtherObjectsNeedNotBeRead() {
        let (all, part) = (MergeMeter(), MergeMeter())
        var changed = 0
        for seed in 1...150 as ClosedRange<UInt64> {
            var changes = RandomChanges(seed: seed)
            changes.erasesSchema = seed % 4 == 0
            changes.keys = Array(1...60)
            let entries: [LocalChangeset] = (1...3).map { version in
                let changeset = changes.longChangeset(of: .random(in: 20...120, using: &changes.random))
                return LocalChangeset(
                    version: UInt64(version), originTimestamp: .random(in: 1...5, using: &changes.random),
                    originFileIdent: 2, changeset: changeset, positions: ObjectPositions(changeset))
            }
            // So that it meets something.
            changes.keys = Array(1...10)
            let incoming = IncomingChangeset(
                version: 1, lastIntegratedLocalVersion: 0, originTimestamp: 3, originFileIdent: 3,
                changeset: changes.longChangeset(of: .random(in: 1...3, using: &changes.random)))
            let whole = entries.map {
                LocalChangeset(
                    version: $0.version, originTimestamp: $0.originTimestamp, originFileIdent: $0.originFileIdent,
                    changeset: $0.changeset)
            }
            func merge(_ entries: [LocalChangeset], _ meter: MergeMeter) throws -> TransformResult {
                try MergeEngine(compatibility: .convergent).transform(
                    incoming: [incoming], over: entries, currentLocalVersion: 3, meter: meter)
            }
            guard let expected = try? merge(whole, all) else { continue }
            expectEqual((try? merge(entries, part)), expected, "seed \(seed)")
            if !expected.modifiedLocal.isEmpty { changed += 1 }
        }
        expectTrue(part.steps < all.steps && changed > 0)
    }

    /// P10: what merging writes can be read again, and nothing is lost on the way.
    @Test(arguments: seeds)
    func resultsSurviveTheirEncoding(seeds: Range<UInt64>) throws {
        for seed in seeds {
            guard case .success(let result) = Sides(seed: seed).merge() else { continue }
            for changeset in result.incoming + result.modifiedLocal.map(\.changeset) where !changeset.isEmpty {
                try expectEqual(Changeset(parsing: changeset.encoded()), changeset, "seed \(seed)")
            }
        }
    }
}

extension Result {
    fileprivate var error: Failure? { if case .failure(let error) = self { error } else { nil } }
}
