import Messages
import Storage
import StorageSQLite
import SyncModel

/// These stores, whatever they are made of, and stores in memory for all other slices.
struct GivenStores: SliceStores {
    private let given: [SliceNumber: any SliceStore]
    private let others = SQLiteStores.inMemory()

    init(_ given: [any SliceStore]) {
        self.given = Dictionary(given.map { ($0.slice, $0) }, uniquingKeysWith: { first, _ in first })
    }

    func store(for slice: SliceNumber, mayMake: Bool) async throws(StoreError) -> any SliceStore {
        if let store = given[slice] { return store }
        return try await others.store(for: slice, mayMake: mayMake)
    }
}
