package import SyncModel

/// Says of each slice's store whether it is what the cluster has written there, before a worker makes, opens or takes it.
///
/// A slice that was made once is never made again by itself: an empty copy would tell every device to reset onto nothing.
package struct SliceRegistry: Sendable {
    private let cluster: String
    private let control: any ClusterStore

    /// - Parameter cluster: its id.
    package init(cluster: String, control: any ClusterStore) {
        self.cluster = cluster
        self.control = control
    }

    /// Opens a slice's store; makes it if the cluster never had one.
    /// - Throws: `mismatch` for a store that is missing, empty, another cluster's, or older than what the cluster has seen of it.
    package func open(_ slice: SliceNumber, in stores: any SliceStores) async throws(StoreError) -> any SliceStore {
        let known = try await control.slicesMade()[slice]
        let store: any SliceStore
        do throws(StoreError) {
            store = try await stores.store(for: slice, mayMake: known == nil)
        } catch {
            guard error.code == .notFound else { throw error }
            throw StoreError(
                .mismatch,
                """
                \(error.message), though the cluster has made it: see that the disk is mounted, or restore it \
                (docs/operations.md#backup-and-restore). It is not made anew by itself: all clients of its realms would reset \
                onto an empty copy. If that is meant: sluice store adopt --slice \(slice)
                """)
        }
        try await check(store, knownAt: known)
        if known == nil {
            try await control.recordSlice(slice, epoch: try await store.ownership()?.epoch ?? Epoch(0))
        }
        return store
    }

    /// Says whether a worker may take the slice.
    /// - Throws: `mismatch`.
    package func check(_ store: any SliceStore) async throws(StoreError) {
        try await check(store, knownAt: try await control.slicesMade()[store.slice])
    }

    /// Notes that a worker has taken the slice.
    package func taken(_ slice: SliceNumber, epoch: Epoch) async throws(StoreError) {
        try await control.recordSlice(slice, epoch: epoch)
    }

    private func check(_ store: any SliceStore, knownAt known: Epoch?) async throws(StoreError) {
        let slice = store.slice
        if let borne = try await store.cluster() {
            guard borne == cluster else {
                throw StoreError(
                    .mismatch,
                    """
                    slice \(slice) is of cluster \(borne), and this is cluster \(cluster): put back this cluster's own. To \
                    take it over as it is: sluice store adopt --slice \(slice)
                    """)
            }
        } else {
            try await store.setCluster(cluster)
        }
        let epoch = try await store.ownership()?.epoch ?? Epoch(0)
        if let known, epoch < known {
            throw StoreError(
                .mismatch,
                """
                slice \(slice) was taken in epoch \(known), and its store knows only epoch \(epoch): it is an older copy. Put \
                back the latest, or restore the whole store (sluice restore), which tells the clients that are ahead. To go on \
                with the copy as it is: sluice store adopt --slice \(slice)
                """)
        }
    }
}
