import Foundation
import GRDB
import SQLiteStatements
import Storage
import SyncModel

/// Client files, and what is kept for each of them.
extension SQLiteCommit {
    mutating func putClientFiles() throws {
        guard !batch.clientFiles.isEmpty else { return }
        let statement = try db.cachedStatement(
            sql: """
                INSERT INTO client_files (realm, ident, salt, user, generation, state, campaign,
                    upload_client, upload_server, locked, seen, created_at, last_seen, connection, protocol, user_agent,
                    superseded_by, reset_of, start, must_discard, views, ahead, counted)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (realm, ident) DO UPDATE SET salt = excluded.salt, user = excluded.user,
                    generation = excluded.generation, state = excluded.state, campaign = excluded.campaign,
                    upload_client = excluded.upload_client, upload_server = excluded.upload_server,
                    locked = excluded.locked, seen = excluded.seen, created_at = excluded.created_at,
                    last_seen = excluded.last_seen, connection = excluded.connection, protocol = excluded.protocol,
                    user_agent = excluded.user_agent, superseded_by = excluded.superseded_by,
                    reset_of = excluded.reset_of, start = excluded.start, must_discard = excluded.must_discard,
                    views = excluded.views, ahead = excluded.ahead, counted = excluded.counted
                """)
        for file in batch.clientFiles {
            // Only those of flexible realms have views.
            if !file.views.isEmpty {
                try uncount(file.key)
                growth.add(file.views.count, to: file.realm)
            }
            try statement.execute(arguments: [
                file.realm.value, file.ident.stored, file.file.salt.stored, file.user, file.generation.stored,
                file.state.rawValue, file.campaign, file.upload.clientVersion.stored, file.upload.serverVersion.stored,
                file.lockedServerVersion.stored, file.seenServerVersion.stored, file.createdAt.stored,
                file.lastSeen.stored, file.connection, file.protocolVersion, file.userAgent,
                file.supersededBy?.stored, file.resetOf?.stored, file.historyStart?.stored,
                file.mustDiscard, Data(file.views), file.ahead?.stored, file.views.count,
            ])
        }
    }

    /// Takes away what a client file's row has counted so far.
    private mutating func uncount(_ key: ClientFileKey) throws {
        try growth.remove(
            db, from: key.realm, "SELECT counted FROM client_files WHERE realm = ? AND ident = ?", key.realm.value,
            key.ident.stored)
    }

    mutating func removeClientFiles() throws {
        for key in batch.clientFileRemovals {
            try uncount(key)
            let arguments: StatementArguments = [key.realm.value, key.ident.stored]
            for (table, column) in [("client_files", "ident"), ("reciprocals", "ident"), ("reset_cases", "ident_old")] {
                try db.cachedStatement(sql: "DELETE FROM \(table) WHERE realm = ? AND \(column) = ?")
                    .execute(arguments: arguments)
            }
        }
    }

    func putReciprocals() throws {
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

    func putResetCases() throws {
        for record in batch.resetCases {
            try db.run(
                """
                INSERT OR REPLACE INTO reset_cases (realm, ident_old, user, is_open, due_at, body)
                VALUES (?, ?, ?, ?, ?, ?)
                """, record.realm.value, record.identOld.stored, record.user, record.isOpen, record.dueAt?.stored,
                Data(record.body))
        }
    }

    func putResetHolds() throws {
        for hold in batch.resetHolds.values {
            try db.run(
                """
                INSERT OR REPLACE INTO reset_holds (app, held_since, asked, client_files, allowed_until)
                VALUES (?, ?, ?, ?, ?)
                """, hold.app, hold.heldSince?.stored, hold.asked, hold.clientFiles, hold.allowedUntil?.stored)
        }
    }
}
