import Changesets
import GRDB
import SQLiteStatements
import Storage
import SyncModel

// The columns in which the records of a slice stand, and how a row of them is read.

extension RealmRecord: FetchableRecord {
    static let columns = """
        id, app, partition, generation, latest, latest_salt, salt, salt_epoch, history_base, history_bytes, next_ident, \
        schema, compatibility, lost_from, lost_to, imaged, indexed, told
        """

    init(row: Row) throws {
        guard let compatibility = PeerCompatibility(rawValue: row[12]) else {
            throw StoreError(.corrupt, "a realm's compatibility is not known: \(row[12] as String)")
        }
        try self.init(
            id: RealmID(row[0]), name: RealmName(app: row[1], partition: row[2]), generation: UInt64(stored: row[3]),
            latest: SaltedServerVersion(version: .init(stored: row[4]), salt: .init(stored: row[5])),
            salt: .init(stored: row[6]), saltEpoch: Epoch(UInt64(stored: row[7])),
            historyBase: .init(stored: row[8]), historyBytes: UInt64(stored: row[9]),
            nextIdent: .init(stored: row[10]), schema: row.bytes(11), imaged: row.bytes(15), indexed: row.bytes(16),
            told: ToldChanges(decoding: row.bytes(17)),
            compatibility: compatibility,
            lostIdents: FileIdent(stored: row[13])..<max(FileIdent(stored: row[13]), FileIdent(stored: row[14])))
    }
}

extension ClientFileRecord: FetchableRecord {
    /// The columns of the table of client files, which a statement calls `f`.
    static let columns = """
        f.realm, f.ident, f.salt, f.user, f.generation, f.state, f.campaign, f.upload_client, f.upload_server, f.locked, \
        f.seen, f.created_at, f.last_seen, f.connection, f.protocol, f.user_agent, f.superseded_by, f.reset_of, f.start, \
        f.must_discard, f.views, f.ahead
        """

    init(row: Row) throws {
        let state: String = row[5]
        guard let state = ClientFileRecord.State(rawValue: state) else {
            throw StoreError(.corrupt, "client file state \"\(state)\" is unknown to this version")
        }
        self.init(
            realm: RealmID(row[0]), file: ClientFileIdent(ident: .init(stored: row[1]), salt: .init(stored: row[2])),
            user: row[3], generation: UInt64(stored: row[4]), state: state, campaign: row[6],
            mustDiscard: row[19],
            upload: UploadCursor(clientVersion: .init(stored: row[7]), serverVersion: .init(stored: row[8])),
            lockedServerVersion: .init(stored: row[9]), seenServerVersion: .init(stored: row[10]),
            historyStart: (row[18] as Int64?).map(ServerVersion.init(stored:)),
            createdAt: UInt64(stored: row[11]), lastSeen: UInt64(stored: row[12]), connection: row[13],
            protocolVersion: row[14], userAgent: row[15],
            supersededBy: (row[16] as Int64?).map(FileIdent.init(stored:)),
            resetOf: (row[17] as Int64?).map(FileIdent.init(stored:)), views: row.bytes(20),
            ahead: (row[21] as Int64?).map(SyncTimestamp.init(stored:)))
    }
}

extension ListedClientFile: FetchableRecord {
    /// The columns of the tables of client files and realms, which a statement calls `f` and `r`.
    static let columns = "\(ClientFileRecord.columns), r.app, r.partition"

    init(row: Row) throws {
        self.init(name: RealmName(app: row[22], partition: row[23]), record: try ClientFileRecord(row: row))
    }
}

extension HistoryRecord {
    static func columns(withChangeset: Bool) -> String {
        "version, salt, origin, client_version, timestamp, cumulative, "
            + (withChangeset ? "changeset, images" : "x'', x''") + ", event"
    }

    init(row: Row) {
        let entry = HistoryEntry(
            serverVersion: .init(stored: row[0]), clientVersion: .init(stored: row[3]),
            originFile: .init(stored: row[2]), timestamp: .init(stored: row[4]), changeset: row.bytes(6))
        self.init(
            entry, salt: .init(stored: row[1]), cumulativeBytes: UInt64(stored: row[5]), images: row.bytes(7),
            event: row[8])
    }

    init(_ columns: RepeatedStatement.Columns) {
        let entry = HistoryEntry(
            serverVersion: columns.number(0), clientVersion: columns.number(3), originFile: columns.number(2),
            timestamp: columns.number(4), changeset: columns.bytes(6))
        self.init(
            entry, salt: columns.number(1), cumulativeBytes: columns.number(5), images: columns.bytes(7),
            event: String(decoding: columns.bytes(8), as: UTF8.self))
    }
}

extension BaseRecord: FetchableRecord {
    static let columns = "realm, version, generation, entries, bytes, history_bytes, complete, created_at"

    init(row: Row) {
        self.init(
            realm: RealmID(row[0]), generation: UInt64(stored: row[2]), version: .init(stored: row[1]),
            entries: UInt64(stored: row[3]), bytes: UInt64(stored: row[4]), historyBytes: UInt64(stored: row[5]),
            isComplete: row[6], createdAt: UInt64(stored: row[7]))
    }
}

extension AppGenerationRecord: FetchableRecord {
    static let columns = "app, generation, campaign, at"

    init(row: Row) {
        self.init(app: row[0], generation: UInt64(stored: row[1]), campaign: row[2], at: UInt64(stored: row[3]))
    }
}

extension ResetCaseRecord: FetchableRecord {
    static let columns = "realm, ident_old, user, is_open, due_at, body"

    init(row: Row) {
        self.init(
            realm: RealmID(row[0]), identOld: .init(stored: row[1]), user: row[2], isOpen: row[3],
            dueAt: (row[4] as Int64?).map(UInt64.init(stored:)), body: row.bytes(5))
    }
}

extension SliceOwnership {
    static func current(_ db: Database) throws -> SliceOwnership? {
        try Row.fetchOne(
            db.cachedStatement(sql: "SELECT owner, epoch, lease_until, released FROM ownership WHERE id = 0")
        ).map { row in
            SliceOwnership(
                owner: row[0], epoch: Epoch(UInt64(stored: row[1])), leaseUntil: UInt64(stored: row[2]),
                isReleased: row[3])
        }
    }
}

// MARK: - Reading

extension Row {
    /// A blob column's bytes, copied once.
    func bytes(_ column: Int) -> [UInt8] {
        (try? withUnsafeData(atIndex: column) { $0.map(Array.init) ?? [] }) ?? []
    }
}

extension RowCursor {
    /// The next rows, at least one if there is one, until `maxBytes` are reached.
    ///
    /// - Parameter read: what the row holds, and the bytes of its content.
    func page<Value>(maxBytes: Int, _ read: (Row) throws -> (value: Value, bytes: Int)) throws -> [Value] {
        var page: [Value] = []
        var bytes = 0
        while bytes < maxBytes || page.isEmpty, let row = try next() {
            let found = try read(row)
            bytes += found.bytes + HistoryQuery.overhead
            page.append(found.value)
        }
        return page
    }
}
