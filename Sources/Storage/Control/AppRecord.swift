package import Changesets
package import SyncModel

/// One Device Sync application and its settings.
package struct AppRecord: Decodable, Sendable, Equatable {
    /// What the app's sync does at the moment.
    package enum SyncState: String, Decodable, Sendable {
        case enabled
        /// Sessions are refused, everything is kept; enabling goes on where it stopped.
        case paused
        /// Sync was terminated: sessions are refused until it is enabled, and every earlier client realm must reset.
        case terminated
    }

    package static let maxIDBytes = 64

    /// Lower-case letters, digits, `-` and `_`, 1 to `maxIDBytes` of them.
    package var id: String
    package var syncMode: SyncMode
    package var syncState: SyncState
    /// By which rules every copy of the app's realms records and applies. Fixed at the creation: copies are built by it.
    package let compatibility: PeerCompatibility
    /// Clients may add classes and properties.
    package var developmentMode: Bool
    /// Clients may recover unsynced changes in a reset; if not, resets say ClientResetNoRecovery.
    package var clientRecovery: Bool
    package var maxOfflineDays: Int
    /// The sync generation: grows with every termination. Begins at 1.
    package var generation: UInt64
    package var anonymousLogin: Bool
    package var emailPasswordLogin: Bool
    /// Milliseconds of Unix time.
    package var createdAt: UInt64

    package init(
        id: String, syncMode: SyncMode = .partition, syncState: SyncState = .enabled,
        compatibility: PeerCompatibility = .stockClients, developmentMode: Bool = true, clientRecovery: Bool = true,
        maxOfflineDays: Int = 30, generation: UInt64 = 1, anonymousLogin: Bool = true,
        emailPasswordLogin: Bool = true, createdAt: UInt64
    ) {
        self.id = id
        self.syncMode = syncMode
        self.syncState = syncState
        self.compatibility = compatibility
        self.developmentMode = developmentMode
        self.clientRecovery = clientRecovery
        self.maxOfflineDays = maxOfflineDays
        self.generation = generation
        self.anonymousLogin = anonymousLogin
        self.emailPasswordLogin = emailPasswordLogin
        self.createdAt = createdAt
    }
}

package protocol AppStore: SchemaStore {
    func app(_ id: String) async throws(StoreError) -> AppRecord?
    /// In the order of their ids.
    func apps() async throws(StoreError) -> [AppRecord]
    /// - Throws: `alreadyExists`.
    func insert(_ app: AppRecord) async throws(StoreError)
    /// Changes an app in one transaction and returns it as it is afterwards.
    /// - Throws: `notFound`.
    func updateApp(
        _ id: String, _ change: @escaping @Sendable (inout AppRecord) -> Void
    ) async throws(StoreError) -> AppRecord
    /// The number of slices that this cluster was created with; records `count` if it is new.
    func sliceCount(orCreate count: Int) async throws(StoreError) -> Int
}
