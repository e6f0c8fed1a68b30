import GRDB
import Storage
import SyncModel

extension SQLiteSliceStore {
    func terminationSteps() async throws(StoreError) -> [TerminationSteps] {
        try await rows(
            """
            SELECT app, generation, campaign, last_realm, last_ident, marked, chunks, reported
            FROM termination_steps ORDER BY app
            """
        ) { row in
            let realm = (row[3] as Int64?).map { RealmID($0) }
            return TerminationSteps(
                app: row[0], generation: UInt64(stored: row[1]), campaign: row[2],
                last: realm.map { ClientFileKey(realm: $0, ident: .init(stored: row[4])) }, isMarked: row[5],
                chunks: row[6], reported: row[7])
        }
    }

    func mark(_ steps: TerminationSteps, limit: Int, epoch: Epoch) async throws(StoreError) -> TerminationSteps {
        let slice = slice
        return try await write { db in
            try Self.requireOwned(db, epoch: epoch, slice: slice)
            let after = try steps.mark(limit: limit, db)
            try after.save(db)
            return after
        }
    }
}

extension TerminationSteps {
    /// Marks the next client files of the termination.
    ///
    /// - Returns: how far it is then.
    func mark(limit: Int, _ db: Database) throws -> TerminationSteps {
        let keys = try Self.keys(after: last, of: app, limit: limit, db)
        for stretch in keys.byRealm {
            guard let first = stretch.first, let last = stretch.last else { continue }
            try db.cachedStatement(
                sql: """
                    UPDATE client_files SET state = 'resetRequired', campaign = ?
                    WHERE realm = ? AND ident >= ? AND ident <= ? AND generation < ?
                        AND state IN ('live', 'resetRequired')
                    """
            ).execute(arguments: [
                campaign, first.realm.value, first.ident.stored, last.ident.stored, generation.stored,
            ])
        }
        return marked(through: keys.last, isEnd: keys.count < limit)
    }

    /// The keys of an app's next client files in their order: the rest of the last one's realm, then realm by realm, so that a step
    /// does not depend on how many there are.
    private static func keys(
        after last: ClientFileKey?, of app: String, limit: Int, _ db: Database
    ) throws -> [ClientFileKey] {
        var keys: [ClientFileKey] = []
        if let last {
            keys = try Row.fetchAll(
                db.cachedStatement(
                    sql: """
                        SELECT realm, ident FROM client_files
                        WHERE realm = (SELECT id FROM realms WHERE id = ? AND app = ?) AND ident > ?
                        ORDER BY ident LIMIT ?
                        """), arguments: [last.realm.value, app, last.ident.stored, limit]
            ).map(ClientFileKey.init)
        }
        guard keys.count < limit else { return keys }
        // The order of the join is that of the realms' numbers.
        return try keys
            + Row.fetchAll(
                db.cachedStatement(
                    sql: """
                        SELECT f.realm, f.ident FROM realms r CROSS JOIN client_files f ON f.realm = r.id
                        WHERE r.app = ? AND r.id > ? ORDER BY r.id, f.ident LIMIT ?
                        """), arguments: [app, last?.realm.value ?? 0, limit - keys.count]
            ).map(ClientFileKey.init)
    }

    /// Stores how far the termination is.
    func save(_ db: Database) throws {
        try db.run(
            """
            INSERT OR REPLACE INTO termination_steps (app, generation, campaign, last_realm, last_ident, marked,
                chunks, reported) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """, app, generation.stored, campaign, last?.realm.value, last?.ident.stored, isMarked, chunks, reported)
    }
}

extension ClientFileKey {
    fileprivate init(row: Row) { self.init(realm: RealmID(row[0]), ident: .init(stored: row[1])) }
}

extension [ClientFileKey] {
    /// The stretches of one realm each.
    fileprivate var byRealm: [ArraySlice<ClientFileKey>] {
        var stretches: [ArraySlice<ClientFileKey>] = []
        var start = startIndex
        for index in indices where self[index].realm != self[start].realm {
            stretches.append(self[start..<index])
            start = index
        }
        if start < endIndex { stretches.append(self[start...]) }
        return stretches
    }
}
