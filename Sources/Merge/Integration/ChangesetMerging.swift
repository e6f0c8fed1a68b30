import Changesets

/// A merge as the integration of uploads and downloads calls it: `MergeEngine`, or what a simulation puts around it.
package protocol ChangesetMerging {
    associatedtype Failure: Error

    /// Merges changesets as `MergeEngine.transform` does.
    func transform(
        incoming: [IncomingChangeset], over local: [LocalChangeset], currentLocalVersion: UInt64
    ) throws(Failure) -> TransformResult
}

extension MergeEngine: ChangesetMerging {}

/// A merge whose work is counted and bounded.
package struct MeteredMerge: ChangesetMerging {
    private let engine: MergeEngine
    private let meter: MergeMeter

    package init(_ engine: MergeEngine = MergeEngine(), meter: MergeMeter) {
        self.engine = engine
        self.meter = meter
    }

    package func transform(
        incoming: [IncomingChangeset], over local: [LocalChangeset], currentLocalVersion: UInt64
    ) throws(MergeError) -> TransformResult {
        try engine.transform(
            incoming: incoming, over: local, currentLocalVersion: currentLocalVersion, meter: meter)
    }
}

extension [IncomingChangeset] {
    /// Puts what a merge has made of the changesets in their place.
    mutating func replace(with merged: [Changeset]) {
        for (index, changeset) in zip(indices, merged) { self[index].changeset = changeset }
    }
}
