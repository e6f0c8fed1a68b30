package import SyncModel

/// A store whose realms can be divided among more slices while no process uses it. Everything here may be done twice.
package protocol GrowingStore: Sendable {
    /// Where it is, as an operator knows it.
    var place: String { get }
    /// The cluster, and how far its growth is; nil if it does not grow.
    /// - Throws: `notFound` if there is no cluster.
    func growth() async throws(StoreError) -> (cluster: ClusterRecord, growth: SliceGrowth?)
    /// How many slices the cluster has.
    func sliceCount() async throws(StoreError) -> SliceCount
    /// Records how far the growth is; nil: there is none any more. With `.clearing`, in the same transaction the cluster has the
    /// new number of slices, and `made` are slices that it has made.
    func record(_ growth: SliceGrowth?, made: [SliceNumber: Epoch]) async throws(StoreError)
    /// Whether this user may do all that is needed.
    /// - Throws: `denied`.
    func requireRights() async throws(StoreError)

    func sliceTables() async throws(StoreError) -> [StoredTable]
    func isEmpty(_ table: String, in slice: SliceNumber) async throws(StoreError) -> Bool
    /// The next realms of a slice by their numbers, and the erased ones that it remembers.
    func realms(in slice: SliceNumber, after: RealmID?, limit: Int) async throws(StoreError) -> [StoredRealm]
    func countRealms(in slice: SliceNumber) async throws(StoreError) -> Int

    // MARK: A new slice

    /// Whether there is anything of a slice.
    func exists(_ slice: SliceNumber) async throws(StoreError) -> Bool
    /// Makes the slice's place if there is none.
    func make(_ slice: SliceNumber) async throws(StoreError)
    /// Removes a slice that the cluster does not have yet, with all that is in it.
    func remove(_ slice: SliceNumber) async throws(StoreError)
    /// Adds what a slice knows of apps and messages to a new one (`SliceTable.ofApps`), and when it was put back.
    func share(_ slice: SliceNumber, with target: SliceNumber, of count: SliceCount) async throws(StoreError)
    /// Copies everything that belongs to some realms, in one transaction; leaves out those that are there already.
    func copy(_ moves: [RealmMove], from slice: SliceNumber, to target: SliceNumber) async throws(StoreError)
    /// Compares everything that belongs to some realms in both slices.
    /// - Returns: the table in which they differ.
    func difference(
        _ moves: [RealmMove], from slice: SliceNumber, to target: SliceNumber
    ) async throws(StoreError) -> String?
    /// Makes a slice that has everything one of the cluster's, and durable: it was last owned under `epoch`, and nobody has it.
    func finish(_ slice: SliceNumber, cluster: String, epoch: Epoch) async throws(StoreError)

    // MARK: An old slice

    /// Removes everything that belongs to some realms, in one transaction.
    func clear(_ realms: [RealmID], in slice: SliceNumber) async throws(StoreError)
    /// Counts again what apps have in a slice.
    func recount(_ slice: SliceNumber) async throws(StoreError)
}
