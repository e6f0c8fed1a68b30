import Storage
import SyncModel

/// The cluster's id and the slices that it has made: rows of `settings`.
protocol PostgresClusterStore: PostgresControlPart {}

extension PostgresClusterStore {
    func cluster(orCreate new: ClusterRecord) async throws(StoreError) -> ClusterRecord {
        try await database.change("the cluster's id") { transaction in
            // A process that comes second waits here for the first.
            let made = try await transaction.run(
                "INSERT INTO settings (name, value) VALUES ('cluster', $1) ON CONFLICT (name) DO NOTHING", new.id)
            if made > 0 { try await new.record(transaction, over: nil) }
            guard let cluster = try await ClusterRecord.recorded(transaction) else {
                throw StoreError(.corrupt, "the control store has a cluster's id, and no prefix")
            }
            return cluster
        }
    }

    func updateCluster(
        _ change: @escaping @Sendable (inout ClusterRecord) -> Void
    ) async throws(StoreError) -> ClusterRecord {
        try await database.change("the cluster's id") { transaction in
            _ = try await transaction.rows("SELECT 1 FROM settings WHERE name = 'cluster' FOR UPDATE")
            guard let before = try await ClusterRecord.recorded(transaction) else {
                throw StoreError(.notFound, "the control store has no cluster's id")
            }
            var cluster = before
            change(&cluster)
            try await cluster.record(transaction, over: before)
            return cluster
        }
    }

    func sliceCount(orCreate count: Int) async throws(StoreError) -> Int {
        try await database.change("the number of slices") { transaction in
            try await transaction.run(
                "INSERT INTO settings (name, value) VALUES ('slices', $1) ON CONFLICT (name) DO NOTHING", String(count))
            let rows = try await transaction.rows("SELECT value FROM settings WHERE name = 'slices'")
            guard let recorded = try rows.first.flatMap({ Int(try $0.text("value")) }), recorded > 0 else {
                throw StoreError(.corrupt, "the recorded number of slices is not a number")
            }
            return recorded
        }
    }
}

extension ClusterRecord {
    /// Nil if no cluster is recorded.
    static func recorded(_ database: some ControlQueries) async throws -> ClusterRecord? {
        try ClusterSettings(rows: await database.rows(ClusterSettings.selectingCluster)).cluster
    }

    /// - Parameter before: what is recorded. Only a coordinator and the owner of the tables may take a mark away.
    fileprivate func record(_ transaction: ControlTransaction, over before: ClusterRecord?) async throws {
        try await transaction.run(
            """
            INSERT INTO settings (name, value) SELECT * FROM unnest($1::text[], $2::text[])
            ON CONFLICT (name) DO UPDATE SET value = excluded.value
            """, ["cluster", "cluster.prefix"] + (hasMarkedBroker ? ["cluster.broker"] : []),
            [id, prefix] + (hasMarkedBroker ? ["marked"] : []))
        if !hasMarkedBroker, before?.hasMarkedBroker == true {
            try await transaction.run("DELETE FROM settings WHERE name = 'cluster.broker'")
        }
    }
}
