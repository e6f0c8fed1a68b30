import Operations
import Storage
import StorageSQLite

extension ClusterSettings {
    /// The stores that the setting `store.url` names. Opens nothing yet.
    func stores() throws -> any Stores {
        switch try StoreURL(configuration.storeURL.revealed) {
        case .sqlite(let folder): SQLiteStores(folder: folder)
        case .sqliteInMemory: SQLiteStores.inMemory()
        }
    }
}
