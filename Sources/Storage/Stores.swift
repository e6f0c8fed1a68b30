package import SyncModel

/// Opens the stores of slices: one object for each slice in a process, however often it is asked for.
package protocol SliceStores: Sendable {
    /// Opens a slice's store.
    /// - Parameter mayMake: whether to make it where there is none, or an empty one.
    /// - Throws: `mismatch` if what is there belongs to another slice or to a newer version of Sluice; `notFound` if there is
    ///   nothing and it may not be made.
    func store(for slice: SliceNumber, mayMake: Bool) async throws(StoreError) -> any SliceStore
    /// What keeps the stores from acknowledging changes although they can be reached, and what to do about it; nil if nothing is
    /// known to.
    func obstacle() async -> String?
}

extension SliceStores {
    package func obstacle() async -> String? { nil }

    /// Opens a slice's store, and makes it where there is none yet.
    package func store(for slice: SliceNumber) async throws(StoreError) -> any SliceStore {
        try await store(for: slice, mayMake: true)
    }
}

/// All stores of one cluster, in one engine: the control store and a store for each slice.
package protocol Stores: SliceStores {
    /// Opens the control store, and makes it where there is none yet.
    /// - Throws: `unavailable`, `corrupt`, `mismatch`.
    func control() async throws(StoreError) -> any ControlStore
    /// The same stores for reading beside, or without, a running cluster.
    func inspector() -> any StoreInspector
}

/// A cluster's stores as an operator's tool sees them. Reads only: nothing is created, migrated or locked.
package protocol StoreInspector: Sendable {
    /// The slices that have a store, in order.
    /// - Throws: `notFound` if there is no such place.
    func slices() async throws(StoreError) -> [SliceNumber]
    /// - Throws: `notFound` if the slice has no store; `mismatch` if another version of Sluice wrote it.
    func reader(for slice: SliceNumber) async throws(StoreError) -> any SliceReader
    /// What is there of a cluster.
    func cluster() async throws(StoreError) -> StoredCluster
    /// The slices that the cluster has ever made, as `ClusterStore` has them.
    func slicesMade() async throws(StoreError) -> [SliceNumber: Epoch]
    /// How many slices the cluster was created with; nil if that is not written down yet.
    func recordedSliceCount() async throws(StoreError) -> Int?
    /// What a check of the whole control store finds wrong, at most `limit` findings; empty if it is sound.
    func controlProblems(limit: Int) async throws(StoreError) -> [String]
    /// What an acknowledged change survives.
    func durability() async throws(StoreError) -> StoreDurability
    /// What keeps the store from acknowledging changes although it can be reached, and what to do about it; nil if nothing is known to.
    func obstacle() async throws(StoreError) -> String?
    /// Where the stores are, as an operator knows it, without credentials; nil for stores that no other process can reach.
    var place: String? { get }
    /// The files that the stores are kept in; nil for an engine whose data is not in files of this machine.
    var files: StoreFiles? { get }
}

/// The files of an engine that keeps its data in a folder of this machine.
package struct StoreFiles: Sendable {
    package var folder: String
    package var control: String
    /// The file of each slice, and the log in which changes wait until they are moved to the file.
    package var slice: @Sendable (SliceNumber) -> (data: String, log: String)

    package init(
        folder: String, control: String, slice: @escaping @Sendable (SliceNumber) -> (data: String, log: String)
    ) {
        self.folder = folder
        self.control = control
        self.slice = slice
    }
}
