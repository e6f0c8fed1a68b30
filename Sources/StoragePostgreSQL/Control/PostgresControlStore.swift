package import PostgreSQL
package import Storage

/// The control store in PostgreSQL, for the processes of many machines.
///
/// Where a change depends on what it reads, it locks the rows that it goes by, or a row of `locks` where there is none yet to be
/// locked; uniqueness is the tables'. So two processes never decide on the same state.
package struct PostgresControlStore: DividedControlStore {
    package let ofCluster: any ClusterStore
    package let ofApps: any AppStore
    package let ofAccounts: any AccountStore
    package let ofAdmins: any AdminStore
    package let ofCampaigns: any CampaignStore
    package let ofDeletions: any AppDeletionStore

    init(database: PostgresControlDatabase) {
        ofCluster = PostgresClusterStore(database: database)
        ofApps = PostgresAppStore(database: database)
        ofAccounts = PostgresAccountStore(database: database)
        ofAdmins = PostgresAdminStore(database: database)
        ofCampaigns = PostgresCampaignStore(database: database)
        ofDeletions = PostgresDeletionStore(database: database)
    }
}

extension PostgresControlStore {
    /// Opens the control store. Makes its tables where there are none, if it may; older ones wait for the operator.
    ///
    /// - Throws: `notFound`, `mismatch`, `denied`, each with what to do.
    package static func open(_ client: PostgresClient) async throws(StoreError) -> PostgresControlStore {
        let schema = PostgresControlSchema.schema
        if try await schema.level(client)?.steps ?? 0 == 0 { try await schema.migrate(client) }
        try await schema.require(client)
        return PostgresControlStore(database: PostgresControlDatabase(client: client))
    }
}
