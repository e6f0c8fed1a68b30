import Storage
import SyncModel

/// The slices' stores, as they are read beside their owners.
struct SliceStores {
    let inspector: any StoreInspector
    /// The slices that have a store, in order.
    let stored: [SliceNumber]
    /// The slices among them that the cluster has.
    let slices: [SliceNumber]

    /// Visits an app's realms in all of the cluster's slices.
    func forEachRealm(
        of app: String, _ body: (RealmRecord, any SliceReader) async throws -> Void
    ) async throws {
        for slice in slices {
            let reader = try await inspector.reader(for: slice)
            try await reader.forEachRealm(app: app) { try await body($0, reader) }
        }
    }
}

extension CoordinatorContext {
    /// The slices' stores; nil where they cannot be read from here.
    func stores() async -> SliceStores? {
        guard let inspector = configuration.stores, let stored = try? await inspector.slices() else { return nil }
        let cluster = Set(slices.all)
        return SliceStores(inspector: inspector, stored: stored, slices: stored.filter(cluster.contains))
    }

    /// The slices' stores.
    ///
    /// - Parameter purpose: what the error says that they are read for, behind the stores.
    /// - Throws: `no_store`.
    func stores(for purpose: String) async throws(AdminError) -> SliceStores {
        guard let stores = await stores() else { throw .noStore(purpose) }
        return stores
    }
}
