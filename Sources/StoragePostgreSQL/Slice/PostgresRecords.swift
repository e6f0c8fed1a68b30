import Changesets
import PostgreSQL
import Storage
import SyncModel

// The columns in which the records of a slice stand, and how a row of them is read. The first column may be another: `at` is that
// of the record's first.

extension RealmRecord {
    static let columns = """
        r.id, r.app, r.partition, r.generation, r.latest, r.latest_salt, r.salt, r.salt_epoch, r.history_base, \
        r.history_bytes, r.next_ident, r.schema, r.compatibility, r.lost_from, r.lost_to, \
        r.imaged, r.indexed, r.told
        """
    static let columnCount = 18

    init(_ row: PostgresRow) throws(StoreError) {
        guard let compatibility = PeerCompatibility(rawValue: row.text(12)) else {
            throw StoreError(.corrupt, "a realm's compatibility is not known: \(row.text(12))")
        }
        let lost: FileIdent = row.number(13)
        try self.init(
            id: RealmID(row.int(0)), name: RealmName(app: row.string(1), partition: row.string(2)),
            generation: row.number(3), latest: SaltedServerVersion(version: row.number(4), salt: row.number(5)),
            salt: row.number(6), saltEpoch: Epoch(row.number(7)), historyBase: row.number(8),
            historyBytes: row.number(9), nextIdent: row.number(10), schema: row.bytes(11), imaged: row.bytes(15),
            indexed: row.bytes(16), told: ToldChanges(decoding: row.bytes(17)),
            compatibility: compatibility,
            lostIdents: lost..<max(lost, row.number(14)))
    }
}

extension ClientFileRecord {
    static let columns = """
        f.realm, f.ident, f.salt, f."user", f.generation, f.state, f.campaign, f.upload_client, f.upload_server, f.locked, \
        f.seen, f.created_at, f.last_seen, f.connection, f.protocol, f.user_agent, f.superseded_by, f.reset_of, f.start, \
        f.must_discard, f.views, f.ahead
        """
    static let columnCount = 22

    init(_ row: PostgresRow, at first: Int = 0) throws(StoreError) {
        guard let state = State(rawValue: row.text(first + 5)) else {
            throw StoreError(.corrupt, "client file state \"\(row.text(first + 5))\" is unknown to this version")
        }
        self.init(
            realm: RealmID(row.int(first)),
            file: ClientFileIdent(ident: row.number(first + 1), salt: row.number(first + 2)),
            user: row.string(first + 3), generation: row.number(first + 4), state: state,
            campaign: row.optionalString(first + 6), mustDiscard: row.bool(first + 19),
            upload: UploadCursor(clientVersion: row.number(first + 7), serverVersion: row.number(first + 8)),
            lockedServerVersion: row.number(first + 9), seenServerVersion: row.number(first + 10),
            historyStart: row.optionalNumber(first + 18), createdAt: row.number(first + 11),
            lastSeen: row.number(first + 12), connection: row.string(first + 13),
            protocolVersion: Int(row.int(first + 14)), userAgent: row.string(first + 15),
            supersededBy: row.optionalNumber(first + 16), resetOf: row.optionalNumber(first + 17),
            views: row.bytes(first + 20), ahead: row.optionalNumber(first + 21))
    }
}

extension ListedClientFile {
    /// Reads a row that has the realm's app and partition after the client file's columns.
    init(_ row: PostgresRow) throws(StoreError) {
        let count = ClientFileRecord.columnCount
        self.init(
            name: RealmName(app: row.string(count), partition: row.string(count + 1)), record: try ClientFileRecord(row)
        )
    }
}

extension HistoryRecord {
    /// Reads a row that has the changeset last.
    init(_ row: PostgresRow, at first: Int) {
        let entry = HistoryEntry(
            serverVersion: row.number(first), clientVersion: row.number(first + 3), originFile: row.number(first + 2),
            timestamp: row.number(first + 4), changeset: row.bytes(first + 8))
        self.init(
            entry, salt: row.number(first + 1), cumulativeBytes: row.number(first + 5), images: row.bytes(first + 6),
            event: row.string(first + 7))
    }
}

extension BaseRecord {
    static let columns =
        "b.realm, b.version, b.generation, b.entries, b.bytes, b.history_bytes, b.complete, b.created_at"

    init(_ row: PostgresRow) {
        self.init(
            realm: RealmID(row.int(0)), generation: row.number(2), version: row.number(1), entries: row.number(3),
            bytes: row.number(4), historyBytes: row.number(5), isComplete: row.bool(6), createdAt: row.number(7))
    }
}

extension AppGenerationRecord {
    static let columns = "g.app, g.generation, g.campaign, g.at"

    init(_ row: PostgresRow) {
        self.init(app: row.string(0), generation: row.number(1), campaign: row.optionalString(2), at: row.number(3))
    }
}

extension ResetCaseRecord {
    static let columns = "c.realm, c.ident_old, c.\"user\", c.is_open, c.due_at, c.body"

    init(_ row: PostgresRow, at first: Int = 0) {
        self.init(
            realm: RealmID(row.int(first)), identOld: row.number(first + 1), user: row.string(first + 2),
            isOpen: row.bool(first + 3), dueAt: row.optionalNumber(first + 4), body: row.bytes(first + 5))
    }
}

extension ErasureRecord {
    static let columns = """
        e.realm, e.app, e.partition, e.generation, e.version, e.next_ident, e.campaign, e.at, e.found, e.reported, \
        e.last_reported, e.swept, e.schema
        """

    init(_ row: PostgresRow) {
        self.init(
            realm: RealmID(row.int(0)), name: RealmName(app: row.string(1), partition: row.string(2)),
            generation: row.number(3), version: row.number(4), schema: row.bytes(12), nextIdent: row.number(5),
            campaign: row.optionalString(6), at: row.number(7), found: Int(row.int(8)), reported: Int(row.int(9)),
            lastReported: row.number(10), isSwept: row.bool(11))
    }
}
