package import SyncModel

/// The control store's part about the cluster as a whole: who it is, and which slices it has ever had.
package protocol ClusterStore: Sendable {
    /// Nil in a store of a version that did not know of clusters' ids.
    func cluster() async throws(StoreError) -> ClusterRecord?
    /// The cluster that is recorded; records `new` if none is.
    func cluster(orCreate new: ClusterRecord) async throws(StoreError) -> ClusterRecord
    /// - Throws: `notFound` if no cluster is recorded.
    func updateCluster(
        _ change: @escaping @Sendable (inout ClusterRecord) -> Void
    ) async throws(StoreError) -> ClusterRecord

    /// The number of slices that this cluster was created with; records `count` if it is new.
    func sliceCount(orCreate count: Int) async throws(StoreError) -> Int
    /// The slices that were ever made, each with the latest epoch in which it is known to have been taken.
    func slicesMade() async throws(StoreError) -> [SliceNumber: Epoch]
    /// Notes that a slice was made, and taken in an epoch; never sets the epoch back.
    func recordSlice(_ slice: SliceNumber, epoch: Epoch) async throws(StoreError)
    /// Forgets that a slice was ever made.
    func forgetSlice(_ slice: SliceNumber) async throws(StoreError)

    /// The moment (milliseconds of Unix time) that the last backup would bring back; nil if none is known of.
    func lastBackup() async throws(StoreError) -> UInt64?
    /// Notes that a backup of a moment was made; an older one than the last changes nothing.
    func recordBackup(of moment: UInt64) async throws(StoreError)
}
