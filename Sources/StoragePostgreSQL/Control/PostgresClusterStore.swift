import Storage
import SyncModel

/// The cluster's id and the slices that it has made: rows of `settings`.
struct PostgresClusterStore: ClusterStore {
    let database: PostgresControlDatabase

    func cluster() async throws(StoreError) -> ClusterRecord? {
        try await database.read("the cluster's id") { try await ClusterRecord.recorded($0) }
    }

    func cluster(orCreate new: ClusterRecord) async throws(StoreError) -> ClusterRecord {
        try await database.change("the cluster's id") { transaction in
            // Whoever comes second waits here for the first.
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

    func slicesMade() async throws(StoreError) -> [SliceNumber: Epoch] {
        try await database.read("the slices that were made") { try await ClusterRecord.slicesMade($0) }
    }

    func recordSlice(_ slice: SliceNumber, epoch: Epoch) async throws(StoreError) {
        try await database.run(
            "the slices that were made",
            """
            INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value
                WHERE settings.value::numeric < excluded.value::numeric
            """, "slice.\(slice)", String(epoch.value))
    }

    func forgetSlice(_ slice: SliceNumber) async throws(StoreError) {
        try await database.run("the slices that were made", "DELETE FROM settings WHERE name = $1", "slice.\(slice)")
    }
}

extension ClusterRecord {
    /// Nil if no cluster is recorded.
    static func recorded(_ database: some ControlQueries) async throws -> ClusterRecord? {
        let rows = try await database.rows(
            "SELECT name, value FROM settings WHERE name IN ('cluster', 'cluster.prefix', 'cluster.broker')")
        let values = try rows.reduce(into: [String: String]()) { $0[try $1.text("name")] = try $1.text("value") }
        guard let id = values["cluster"], let prefix = values["cluster.prefix"] else { return nil }
        return ClusterRecord(id: id, prefix: prefix, hasMarkedBroker: values["cluster.broker"] != nil)
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

    /// What is recorded of slices that were made.
    static func slicesMade(_ database: some ControlQueries) async throws -> [SliceNumber: Epoch] {
        let rows = try await database.rows("SELECT name, value FROM settings WHERE name LIKE 'slice.%'")
        return try rows.reduce(into: [:]) { made, row in
            let name = try row.text("name")
            guard let number = Int(name.dropFirst("slice.".count)), let epoch = UInt64(try row.text("value")) else {
                throw StoreError(.corrupt, "the recorded epoch of \(name) is not a number")
            }
            made[SliceNumber(number)] = Epoch(epoch)
        }
    }
}
