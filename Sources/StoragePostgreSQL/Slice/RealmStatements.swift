import Changesets
import PostgreSQL
import Storage
import SyncModel

/// The part of a commit about the headings of realms.
enum RealmStatements {
    /// One heading for each realm: what they come to, one after another.
    private static func headings(_ records: [RealmRecord]) -> [RealmRecord] {
        var places: [RealmID: Int] = [:]
        var headings: [RealmRecord] = []
        for record in records {
            guard let place = places[record.id] else {
                places[record.id] = headings.count
                headings.append(record)
                continue
            }
            headings[place].follow(record)
        }
        return headings
    }

    static func put(_ records: [RealmRecord], _ statements: inout SliceStatements) {
        let realms = headings(records)
        guard !realms.isEmpty else { return }
        statements.add(
            """
            WITH q AS (
                SELECT * FROM unnest($2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18,
                    $19, $20) AS q (id, app, partition, name_id, generation, latest, latest_salt, salt, salt_epoch, history_base,
                        history_bytes, next_ident, schema, compatibility, lost_from, lost_to, imaged, indexed, told)),
            made AS (
                SELECT q.app, count(*) AS realms FROM q
                WHERE NOT EXISTS (SELECT 1 FROM realms r WHERE r.slice = $1 AND r.id = q.id) GROUP BY q.app),
            counted AS (
                INSERT INTO app_usage (slice, app, realms, client_files, bytes) SELECT $1, app, realms, 0, 0 FROM made
                ON CONFLICT (slice, app) DO UPDATE SET realms = app_usage.realms + excluded.realms)
            INSERT INTO realms AS r (slice, id, app, partition, name_id, generation, latest, latest_salt, salt, salt_epoch,
                history_base, history_bytes, next_ident, schema, compatibility, lost_from, lost_to, imaged, indexed, told,
                stored_bytes)
            SELECT $1, q.*, 0 FROM q
            ON CONFLICT (slice, id) DO UPDATE SET latest = excluded.latest, latest_salt = excluded.latest_salt,
                salt = excluded.salt, salt_epoch = excluded.salt_epoch,
                history_base = CASE WHEN r.generation = excluded.generation
                    THEN greatest(r.history_base, excluded.history_base) ELSE excluded.history_base END,
                generation = excluded.generation, history_bytes = excluded.history_bytes,
                next_ident = excluded.next_ident, schema = excluded.schema, imaged = excluded.imaged,
                indexed = excluded.indexed, told = excluded.told
            """, .ints(realms.map(\.id.value)), .strings(realms.map(\.name.app)),
            .strings(realms.map(\.name.partition)), .byteStrings(realms.map(\.name.nameID)),
            .ints(realms.map(\.generation.stored)), .ints(realms.map(\.latest.version.stored)),
            .ints(realms.map(\.latest.salt.stored)), .ints(realms.map(\.salt.stored)),
            .ints(realms.map(\.saltEpoch.value.stored)), .ints(realms.map(\.historyBase.stored)),
            .ints(realms.map(\.historyBytes.stored)), .ints(realms.map(\.nextIdent.stored)),
            .byteStrings(realms.map(\.schema)), .texts(realms.map(\.compatibility.rawValue)),
            .ints(realms.map(\.lostIdents.lowerBound.stored)), .ints(realms.map(\.lostIdents.upperBound.stored)),
            .byteStrings(realms.map(\.imaged)), .byteStrings(realms.map(\.indexed)),
            .byteStrings(realms.map { $0.told.encoded() }))
    }
}

extension RealmRecord {
    /// Becomes what a later heading of the realm says.
    fileprivate mutating func follow(_ later: RealmRecord) {
        historyBase = later.generation == generation ? max(historyBase, later.historyBase) : later.historyBase
        (generation, latest, salt, saltEpoch) = (later.generation, later.latest, later.salt, later.saltEpoch)
        (historyBytes, nextIdent, schema) = (later.historyBytes, later.nextIdent, later.schema)
        (imaged, indexed, told) = (later.imaged, later.indexed, later.told)
    }
}
