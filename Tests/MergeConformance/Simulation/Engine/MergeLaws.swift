package import Changesets
package import Merge

/// The laws of one merge that can be seen without looking at any state: other ways to the same result.
package struct MergeLaws: Sendable {
    private let indexed: MergeEngine
    private let exhaustive: MergeEngine

    package init(_ compatibility: PeerCompatibility) {
        indexed = MergeEngine(compatibility: compatibility)
        exhaustive = MergeEngine(compatibility: compatibility, search: .exhaustive)
    }

    package func check(
        _ result: TransformResult, _ incoming: [IncomingChangeset], over local: [LocalChangeset], current: UInt64
    ) throws(SimulationFailure) {
        for changeset in result.incoming + result.modifiedLocal.map(\.changeset) { try checkEncoding(changeset) }
        let local = local.filter { $0.version <= current }
        guard !incoming.isEmpty, !local.isEmpty else { return }

        let searched = try transform(exhaustive, incoming, local)
        try expect(searched, result, .indexedEqualsExhaustive, "searching every pair")
        if incoming.count > 1 {
            try expect(
                try onByOne(incoming, local), result, .batchEqualsSingles, "merging one changeset after the other")
        }
        if local.count > 1 {
            try expect(
                try overOneByOne(incoming, local), result, .batchEqualsSingles, "merging over one entry after the other"
            )
        }
        if let mirrored = try mirrored(incoming, local) {
            try expect(mirrored, different(result, local), .mergeIsSymmetric, "merging from the other side")
        }
    }

    /// P10: reading back what was written gives the same, and writing that the same bytes.
    package func checkEncoding(_ changeset: Changeset) throws(SimulationFailure) {
        let bytes = changeset.encoded()
        guard let read = try? Changeset(parsing: bytes) else {
            throw SimulationFailure(.encodingIsFixed, "what was written does not parse: \(changeset.instructions)")
        }
        // A changeset without instructions has no bytes, whatever strings it had.
        guard changeset.isEmpty ? bytes.isEmpty : read == changeset, read.encoded() == bytes else {
            throw SimulationFailure(.encodingIsFixed, "\(changeset.instructions) reads as \(read.instructions)")
        }
    }

    // MARK: Other ways

    /// P4, of the incoming side: each changeset meets what the ones before it have left of ours.
    private func onByOne(
        _ incoming: [IncomingChangeset], _ local: [LocalChangeset]
    ) throws(SimulationFailure) -> TransformResult {
        var left = local
        var modified: [UInt64: Changeset] = [:]
        var results: [Changeset] = []
        for changeset in incoming {
            let step = try transform(indexed, [changeset], left)
            results += step.incoming
            adopt(step.modifiedLocal, into: &left, &modified)
        }
        return different(TransformResult(incoming: results, modifiedLocal: listed(modified, local)), local)
    }

    /// P4, of our side: what has been merged over a part of our history goes on over the rest of it.
    private func overOneByOne(
        _ incoming: [IncomingChangeset], _ local: [LocalChangeset]
    ) throws(SimulationFailure) -> TransformResult {
        var moving = incoming
        var modified: [TransformResult.Reciprocal] = []
        for entry in local {
            let step = try transform(indexed, moving, [entry])
            for index in moving.indices { moving[index].changeset = step.incoming[index] }
            modified += step.modifiedLocal
        }
        return TransformResult(incoming: moving.map(\.changeset), modifiedLocal: modified)
    }

    /// P6: with the sides exchanged. Only where every changeset meets every entry, which is all that one call can say of
    /// the other side.
    private func mirrored(
        _ incoming: [IncomingChangeset], _ local: [LocalChangeset]
    ) throws(SimulationFailure) -> TransformResult? {
        guard let first = local.first, incoming.allSatisfy({ $0.lastIntegratedLocalVersion < first.version }) else {
            return nil
        }
        let theirs = incoming.enumerated().map { index, changeset in
            LocalChangeset(
                version: UInt64(index) + 1, originTimestamp: changeset.originTimestamp,
                originFileIdent: changeset.originFileIdent, changeset: changeset.changeset)
        }
        let ours = local.map { entry in
            IncomingChangeset(
                version: entry.version, lastIntegratedLocalVersion: 0, originTimestamp: entry.originTimestamp,
                originFileIdent: entry.originFileIdent, changeset: entry.changeset)
        }
        let step = try transform(indexed, ours, theirs)
        var results = incoming.map(\.changeset)
        for reciprocal in step.modifiedLocal { results[Int(reciprocal.version) - 1] = reciprocal.changeset }
        let modified = zip(local, step.incoming).map { entry, changeset in
            TransformResult.Reciprocal(version: entry.version, changeset: changeset)
        }
        return different(TransformResult(incoming: results, modifiedLocal: modified), local)
    }

    /// Returns the result without the entries that are as they were: also without those that a merge has changed there
    /// and back again, such as an insert that made room for another which was then erased.
    private func different(_ result: TransformResult, _ local: [LocalChangeset]) -> TransformResult {
        var result = result
        result.modifiedLocal.removeAll { reciprocal in
            local.first { $0.version == reciprocal.version }?.changeset == reciprocal.changeset
        }
        return result
    }

    // MARK: Help

    private func transform(
        _ engine: MergeEngine, _ incoming: [IncomingChangeset], _ local: [LocalChangeset]
    ) throws(SimulationFailure) -> TransformResult {
        let current = local.last?.version ?? 0
        do throws(MergeError) {
            return try engine.transform(incoming: incoming, over: local, currentLocalVersion: current)
        } catch {
            throw SimulationFailure(.honestPeersAreAccepted, "the merge fails when done another way: \(error)")
        }
    }

    private func adopt(
        _ reciprocals: [TransformResult.Reciprocal], into local: inout [LocalChangeset],
        _ modified: inout [UInt64: Changeset]
    ) {
        for reciprocal in reciprocals {
            modified[reciprocal.version] = reciprocal.changeset
            guard let index = local.firstIndex(where: { $0.version == reciprocal.version }) else { continue }
            local[index].changeset = reciprocal.changeset
        }
    }

    private func listed(_ modified: [UInt64: Changeset], _ local: [LocalChangeset]) -> [TransformResult.Reciprocal] {
        local.compactMap { entry in
            modified[entry.version].map { TransformResult.Reciprocal(version: entry.version, changeset: $0) }
        }
    }

    /// Instructions have to be equal. Tables of strings need not: they grow in the order of merging.
    private func expect(
        _ other: TransformResult, _ result: TransformResult, _ invariant: Invariant, _ way: String
    ) throws(SimulationFailure) {
        guard other.incoming.map(\.instructions) == result.incoming.map(\.instructions) else {
            throw SimulationFailure(
                invariant,
                "\(way) makes \(other.incoming.map(\.instructions)) of what came, and not "
                    + "\(result.incoming.map(\.instructions))")
        }
        let left = other.modifiedLocal.map { "\($0.version): \($0.changeset.instructions)" }
        let right = result.modifiedLocal.map { "\($0.version): \($0.changeset.instructions)" }
        guard left == right else {
            throw SimulationFailure(invariant, "\(way) leaves \(left) of our own, and not \(right)")
        }
    }
}
