import Foundation
import GRDB
package import Storage
package import SyncModel

/// The stores in a folder as their realms are divided among more slices, while no process uses the folder.
package struct SQLiteGrowth: GrowingStore {
    private let folder: String

    package init(folder: String) { self.folder = folder }

    package var place: String { folder }

    private var control: String { "\(folder)/control.sqlite" }
    private func file(of slice: SliceNumber) -> String { SQLiteSliceStore.file(of: slice, in: folder) }

    /// Runs one transaction on a file that must be there.
    private func write<Value: Sendable>(
        _ file: String, beside source: String? = nil, isDurable: Bool = true,
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(StoreError) -> Value {
        do {
            return try await onOwnThread {
                // SQLite makes what it attaches.
                for file in [file, source].compactMap(\.self) where !FileManager.default.fileExists(atPath: file) {
                    throw StoreError(.notFound, "\(file) is missing")
                }
                let database = try DatabaseQueue(path: file, configuration: Self.configuration(isDurable))
                defer { try? database.close() }
                return try database.writeWithoutTransaction { db in
                    if let source { try db.execute(sql: "ATTACH DATABASE ? AS source", arguments: [source]) }
                    return try db.transact(body)
                }
            }
        } catch {
            throw SQLiteFailure.storeError(error, "\(file) cannot be used")
        }
    }

    /// Reads a file that must be there, as it is at one moment.
    private func read<Value: Sendable>(
        _ file: String, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(StoreError) -> Value {
        try await SQLiteFiles.use(file, as: "growth.reader", readsOnly: true, orSay: "\(file) cannot be read") {
            try $0.read(body)
        }
    }

    /// - Parameter isDurable: each commit is on the disk; otherwise those that a power cut leaves are the first ones, whole.
    private static func configuration(_ isDurable: Bool) -> Configuration {
        var configuration = Configuration(label: "growth")
        configuration.prepareDatabase { db in
            try db.execute(
                sql: """
                    PRAGMA synchronous = \(isDurable ? "FULL" : "NORMAL"); PRAGMA temp_store = MEMORY;
                    PRAGMA journal_size_limit = 67108864
                    """)
        }
        return configuration
    }

    // MARK: The cluster

    package func growth() async throws(StoreError) -> (cluster: ClusterRecord, growth: SliceGrowth?) {
        try await read(control) { try ClusterSettings($0) }.growth(at: folder)
    }

    package func sliceCount() async throws(StoreError) -> SliceCount {
        try await read(control) { try ClusterSettings($0) }.growingCount()
    }

    package func record(_ growth: SliceGrowth?, made: [SliceNumber: Epoch]) async throws(StoreError) {
        try await write(control) { db in
            guard let growth else { return try db.run("DELETE FROM settings WHERE name = ?", SliceGrowth.setting) }
            for (name, value) in growth.settings(made: made) { try db.run(ClusterSettings.putting, name, value) }
        }
    }

    package func requireRights() async throws(StoreError) {}

    // MARK: Slices

    package func sliceTables() async throws(StoreError) -> [StoredTable] {
        try await SQLiteTables(folder: folder).tables(of: .slice(SliceNumber(0)))
    }

    package func isEmpty(_ table: String, in slice: SliceNumber) async throws(StoreError) -> Bool {
        try await read(file(of: slice)) { db in
            try Int.fetchOne(db, sql: "SELECT 1 FROM \(table.quotedDatabaseIdentifier) LIMIT 1") == nil
        }
    }

    package func realms(
        in slice: SliceNumber, after: RealmID?, limit: Int
    ) async throws(StoreError) -> [StoredRealm] {
        try await read(file(of: slice)) { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT id, app, partition, stored_bytes FROM realms WHERE id > :after
                    UNION ALL SELECT realm, app, partition, 0 FROM erasures WHERE realm > :after
                    ORDER BY 1 LIMIT :limit
                    """, arguments: ["after": after?.value ?? .min, "limit": limit]
            ).map { row in
                StoredRealm(
                    id: RealmID(row[0]), name: RealmName(app: row[1], partition: row[2]),
                    bytes: Int(clamping: row[3] as Int64))
            }
        }
    }

    package func countRealms(in slice: SliceNumber) async throws(StoreError) -> Int {
        try await read(file(of: slice)) { db in
            try Int.fetchOne(db, sql: "SELECT (SELECT count(*) FROM realms) + (SELECT count(*) FROM erasures)") ?? 0
        }
    }

    package func exists(_ slice: SliceNumber) async throws(StoreError) -> Bool {
        FileManager.default.fileExists(atPath: file(of: slice))
    }

    package func make(_ slice: SliceNumber) async throws(StoreError) {
        do {
            _ = try await onOwnThread { [folder] in try SQLiteSliceStore(slice: slice, folder: folder, mayMake: true) }
        } catch {
            throw SQLiteFailure.storeError(error, "slice \(slice) cannot be made")
        }
    }

    package func remove(_ slice: SliceNumber) async throws(StoreError) {
        let file = file(of: slice)
        do {
            try await onOwnThread {
                // The log last would be taken for that of the next file of this name.
                for name in ["\(file)-wal", "\(file)-shm", file] where FileManager.default.fileExists(atPath: name) {
                    try FileManager.default.removeItem(atPath: name)
                }
            }
        } catch {
            throw StoreError(.unavailable, "\(file) cannot be removed", underlying: error)
        }
    }

    package func finish(_ slice: SliceNumber, cluster: String, epoch: Epoch) async throws(StoreError) {
        let file = file(of: slice)
        try await write(file) { db in
            try db.run("INSERT OR REPLACE INTO meta (key, value) VALUES ('cluster', ?)", cluster)
            try db.run(
                "INSERT OR REPLACE INTO ownership (id, owner, epoch, lease_until, released) VALUES (0, ?, ?, 0, 1)",
                SliceDivision.owner, epoch.value.stored)
        }
        do {
            try await onOwnThread {
                let database = try DatabaseQueue(path: file, configuration: Self.configuration(true))
                defer { try? database.close() }
                try database.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
            }
        } catch {
            throw SQLiteFailure.storeError(error, "\(file) cannot be written to the disk")
        }
    }

    /// The triggers count.
    package func recount(_ slice: SliceNumber) async throws(StoreError) {}
}

// MARK: - Rows

extension SQLiteGrowth {
    package func share(
        _ slice: SliceNumber, with target: SliceNumber, of count: SliceCount
    ) async throws(StoreError) {
        try await write(file(of: target), beside: file(of: slice), isDurable: false) { db in
            for table in ["app_generations", "campaign_reasons"] {
                let columns = try db.columns(in: table).map(\.name.quotedDatabaseIdentifier).joined(separator: ", ")
                try db.execute(
                    sql: "INSERT OR IGNORE INTO main.\(table) (\(columns)) SELECT \(columns) FROM source.\(table)")
            }
            // Held in one slice, held in all that its realms go to.
            try db.execute(
                sql: """
                    INSERT INTO main.reset_holds (app, held_since, asked, client_files, allowed_until)
                    SELECT app, held_since, asked, client_files, allowed_until FROM source.reset_holds WHERE true
                    ON CONFLICT (app) DO UPDATE SET held_since = excluded.held_since, asked = excluded.asked,
                        client_files = excluded.client_files, allowed_until = excluded.allowed_until
                    WHERE reset_holds.held_since IS NULL AND excluded.held_since IS NOT NULL
                    """)
            // The latest of each slice, between those of the others: the earliest of all are forgotten first.
            let kept = SliceBatch.rememberedMessages / count.value
            try db.execute(
                sql: """
                    INSERT OR IGNORE INTO main.seen_messages (number, id)
                    SELECT (:kept - (last.number - s.number)) * :count + :slice, s.id FROM source.seen_messages AS s,
                        (SELECT max(number) AS number FROM source.seen_messages) AS last
                    WHERE s.number > last.number - :kept
                    """, arguments: ["kept": kept, "count": count.value, "slice": slice.value])
            try Self.shareRestore(db)
        }
    }

    /// The last time that one of the slices was put back.
    private static func shareRestore(_ db: Database) throws {
        func at(_ schema: String) throws -> UInt64? {
            try String.fetchOne(db, sql: "SELECT value FROM \(schema).meta WHERE key = 'restore.at'").flatMap {
                UInt64($0)
            }
        }
        guard let new = try at("source"), try at("main").map({ $0 < new }) ?? true else { return }
        try db.execute(
            sql: """
                INSERT OR REPLACE INTO main.meta (key, value)
                SELECT key, value FROM source.meta WHERE key IN ('restore', 'restore.at')
                """)
    }

    /// A table whose rows go with their realms.
    private struct RealmTable {
        var name: String
        var realm: String
        var key: [String]
        /// All columns but the realm's number.
        var others: [String]

        /// Returns the tables of a slice's file; the realms themselves come first, since triggers look for them.
        static func all(_ db: Database) throws -> [RealmTable] {
            try String.fetchAll(db, sql: "SELECT name FROM main.sqlite_master WHERE type = 'table' ORDER BY name")
                .filter { !SQLiteTables.own.contains($0) }
                .compactMap { name in
                    let columns = try db.columns(in: name).map(\.name)
                    guard case .ofRealms(let realm) = try SliceTable(StoredTable(name: name, columns: columns)) else {
                        return nil
                    }
                    return RealmTable(
                        name: name.quotedDatabaseIdentifier, realm: realm,
                        key: try db.primaryKey(name).columns.filter { $0 != realm }.map(\.quotedDatabaseIdentifier),
                        others: columns.filter { $0 != realm }.map(\.quotedDatabaseIdentifier))
                }
                .sorted { $0.name == "\"realms\"" && $1.name != "\"realms\"" }
        }
    }

    private static func note(_ moves: [RealmMove], _ db: Database) throws {
        try db.execute(sql: "CREATE TEMP TABLE moved (old INTEGER PRIMARY KEY, new INTEGER NOT NULL)")
        for move in moves {
            try db.run("INSERT INTO temp.moved (old, new) VALUES (?, ?)", move.old.value, move.new.value)
        }
    }

    package func copy(
        _ moves: [RealmMove], from slice: SliceNumber, to target: SliceNumber
    ) async throws(StoreError) {
        try await write(file(of: target), beside: file(of: slice), isDurable: false) { db in
            try Self.note(moves, db)
            try db.execute(
                sql: """
                    DELETE FROM temp.moved WHERE new IN (SELECT id FROM main.realms)
                        OR new IN (SELECT realm FROM main.erasures)
                    """)
            for table in try RealmTable.all(db) {
                try db.execute(
                    sql: """
                        INSERT INTO main.\(table.name) (\(([table.realm] + table.others).joined(separator: ", ")))
                        SELECT m.new, \(table.others.map { "s.\($0)" }.joined(separator: ", "))
                        FROM temp.moved AS m CROSS JOIN source.\(table.name) AS s ON s.\(table.realm) = m.old
                        """)
            }
        }
    }

    package func difference(
        _ moves: [RealmMove], from slice: SliceNumber, to target: SliceNumber
    ) async throws(StoreError) -> String? {
        try await write(file(of: target), beside: file(of: slice), isDurable: false) { db in
            try Self.note(moves, db)
            for table in try RealmTable.all(db) {
                let same = table.key.map { "n.\($0) = s.\($0)" } + table.others.map { "n.\($0) IS s.\($0)" }
                let differs = try Bool.fetchOne(
                    db,
                    sql: """
                        SELECT EXISTS (
                            SELECT 1 FROM temp.moved AS m CROSS JOIN source.\(table.name) AS s ON s.\(table.realm) = m.old
                            WHERE NOT EXISTS (
                                SELECT 1 FROM main.\(table.name) AS n WHERE n.\(table.realm) = m.new
                                    AND \(same.joined(separator: " AND "))))
                        OR (SELECT count(*) FROM temp.moved AS m CROSS JOIN source.\(table.name) AS s
                                ON s.\(table.realm) = m.old)
                            <> (SELECT count(*) FROM temp.moved AS m CROSS JOIN main.\(table.name) AS n
                                ON n.\(table.realm) = m.new)
                        """)
                if differs == true { return table.name.replacing("\"", with: "") }
            }
            return nil
        }
    }

    package func clear(_ realms: [RealmID], in slice: SliceNumber) async throws(StoreError) {
        try await write(file(of: slice)) { db in
            try Self.note(realms.map { RealmMove(old: $0, new: $0, bytes: 0) }, db)
            for table in try RealmTable.all(db) {
                try db.execute(
                    sql: "DELETE FROM main.\(table.name) WHERE \(table.realm) IN (SELECT old FROM temp.moved)")
            }
        }
    }
}
