import GRDB
import Storage
import SyncModel

extension ClusterSettings {
    /// Reads all settings that are recorded.
    init(_ db: Database) throws { try self.init(rows: db.rows("SELECT name, value FROM settings")) }

    static let putting = "INSERT OR REPLACE INTO settings (name, value) VALUES (?, ?)"
}

extension ClusterRecord {
    fileprivate func record(_ db: Database) throws {
        try db.run(ClusterSettings.putting, "cluster", id)
        try db.run(ClusterSettings.putting, "cluster.prefix", prefix)
        if hasMarkedBroker {
            try db.run(ClusterSettings.putting, "cluster.broker", "marked")
        } else {
            try db.run("DELETE FROM settings WHERE name = 'cluster.broker'")
        }
    }
}

/// The cluster's id and the slices that it has made.
protocol SQLiteClusterStore: SQLiteControlPart {}

extension SQLiteClusterStore {
    func cluster(orCreate new: ClusterRecord) async throws(StoreError) -> ClusterRecord {
        try await write("the cluster's id") { db in
            if let known = try ClusterSettings(db).cluster { return known }
            try new.record(db)
            return new
        }
    }

    func updateCluster(
        _ change: @escaping @Sendable (inout ClusterRecord) -> Void
    ) async throws(StoreError) -> ClusterRecord {
        try await write("the cluster's id") { db in
            guard var cluster = try ClusterSettings(db).cluster else {
                throw StoreError(.notFound, "the control store has no cluster's id")
            }
            change(&cluster)
            try cluster.record(db)
            return cluster
        }
    }

    func sliceCount(orCreate count: Int) async throws(StoreError) -> Int {
        try await write("the number of slices") { db in
            try db.run("INSERT OR IGNORE INTO settings (name, value) VALUES ('slices', ?)", String(count))
            guard let recorded = try ClusterSettings(db).sliceCount, recorded > 0 else {
                throw StoreError(.corrupt, "the recorded number of slices is not a number")
            }
            return recorded
        }
    }
}
