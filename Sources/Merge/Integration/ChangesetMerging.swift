import Changesets

/// A merge as the integration of uploads and downloads calls it: `MergeEngine`, or what a simulation puts around it.
package protocol ChangesetMerging {
    associatedtype Failure: Error

    /// As `MergeEngine.transform`.
    func transform(
        incoming: [IncomingChangeset], over local: [LocalChangeset], currentLocalVersion: UInt64
    ) throws(Failure) -> TransformResult
}

extension MergeEngine: ChangesetMerging {}

extension [IncomingChangeset] {
    /// Puts what a merge has made of the changesets in their place.
    mutating func replace(with merged: [Changeset]) {
        for (index, changeset) in zip(indices, merged) { self[index].changeset = changeset }
    }
}
