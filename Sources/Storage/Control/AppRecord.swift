package import Changesets
package import SyncModel

/// One Device Sync application and its settings.
package struct AppRecord: Sendable, Equatable {
    /// The state of the app's sync.
    package enum SyncState: String, Decodable, Sendable {
        case enabled
        /// Sessions are refused, everything is kept; enabling goes on where it stopped.
        case paused
        /// Sync was terminated: sessions are refused until it is enabled, and every earlier client realm must reset.
        case terminated
    }

    /// The fate of the copy of a client that may not read its partition.
    package enum OnReadDenied: String, Decodable, Sendable, CaseIterable {
        /// The copy stays, with whatever the client has not uploaded.
        case keep
        /// The client is told to delete the copy.
        case delete
    }

    /// The fate of the copy of a client that has written without the right to.
    package enum OnWriteDenied: String, Decodable, Sendable, CaseIterable {
        /// The client discards what it has written, and downloads a fresh copy.
        case discard
        /// The session ends with an error; the copy stays as it is.
        case error
    }

    package static let maxIDBytes = 64

    /// Lower-case letters, digits, `-` and `_`, 1 to `maxIDBytes` of them.
    package var id: String
    package var syncMode: SyncMode
    package var syncState: SyncState
    /// The rules by which every copy of the app's realms records and applies changes. Fixed at the app's creation:
    /// copies are built by these rules.
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
    package var onReadDenied: OnReadDenied
    package var onWriteDenied: OnWriteDenied
    /// The rules in force: the version of the newest document; 0 if there never was one, and nobody may read or write.
    package var rulesVersion: UInt64
    /// Grows with every change of a user, so that whoever missed the notice of it finds out.
    package var usersVersion: UInt64
    /// Grows whenever something is taken away from the app's schema.
    package var schemaVersion: UInt64
    /// The schema versions that clients in flexible mode may name; nil: nobody looks at them.
    package var clientSchemas: SchemaVersionRange?
    /// The schemas that clients of each version see, and the version that is prepared; nil: they all see the realm's schema as it is.
    package var schemas: SchemaVersions?
    /// The app's latest move from one sync mode to the other; nil if it never moved.
    package var migration: ModeMigration?
    /// The part of the app's changes that is told.
    package var changeFeed: ChangeFeedSetting
    /// The app's own values of quotas, where those of the processes' settings do not hold.
    package var quotas: QuotaValues
    /// Milliseconds of Unix time.
    package var createdAt: UInt64

    package init(
        id: String, syncMode: SyncMode = .partition, syncState: SyncState = .enabled,
        compatibility: PeerCompatibility = .stockClients, developmentMode: Bool = true, clientRecovery: Bool = true,
        maxOfflineDays: Int = 30, generation: UInt64 = 1, anonymousLogin: Bool = true,
        emailPasswordLogin: Bool = true, onReadDenied: OnReadDenied = .keep, onWriteDenied: OnWriteDenied = .discard,
        rulesVersion: UInt64 = 0, usersVersion: UInt64 = 0, schemaVersion: UInt64 = 0,
        clientSchemas: SchemaVersionRange? = nil, schemas: SchemaVersions? = nil, migration: ModeMigration? = nil,
        changeFeed: ChangeFeedSetting = ChangeFeedSetting(), quotas: QuotaValues = QuotaValues(), createdAt: UInt64
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
        self.onReadDenied = onReadDenied
        self.onWriteDenied = onWriteDenied
        self.rulesVersion = rulesVersion
        self.usersVersion = usersVersion
        self.schemaVersion = schemaVersion
        self.clientSchemas = clientSchemas
        self.schemas = schemas
        self.migration = migration
        self.changeFeed = changeFeed
        self.quotas = quotas
        self.createdAt = createdAt
    }
}

package protocol AppStore: SchemaStore, RulesStore, UserChangeStore {
    func app(_ id: String) async throws(StoreError) -> AppRecord?
    /// Returns all apps in the order of their ids.
    func apps() async throws(StoreError) -> [AppRecord]
    /// Makes an app, with its first rules if there are any; `rulesVersion` follows from them.
    /// - Throws: `alreadyExists`.
    func insert(_ app: AppRecord, rules: RulesChange?) async throws(StoreError)
    /// Changes an app in one transaction and returns it as it is afterwards. What versions count, `change` does not change.
    /// - Throws: `notFound`.
    func updateApp(
        _ id: String, _ change: @escaping @Sendable (inout AppRecord) -> Void
    ) async throws(StoreError) -> AppRecord
}

extension AppStore {
    /// Makes an app without rules: nobody may read or write until it has some.
    package func insert(_ app: AppRecord) async throws(StoreError) { try await insert(app, rules: nil) }
}

extension AppRecord {
    /// The limit of a quota for the app.
    ///
    /// - Parameter settings: of the process that asks.
    package func limit(of quota: Quota, by settings: QuotaValues) -> Int {
        quotas[quota] ?? settings[quota] ?? quota.standard
    }

    /// The record after a change of its settings, which leaves alone what it is and what its versions count.
    package func changed(by change: (inout AppRecord) -> Void) -> AppRecord {
        var app = self
        change(&app)
        app.id = id
        app.rulesVersion = rulesVersion
        app.usersVersion = usersVersion
        app.schemaVersion = schemaVersion
        return app
    }
}
