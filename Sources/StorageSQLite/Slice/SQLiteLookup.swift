import GRDB
import SQLiteStatements
import Storage
import SyncModel

extension SliceFindings {
    init(_ lookup: SliceLookup, _ db: Database) throws {
        self.init()
        if !lookup.realms.isEmpty { try find(lookup.realms, db) }
        for app in lookup.appGenerations { appGenerations[app] = try Self.latestGeneration(of: app, db) }
        for key in lookup.clientFiles { clientFiles[key] = try Self.clientFile(key, db) }
        for key in lookup.resetCases { resetCases[key] = try Self.resetCase(key, db) }
        for user in lookup.users { users[user] = try Self.resets(of: user, db) }
        for realm in lookup.bases { bases[realm] = try Self.bases(of: realm, db) }
        for (realm, rows) in lookup.objects { objects[realm] = try Self.objects(in: realm, at: rows, db) }
        history = try lookup.history.map { try Self.history($0, db) }
        digests = try lookup.digests.map { try Self.digests($0, db) }
        reciprocals = try lookup.reciprocals.map { try Self.reciprocals($0, db) }
        for id in lookup.messages {
            let statement = try db.cachedStatement(sql: "SELECT 1 FROM seen_messages WHERE id = ?")
            if try Row.fetchOne(statement, arguments: [id]) != nil { messages.insert(id) }
        }
        for campaign in lookup.reasons {
            let statement = try db.cachedStatement(sql: "SELECT reason FROM campaign_reasons WHERE campaign = ?")
            reasons[campaign] = try String.fetchOne(statement, arguments: [campaign])
        }
        for app in lookup.appUsage { appUsage[app] = try AppUsage.of(app, db) }
        for user in lookup.userUsage { userUsage[user] = try UserUsage.of(user, db) }
    }

    private mutating func find(_ names: Set<RealmName>, _ db: Database) throws {
        let statement = try db.cachedStatement(
            sql: "SELECT \(RealmRecord.columns) FROM realms WHERE app = ? AND partition = ?")
        for name in names {
            realms[name] = try RealmRecord.fetchOne(statement, arguments: [name.app, name.partition])
        }
    }

    private static func latestGeneration(of app: String, _ db: Database) throws -> AppGenerationRecord? {
        let statement = try db.cachedStatement(
            sql: """
                SELECT \(AppGenerationRecord.columns) FROM app_generations
                WHERE app = ? ORDER BY generation DESC LIMIT 1
                """)
        return try AppGenerationRecord.fetchOne(statement, arguments: [app])
    }

    private static func clientFile(_ key: ClientFileKey, _ db: Database) throws -> ClientFileRecord? {
        let statement = try db.cachedStatement(
            sql: "SELECT \(ClientFileRecord.columns) FROM client_files f WHERE f.realm = ? AND f.ident = ?")
        return try ClientFileRecord.fetchOne(statement, arguments: [key.realm.value, key.ident.stored])
    }

    private static func resetCase(_ key: ClientFileKey, _ db: Database) throws -> ResetCaseRecord? {
        let statement = try db.cachedStatement(
            sql: "SELECT \(ResetCaseRecord.columns) FROM reset_cases WHERE realm = ? AND ident_old = ?")
        return try ResetCaseRecord.fetchOne(statement, arguments: [key.realm.value, key.ident.stored])
    }

    private static func resets(of user: RealmUser, _ db: Database) throws -> UserResets {
        var found = UserResets()
        // Without statistics SQLite would rather go through all cases of a realm, and all client files in a state.
        found.openCases = try ResetCaseRecord.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT \(ResetCaseRecord.columns) FROM reset_cases INDEXED BY reset_cases_by_user
                    WHERE realm = ? AND user = ? AND is_open ORDER BY ident_old DESC LIMIT ?
                    """),
            arguments: [user.realm.value, user.user, UserResets.limit])
        found.waiting = try ClientFileRecord.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT \(ClientFileRecord.columns) FROM client_files f INDEXED BY client_files_by_user
                    WHERE f.realm = ? AND f.user = ? AND f.state IN ('resetRequired', 'live')
                        AND (f.state = 'resetRequired' OR f.generation < (
                            SELECT max(g.generation) FROM app_generations g JOIN realms r ON r.app = g.app
                            WHERE r.id = ? AND g.campaign IS NOT NULL))
                    ORDER BY f.last_seen DESC, f.ident DESC LIMIT ?
                    """),
            arguments: [user.realm.value, user.user, user.realm.value, UserResets.limit])
        return found
    }

    private static func bases(of realm: RealmID, _ db: Database) throws -> [BaseRecord] {
        try BaseRecord.fetchAll(
            db.cachedStatement(sql: "SELECT \(BaseRecord.columns) FROM bases WHERE realm = ? ORDER BY version"),
            arguments: [realm.value])
    }

    private static func objects(
        in realm: RealmID, at rows: [ObjectRow], _ db: Database
    ) throws -> [ObjectRow: [UInt8]] {
        let statement = try RepeatedStatement(
            db, "SELECT body FROM objects WHERE realm = ? AND table_id = ? AND key = ?")
        statement.bind(1, realm.value)
        var found: [ObjectRow: [UInt8]] = [:]
        for wanted in rows {
            statement.bind(2, wanted)
            if let body = try statement.first({ $0.bytes(0) }) { found[wanted] = body }
        }
        return found
    }
}

// MARK: - Histories

extension SliceFindings {
    private static func history(_ query: HistoryQuery, _ db: Database) throws -> [HistoryRecord] {
        let columns = HistoryRecord.columns(withChangeset: !query.omitsChangesets)
        switch query.versions {
        case .range(let after, let through):
            let rows = try Row.fetchCursor(
                db.cachedStatement(
                    sql: """
                        SELECT \(columns) FROM history
                        WHERE realm = ? AND generation = ? AND version > ? AND version <= ? ORDER BY version
                        """),
                arguments: [query.key.realm.value, query.key.series, after.stored, through.stored])
            return try rows.page(maxBytes: query.maxBytes) { row in
                let record = HistoryRecord(row: row)
                return (record, record.entry.changeset.count)
            }
        case .these(let versions):
            let statement = try RepeatedStatement(
                db, "SELECT \(columns) FROM history WHERE realm = ? AND generation = ? AND version = ?")
            statement.bind(1, query.key.realm.value)
            statement.bind(2, query.key.series)
            var records: [HistoryRecord] = []
            var bytes = 0
            for version in versions {
                guard bytes < query.maxBytes || records.isEmpty else { break }
                statement.bind(3, version)
                guard let record = try statement.first(HistoryRecord.init) else { continue }
                bytes += record.entry.changeset.count + HistoryQuery.overhead
                records.append(record)
            }
            return records
        }
    }

    private static func digests(_ query: DigestQuery, _ db: Database) throws -> [HistoryDigest] {
        let rows = try Row.fetchCursor(
            db.cachedStatement(
                sql: """
                    SELECT after, through, body FROM history_digests
                    WHERE realm = ? AND generation = ? AND through > ? ORDER BY through
                    """),
            arguments: [query.key.realm.value, query.key.series, query.after.stored])
        return try rows.page(maxBytes: query.maxBytes) { row in
            let digest = HistoryDigest(
                key: query.key, after: .init(stored: row[0]), through: .init(stored: row[1]), body: row.bytes(2))
            return (digest, digest.body.count)
        }
    }

    private static func reciprocals(_ query: ReciprocalQuery, _ db: Database) throws -> [ServerVersion: [UInt8]]? {
        var found: [ServerVersion: [UInt8]] = [:]
        switch query.versions {
        case .after(let version, let maxBytes):
            let rows = try Row.fetchCursor(
                db.cachedStatement(
                    sql: "SELECT version, changeset FROM reciprocals WHERE realm = ? AND ident = ? AND version > ?"),
                arguments: [query.owner.realm.value, query.owner.ident.stored, version.stored])
            var bytes = 0
            while let row = try rows.next() {
                let changeset = row.bytes(1)
                bytes += changeset.count + HistoryQuery.overhead
                guard bytes <= maxBytes else { return nil }
                found[ServerVersion(stored: row[0])] = changeset
            }
        case .these(let versions):
            let statement = try RepeatedStatement(
                db, "SELECT changeset FROM reciprocals WHERE realm = ? AND ident = ? AND version = ?")
            statement.bind(1, query.owner.realm.value)
            statement.bind(2, query.owner.ident)
            for version in versions {
                statement.bind(3, version)
                if let changeset = try statement.first({ $0.bytes(0) }) { found[version] = changeset }
            }
        }
        return found
    }
}
