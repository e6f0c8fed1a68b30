import GRDB
import Messages
package import Storage

extension SQLiteSliceStore {
    private static let columns = """
        f.realm, f.ident, f.salt, f.user, f.generation, f.state, f.campaign, f.upload_client, f.upload_server, f.locked, \
        f.seen, f.created_at, f.last_seen, f.connection, f.protocol, f.user_agent, f.superseded_by, f.reset_of, f.start
        """

    private static func clientFile(_ row: Row) throws -> ClientFileRecord {
        let state: String = row[5]
        guard let state = ClientFileRecord.State(rawValue: state) else {
            throw StoreError(.corrupt, "client file state \"\(state)\" is unknown to this version")
        }
        return ClientFileRecord(
            realm: RealmID(row[0]), file: ClientFile(ident: UInt64(stored: row[1]), salt: UInt64(stored: row[2])),
            user: row[3], generation: UInt64(stored: row[4]), state: state, campaign: row[6],
            upload: UploadCursor(clientVersion: UInt64(stored: row[7]), serverVersion: UInt64(stored: row[8])),
            lockedServerVersion: UInt64(stored: row[9]), seenServerVersion: UInt64(stored: row[10]),
            historyStart: (row[18] as Int64?).map(UInt64.init(stored:)),
            createdAt: UInt64(stored: row[11]), lastSeen: UInt64(stored: row[12]), connection: row[13],
            protocolVersion: row[14], userAgent: row[15], supersededBy: (row[16] as Int64?).map(UInt64.init(stored:)),
            resetOf: (row[17] as Int64?).map(UInt64.init(stored:)))
    }

    package func clientFile(_ key: ClientFileKey) async throws(StoreError) -> ClientFileRecord? {
        try await read { db in
            try Row.fetchOne(
                db.cachedStatement(
                    sql: "SELECT \(Self.columns) FROM client_files f WHERE f.realm = ? AND f.ident = ?"),
                arguments: [key.realm.value, key.ident.stored]
            ).map(Self.clientFile)
        }
    }

    package func clientFilesToReset(
        in realm: RealmID, user: String, limit: Int
    ) async throws(StoreError) -> [ClientFileRecord] {
        try await read { db in
            try Row.fetchAll(
                db.cachedStatement(
                    sql: """
                        SELECT \(Self.columns) FROM client_files f
                        WHERE f.realm = ? AND f.user = ? AND f.state = 'resetRequired'
                        ORDER BY f.last_seen DESC, f.ident DESC LIMIT ?
                        """),
                arguments: [realm.value, user, limit]
            ).map(Self.clientFile)
        }
    }

    package func liveClientFiles(
        in realm: RealmID, after ident: UInt64, limit: Int
    ) async throws(StoreError) -> [ClientFileRecord] {
        try await read { db in
            try Row.fetchAll(
                db.cachedStatement(
                    sql: """
                        SELECT \(Self.columns) FROM client_files f
                        WHERE f.realm = ? AND f.ident > ? AND f.state = 'live' ORDER BY f.ident LIMIT ?
                        """),
                arguments: [realm.value, ident.stored, limit]
            ).map(Self.clientFile)
        }
    }

    package func clientFiles(
        in realm: RealmID, after ident: UInt64, limit: Int
    ) async throws(StoreError) -> [ClientFileRecord] {
        try await read { db in
            try Row.fetchAll(
                db.cachedStatement(
                    sql:
                        "SELECT \(Self.columns) FROM client_files f WHERE f.realm = ? AND f.ident > ? ORDER BY f.ident LIMIT ?"
                ),
                arguments: [realm.value, ident.stored, limit]
            ).map(Self.clientFile)
        }
    }

    package func idleClientFiles(
        app: String, seenBefore: UInt64, limit: Int
    ) async throws(StoreError) -> [ClientFileRecord] {
        try await read { db in
            try Row.fetchAll(
                db.cachedStatement(
                    sql: """
                        SELECT \(Self.columns) FROM client_files f JOIN realms r ON r.id = f.realm
                        WHERE f.state = 'live' AND f.last_seen < ? AND r.app = ? ORDER BY f.last_seen LIMIT ?
                        """),
                arguments: [seenBefore.stored, app, limit]
            ).map(Self.clientFile)
        }
    }

    package func clientFiles(
        campaign: String, after: ClientFileKey?, limit: Int
    ) async throws(StoreError) -> [ListedClientFile] {
        try await read { db in
            try Row.fetchAll(
                db.cachedStatement(
                    sql: """
                        SELECT \(Self.columns), r.app, r.partition FROM client_files f JOIN realms r ON r.id = f.realm
                        WHERE f.campaign = ? AND (f.realm, f.ident) > (?, ?) ORDER BY f.realm, f.ident LIMIT ?
                        """),
                arguments: [campaign, after?.realm.value ?? 0, after?.ident.stored ?? 0, limit]
            ).map { row in
                ListedClientFile(
                    name: RealmName(app: row[19], partition: row[20]), record: try Self.clientFile(row))
            }
        }
    }

    package func countClientFiles(campaign: String) async throws(StoreError) -> Int {
        try await read { db in
            try Int.fetchOne(
                db, sql: "SELECT count(*) FROM client_files WHERE campaign = ?", arguments: [campaign]) ?? 0
        }
    }
}
