import Changesets
import Foundation
import GRDB
import SQLiteStatements
import Storage
import SyncModel

/// Realms, their objects and their history.
extension SQLiteCommit {
    mutating func remove() throws {
        for (key, version) in batch.historyTrims { try trim(key, through: version) }
        for realm in batch.reciprocalResets {
            try db.run("DELETE FROM reciprocals WHERE realm = ?", realm.value)
        }
    }

    func putErasures() throws {
        for record in batch.erasures {
            try db.run("DELETE FROM realms WHERE id = ?", record.realm.value)
            try db.run(
                """
                INSERT OR REPLACE INTO erasures (realm, app, partition, generation, version, next_ident, campaign, at,
                    found, reported, last_reported, swept, schema) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """, record.realm.value, record.name.app, record.name.partition, record.generation.stored,
                record.version.stored, record.nextIdent.stored, record.campaign, record.at.stored, record.found,
                record.reported, record.lastReported.stored, record.isSwept, Data(record.schema))
        }
        for realm in batch.erasureRemovals { try db.run("DELETE FROM erasures WHERE realm = ?", realm.value) }
        for record in batch.appErasures {
            try db.run("INSERT OR REPLACE INTO app_erasures (app, realms) VALUES (?, ?)", record.app, record.realms)
        }
        for app in batch.appRemovals {
            for table in ["app_generations", "reset_holds", "app_erasures", "user_usage", "termination_steps"] {
                try db.run("DELETE FROM \(table) WHERE app = ?", app)
            }
        }
    }

    func putRealms() throws {
        guard !batch.realms.isEmpty else { return }
        let statement = try db.cachedStatement(
            sql: """
                INSERT INTO realms (id, app, partition, generation, latest, latest_salt, salt, salt_epoch, history_base,
                    history_bytes, next_ident, schema, compatibility, lost_from, lost_to, imaged, indexed, told)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (id) DO UPDATE SET latest = excluded.latest,
                    latest_salt = excluded.latest_salt, salt = excluded.salt, salt_epoch = excluded.salt_epoch,
                    history_base = CASE WHEN generation = excluded.generation
                        THEN max(history_base, excluded.history_base) ELSE excluded.history_base END,
                    generation = excluded.generation, history_bytes = excluded.history_bytes,
                    next_ident = excluded.next_ident, schema = excluded.schema,
                    imaged = excluded.imaged, indexed = excluded.indexed, told = excluded.told
                """)
        for realm in batch.realms {
            try statement.execute(arguments: [
                realm.id.value, realm.name.app, realm.name.partition, realm.generation.stored,
                realm.latest.version.stored, realm.latest.salt.stored, realm.salt.stored, realm.saltEpoch.value.stored,
                realm.historyBase.stored, realm.historyBytes.stored, realm.nextIdent.stored, Data(realm.schema),
                realm.compatibility.rawValue, realm.lostIdents.lowerBound.stored, realm.lostIdents.upperBound.stored,
                Data(realm.imaged), Data(realm.indexed), Data(realm.told.encoded()),
            ])
        }
    }

    mutating func compact() throws {
        for (key, version) in batch.compactions {
            try trim(key, through: version)
            try db.run(
                "UPDATE realms SET history_base = max(history_base, ?) WHERE id = ? AND generation = ?", version.stored,
                key.realm.value, key.generation.stored)
        }
        for base in batch.bases {
            try db.run(
                """
                INSERT OR REPLACE INTO bases (realm, version, generation, entries, bytes, history_bytes, complete,
                    created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                """, base.realm.value, base.version.stored, base.generation.stored, base.entries.stored,
                base.bytes.stored,
                base.historyBytes.stored, base.isComplete, base.createdAt.stored)
        }
        for base in batch.baseRemovals {
            try db.run("DELETE FROM bases WHERE realm = ? AND version = ?", base.realm.value, base.version.stored)
        }
    }

    private mutating func trim(_ key: HistoryKey, through: ServerVersion) throws {
        try growth.remove(
            db, from: key.realm,
            "SELECT sum(length(changeset) + counted) FROM history WHERE realm = ? AND generation = ? AND version <= ?",
            key.realm.value, key.series, through.stored)
        try db.run(
            "DELETE FROM history WHERE realm = ? AND generation = ? AND version <= ?", key.realm.value, key.series,
            through.stored)
        try db.run(
            "DELETE FROM history_digests WHERE realm = ? AND generation = ? AND through <= ?", key.realm.value,
            key.series, through.stored)
    }

    mutating func putObjects() throws {
        let length = try RepeatedStatement(
            db, "SELECT length(body) FROM objects WHERE realm = ? AND table_id = ? AND key = ?")
        for (realm, tables) in batch.tableRemovals {
            let delete = try RepeatedStatement(db, "DELETE FROM objects WHERE realm = ? AND table_id = ?")
            delete.bind(1, realm.value)
            for table in tables {
                try growth.remove(
                    db, from: realm, "SELECT sum(length(body)) FROM objects WHERE realm = ? AND table_id = ?",
                    realm.value,
                    Int64(table))
                delete.bind(2, Int64(table))
                try delete.run()
                try db.run("DELETE FROM object_index WHERE realm = ? AND table_id = ?", realm.value, Int64(table))
            }
        }
        for (realm, rows) in batch.objectRemovals {
            let delete = try RepeatedStatement(db, "DELETE FROM objects WHERE realm = ? AND table_id = ? AND key = ?")
            delete.bind(1, realm.value)
            length.bind(1, realm.value)
            for row in rows {
                try growth.remove(row, from: realm, by: length)
                delete.bind(2, row)
                try delete.run()
            }
        }
        for (realm, bodies) in batch.objects {
            let put = try RepeatedStatement(
                db, "INSERT OR REPLACE INTO objects (realm, table_id, key, body) VALUES (?, ?, ?, ?)")
            put.bind(1, realm.value)
            length.bind(1, realm.value)
            for (row, body) in bodies {
                try growth.remove(row, from: realm, by: length)
                growth.add(body.count, to: realm)
                put.bind(2, row)
                put.bind(4, body)
                try put.run()
            }
        }
    }

    /// Entries go before others come: an object's value may be one that another object had.
    func putIndexEntries() throws {
        for (realm, entries) in batch.indexRemovals {
            let delete = try RepeatedStatement(
                db,
                "DELETE FROM object_index WHERE realm = ? AND table_id = ? AND column_id = ? AND value = ? AND key = ?")
            delete.bind(1, realm.value)
            for entry in entries {
                delete.bind(2, entry)
                try delete.run()
            }
        }
        for (realm, entries) in batch.indexEntries {
            let put = try RepeatedStatement(
                db, "INSERT OR IGNORE INTO object_index (realm, table_id, column_id, value, key) VALUES (?, ?, ?, ?, ?)"
            )
            put.bind(1, realm.value)
            for entry in entries {
                put.bind(2, entry)
                try put.run()
            }
        }
    }

    mutating func append() throws {
        guard !batch.history.isEmpty else { return }
        // No REPLACE: a version that exists already would be a second history.
        let statement = try RepeatedStatement(
            db,
            """
            INSERT INTO history (realm, generation, version, salt, origin, client_version, timestamp, cumulative,
                changeset, images, counted, event) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """)
        for (key, records) in batch.history {
            statement.bind(1, key.realm.value)
            statement.bind(2, key.series)
            for record in records {
                statement.bind(3, record.version)
                statement.bind(4, record.salt)
                statement.bind(5, record.entry.originFile)
                statement.bind(6, record.entry.clientVersion)
                statement.bind(7, record.entry.timestamp)
                statement.bind(8, record.cumulativeBytes)
                statement.bind(9, record.entry.changeset)
                statement.bind(10, record.images)
                statement.bind(11, Int64(record.images.count))
                statement.bind(12, record.event)
                try statement.run()
                growth.add(record.entry.changeset.count + record.images.count, to: key.realm)
            }
        }
    }

    func putDigests() throws {
        for digest in batch.historyDigests {
            // The one that it continues ends inside it.
            try db.run(
                "DELETE FROM history_digests WHERE realm = ? AND generation = ? AND through > ? AND through <= ?",
                digest.key.realm.value, digest.key.series, digest.after.stored, digest.through.stored)
            try db.run(
                "INSERT INTO history_digests (realm, generation, after, through, body) VALUES (?, ?, ?, ?, ?)",
                digest.key.realm.value, digest.key.series, digest.after.stored, digest.through.stored,
                Data(digest.body))
        }
    }
}
