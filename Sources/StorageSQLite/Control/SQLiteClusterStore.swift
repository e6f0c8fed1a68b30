import GRDB
import Storage
import SyncModel

// The cluster and its slices are rows of `settings`: an older version, too, can tell what is there.

extension ClusterRecord {
    /// Nil if no cluster is recorded.
    static func recorded(_ db: Database) throws -> ClusterRecord? {
        guard let id = try setting("cluster", db), let prefix = try setting("cluster.prefix", db) else { return nil }
        return ClusterRecord(id: id, prefix: prefix, hasMarkedBroker: try setting("cluster.broker", db) != nil)
    }

    private static func setting(_ name: String, _ db: Database) throws -> String? {
        try String.fetchOne(db, sql: "SELECT value FROM settings WHERE name = ?", arguments: [name])
    }

    fileprivate func record(_ db: Database) throws {
        let put = "INSERT OR REPLACE INTO settings (name, value) VALUES (?, ?)"
        try db.run(put, "cluster", id)
        try db.run(put, "cluster.prefix", prefix)
        if hasMarkedBroker {
            try db.run(put, "cluster.broker", "marked")
        } else {
            try db.run("DELETE FROM settings WHERE name = 'cluster.broker'")
        }
    }

    /// What is recorded of slices that were made.
    static func slicesMade(_ db: Database) throws -> [SliceNumber: Epoch] {
        try Row.fetchAll(db, sql: "SELECT name, value FROM settings WHERE name GLOB 'slice.[0-9]*'")
            .reduce(into: [:]) { made, row in
                let (name, value): (String, String) = (row[0], row[1])
                guard let number = Int(name.dropFirst("slice.".count)), let epoch = UInt64(value) else {
                    throw StoreError(.corrupt, "the recorded epoch of \(name) is not a number")
                }
                made[SliceNumber(number)] = Epoch(epoch)
            }
    }
}

/// The cluster's id and the slices that it has made.
struct SQLiteClusterStore: ClusterStore, SQLiteControlPart {
    let database: any DatabaseWriter

    func cluster() async throws(StoreError) -> ClusterRecord? {
        try await read("the cluster's id") { try ClusterRecord.recorded($0) }
    }

    func cluster(orCreate new: ClusterRecord) async throws(StoreError) -> ClusterRecord {
        try await write("the cluster's id") { db in
            if let known = try ClusterRecord.recorded(db) { return known }
            try new.record(db)
            return new
        }
    }

    func updateCluster(
        _ change: @escaping @Sendable (inout ClusterRecord) -> Void
    ) async throws(StoreError) -> ClusterRecord {
        try await write("the cluster's id") { db in
            guard var cluster = try ClusterRecord.recorded(db) else {
                throw StoreError(.notFound, "the control store has no cluster's id")
            }
            change(&cluster)
            try cluster.record(db)
            return cluster
        }
    }

    func slicesMade() async throws(StoreError) -> [SliceNumber: Epoch] {
        try await read("the slices that were made") { try ClusterRecord.slicesMade($0) }
    }

    func recordSlice(_ slice: SliceNumber, epoch: Epoch) async throws(StoreError) {
        try await write("the slices that were made") { db in
            try db.run(
                """
                INSERT INTO settings (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value
                    WHERE CAST(value AS INTEGER) < CAST(excluded.value AS INTEGER)
                """, "slice.\(slice)", String(epoch.value))
        }
    }

    func forgetSlice(_ slice: SliceNumber) async throws(StoreError) {
        try await write("the slices that were made") {
            try $0.run("DELETE FROM settings WHERE name = ?", "slice.\(slice)")
        }
    }

    func sliceCount(orCreate count: Int) async throws(StoreError) -> Int {
        try await write("the number of slices") { db in
            try db.run("INSERT OR IGNORE INTO settings (name, value) VALUES ('slices', ?)", String(count))
            let text = try String.fetchOne(db, sql: "SELECT value FROM settings WHERE name = 'slices'")
            guard let text, let recorded = Int(text), recorded > 0 else {
                throw StoreError(.corrupt, "the recorded number of slices is not a number")
            }
            return recorded
        }
    }
}
