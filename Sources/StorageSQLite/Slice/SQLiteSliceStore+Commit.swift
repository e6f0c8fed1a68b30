import Changesets
import Foundation
import GRDB
import Storage
import SyncModel

extension SQLiteSliceStore {
    func commit(_ batch: SliceBatch, epoch: Epoch) async throws(StoreError) {
        let slice = slice
        try await write { db in
            try Self.requireOwned(db, epoch: epoch, slice: slice)
            var growth = RealmGrowth()
            try Self.terminate(batch, db)
            try Self.putReasons(batch.reasons, db)
            try Self.remove(batch, &growth, db)
            try Self.putErasures(batch, db)
            try Self.putRealms(batch.realms, db)
            try Self.compact(batch, &growth, db)
            try Self.putObjects(batch, &growth, db)
            try Self.append(batch.history, &growth, db)
            try Self.putDigests(batch.historyDigests, db)
            try Self.putClientFiles(batch.clientFiles, db)
            try Self.removeClientFiles(batch.clientFileRemovals, db)
            try Self.putReciprocals(batch, db)
            try Self.putResetCases(batch.resetCases, db)
            try Self.putResetHolds(batch.resetHolds, db)
            try growth.save(db)
            try Self.dropUsage(of: batch.usageRemovals, db)
            for (user, amounts) in batch.usage {
                let usage = try UserUsage.of(user, db) ?? UserUsage(at: batch.usageAt)
                try usage.adding(amounts, at: batch.usageAt).save(of: user, db)
            }
            try Self.remember(batch.seenMessages, db)
            try Self.putOutbox(batch, db)
            try Self.dropReasons(but: batch.reasons, db)
        }
    }

    private static func terminate(_ batch: SliceBatch, _ db: Database) throws {
        let inSteps = Set(batch.terminationSteps.map(\.campaign))
        for record in batch.terminations {
            try db.run(
                "INSERT OR IGNORE INTO app_generations (app, generation, campaign, at) VALUES (?, ?, ?, ?)", record.app,
                record.generation.stored, record.campaign, record.at.stored)
            guard let campaign = record.campaign, !inSteps.contains(campaign) else { continue }
            let all = TerminationSteps(app: record.app, generation: record.generation, campaign: campaign)
            _ = try mark(all, limit: .max, db)
        }
        try putTerminationSteps(batch, db)
    }

    private static func putReasons(_ reasons: [String: String], _ db: Database) throws {
        for (campaign, reason) in reasons {
            try db.run("INSERT OR IGNORE INTO campaign_reasons (campaign, reason) VALUES (?, ?)", campaign, reason)
        }
    }

    /// Drops the reasons of campaigns that are over, now that there are new reasons.
    private static func dropReasons(but new: [String: String], _ db: Database) throws {
        guard !new.isEmpty else { return }
        let campaigns = try String.fetchAll(
            db,
            sql: """
                SELECT campaign FROM campaign_reasons AS reasons
                WHERE NOT EXISTS (SELECT 1 FROM client_files
                        WHERE client_files.campaign = reasons.campaign AND state = 'resetRequired')
                    AND NOT EXISTS (SELECT 1 FROM erasures WHERE erasures.campaign = reasons.campaign)
                    AND NOT EXISTS (SELECT 1 FROM app_generations AS latest
                        WHERE latest.campaign = reasons.campaign AND generation =
                            (SELECT max(generation) FROM app_generations WHERE app = latest.app))
                """)
        for campaign in campaigns where new[campaign] == nil {
            try db.run("DELETE FROM campaign_reasons WHERE campaign = ?", campaign)
        }
    }

    private static func remove(_ batch: SliceBatch, _ growth: inout RealmGrowth, _ db: Database) throws {
        for (key, version) in batch.historyTrims { try trim(key, through: version, &growth, db) }
        for realm in batch.reciprocalResets {
            try db.run("DELETE FROM reciprocals WHERE realm = ?", realm.value)
        }
    }

    private static func putRealms(_ realms: [RealmRecord], _ db: Database) throws {
        guard !realms.isEmpty else { return }
        let statement = try db.cachedStatement(
            sql: """
                INSERT INTO realms (id, app, partition, generation, latest, latest_salt, salt, salt_epoch, history_base,
                    history_bytes, next_ident, schema, compatibility, lost_from, lost_to, imaged)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (id) DO UPDATE SET latest = excluded.latest,
                    latest_salt = excluded.latest_salt, salt = excluded.salt, salt_epoch = excluded.salt_epoch,
                    history_base = CASE WHEN generation = excluded.generation
                        THEN max(history_base, excluded.history_base) ELSE excluded.history_base END,
                    generation = excluded.generation, history_bytes = excluded.history_bytes,
                    next_ident = excluded.next_ident, schema = excluded.schema,
                    imaged = excluded.imaged
                """)
        for realm in realms {
            try statement.execute(arguments: [
                realm.id.value, realm.name.app, realm.name.partition, realm.generation.stored,
                realm.latest.version.stored, realm.latest.salt.stored, realm.salt.stored, realm.saltEpoch.value.stored,
                realm.historyBase.stored, realm.historyBytes.stored, realm.nextIdent.stored, Data(realm.schema),
                realm.compatibility.rawValue, realm.lostIdents.lowerBound.stored, realm.lostIdents.upperBound.stored,
                Data(realm.imaged),
            ])
        }
    }

    private static func compact(_ batch: SliceBatch, _ growth: inout RealmGrowth, _ db: Database) throws {
        for (key, version) in batch.compactions {
            try trim(key, through: version, &growth, db)
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

    private static func trim(
        _ key: HistoryKey, through: ServerVersion, _ growth: inout RealmGrowth, _ db: Database
    ) throws {
        try growth.remove(
            db, from: key.realm,
            "SELECT sum(length(changeset)) FROM history WHERE realm = ? AND generation = ? AND version <= ?",
            key.realm.value, key.series, through.stored)
        try db.run(
            "DELETE FROM history WHERE realm = ? AND generation = ? AND version <= ?", key.realm.value, key.series,
            through.stored)
        try db.run(
            "DELETE FROM history_digests WHERE realm = ? AND generation = ? AND through <= ?", key.realm.value,
            key.series, through.stored)
    }

    private static func putObjects(_ batch: SliceBatch, _ growth: inout RealmGrowth, _ db: Database) throws {
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

    private static func append(
        _ history: [HistoryKey: [HistoryRecord]], _ growth: inout RealmGrowth, _ db: Database
    ) throws {
        guard !history.isEmpty else { return }
        // No REPLACE: a version that exists already would be a second history.
        let statement = try RepeatedStatement(
            db,
            """
            INSERT INTO history (realm, generation, version, salt, origin, client_version, timestamp, cumulative,
                changeset, images) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """)
        for (key, records) in history {
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
                try statement.run()
                growth.add(record.entry.changeset.count, to: key.realm)
            }
        }
    }

    private static func putDigests(_ digests: [HistoryDigest], _ db: Database) throws {
        for digest in digests {
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

    private static func putClientFiles(_ files: [ClientFileRecord], _ db: Database) throws {
        guard !files.isEmpty else { return }
        let statement = try db.cachedStatement(
            sql: """
                INSERT INTO client_files (realm, ident, salt, user, generation, state, campaign,
                    upload_client, upload_server, locked, seen, created_at, last_seen, connection, protocol, user_agent,
                    superseded_by, reset_of, start, must_discard, views)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (realm, ident) DO UPDATE SET salt = excluded.salt, user = excluded.user,
                    generation = excluded.generation, state = excluded.state, campaign = excluded.campaign,
                    upload_client = excluded.upload_client, upload_server = excluded.upload_server,
                    locked = excluded.locked, seen = excluded.seen, created_at = excluded.created_at,
                    last_seen = excluded.last_seen, connection = excluded.connection, protocol = excluded.protocol,
                    user_agent = excluded.user_agent, superseded_by = excluded.superseded_by,
                    reset_of = excluded.reset_of, start = excluded.start, must_discard = excluded.must_discard,
                    views = excluded.views
                """)
        for file in files {
            try statement.execute(arguments: [
                file.realm.value, file.ident.stored, file.file.salt.stored, file.user, file.generation.stored,
                file.state.rawValue, file.campaign, file.upload.clientVersion.stored, file.upload.serverVersion.stored,
                file.lockedServerVersion.stored, file.seenServerVersion.stored, file.createdAt.stored,
                file.lastSeen.stored, file.connection, file.protocolVersion, file.userAgent,
                file.supersededBy?.stored, file.resetOf?.stored, file.historyStart?.stored,
                file.mustDiscard, Data(file.views),
            ])
        }
    }

    private static func putReciprocals(_ batch: SliceBatch, _ db: Database) throws {
        for (owner, changesets) in batch.reciprocals {
            let put = try RepeatedStatement(
                db, "INSERT OR REPLACE INTO reciprocals (realm, ident, version, changeset) VALUES (?, ?, ?, ?)")
            put.bind(1, owner.realm.value)
            put.bind(2, owner.ident)
            for (version, changeset) in changesets {
                put.bind(3, version)
                put.bind(4, changeset)
                try put.run()
            }
        }
        for (owner, version) in batch.reciprocalTrims {
            try db.run(
                "DELETE FROM reciprocals WHERE realm = ? AND ident = ? AND version <= ?", owner.realm.value,
                owner.ident.stored, version.stored)
        }
    }

    private static func putResetCases(_ cases: [ResetCaseRecord], _ db: Database) throws {
        for record in cases {
            try db.run(
                """
                INSERT OR REPLACE INTO reset_cases (realm, ident_old, user, is_open, due_at, body)
                VALUES (?, ?, ?, ?, ?, ?)
                """, record.realm.value, record.identOld.stored, record.user, record.isOpen, record.dueAt?.stored,
                Data(record.body))
        }
    }

    private static func putResetHolds(_ holds: [String: ResetHoldRecord], _ db: Database) throws {
        for hold in holds.values {
            try db.run(
                """
                INSERT OR REPLACE INTO reset_holds (app, held_since, asked, client_files, allowed_until)
                VALUES (?, ?, ?, ?, ?)
                """, hold.app, hold.heldSince?.stored, hold.asked, hold.clientFiles, hold.allowedUntil?.stored)
        }
    }

    private static func remember(_ ids: [String], _ db: Database) throws {
        guard !ids.isEmpty else { return }
        for id in ids {
            try db.run("INSERT OR IGNORE INTO seen_messages (id) VALUES (?)", id)
        }
        try db.run(
            "DELETE FROM seen_messages WHERE number <= (SELECT max(number) FROM seen_messages) - ?",
            SliceBatch.rememberedMessages)
    }

    private static func putOutbox(_ batch: SliceBatch, _ db: Database) throws {
        for record in batch.outbox {
            try db.run("INSERT OR IGNORE INTO outbox (id, body) VALUES (?, ?)", record.id, Data(record.body))
        }
        for id in batch.outboxRemovals {
            try db.run("DELETE FROM outbox WHERE id = ?", id)
        }
    }
}
