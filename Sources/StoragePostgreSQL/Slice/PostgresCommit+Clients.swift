import PostgreSQL
import Storage
import SyncModel

extension PostgresCommit {
    mutating func putClientFiles(_ records: [ClientFileRecord]) {
        let files = records.last(by: \.key)
        guard !files.isEmpty else { return }
        countViews(of: files)
        add(
            """
            WITH q AS (
                SELECT * FROM unnest($2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20,
                    $21, $22, $23, $24) AS q (realm, ident, salt, "user", generation, state, campaign, upload_client, upload_server,
                        locked, seen, created_at, last_seen, connection, protocol, user_agent, superseded_by, reset_of,
                        start, must_discard, views, ahead, counted)),
            made AS (
                SELECT r.app, count(*) AS files FROM q CROSS JOIN LATERAL (
                    SELECT app FROM realms r WHERE r.slice = $1 AND r.id = q.realm OFFSET 0) r
                WHERE NOT EXISTS (
                    SELECT 1 FROM client_files f WHERE f.slice = $1 AND f.realm = q.realm AND f.ident = q.ident)
                GROUP BY r.app),
            counted AS (
                UPDATE app_usage u SET client_files = u.client_files + m.files FROM made m
                WHERE u.slice = $1 AND u.app = m.app)
            INSERT INTO client_files (slice, realm, ident, salt, "user", generation, state, campaign, upload_client,
                upload_server, locked, seen, created_at, last_seen, connection, protocol, user_agent, superseded_by,
                reset_of, start, must_discard, views, ahead, counted)
            SELECT $1, q.* FROM q
            ON CONFLICT (slice, realm, ident) DO UPDATE SET salt = excluded.salt, "user" = excluded."user",
                generation = excluded.generation, state = excluded.state, campaign = excluded.campaign,
                upload_client = excluded.upload_client, upload_server = excluded.upload_server,
                locked = excluded.locked, seen = excluded.seen, created_at = excluded.created_at,
                last_seen = excluded.last_seen, connection = excluded.connection, protocol = excluded.protocol,
                user_agent = excluded.user_agent, superseded_by = excluded.superseded_by,
                reset_of = excluded.reset_of, start = excluded.start, must_discard = excluded.must_discard,
                views = excluded.views, ahead = excluded.ahead, counted = excluded.counted
            """, .ints(files.map(\.realm.value)), .ints(files.map(\.ident.stored)),
            .ints(files.map(\.file.salt.stored)), .strings(files.map(\.user)), .ints(files.map(\.generation.stored)),
            .texts(files.map(\.state.rawValue)), .optionalStrings(files.map(\.campaign)),
            .ints(files.map(\.upload.clientVersion.stored)), .ints(files.map(\.upload.serverVersion.stored)),
            .ints(files.map(\.lockedServerVersion.stored)), .ints(files.map(\.seenServerVersion.stored)),
            .ints(files.map(\.createdAt.stored)), .ints(files.map(\.lastSeen.stored)),
            .strings(files.map(\.connection)), .ints(files.map { Int64($0.protocolVersion) }),
            .strings(files.map(\.userAgent)), .optionalInts(files.map { $0.supersededBy?.stored }),
            .optionalInts(files.map { $0.resetOf?.stored }), .optionalInts(files.map { $0.historyStart?.stored }),
            .bools(files.map(\.mustDiscard)), .byteStrings(files.map(\.views)),
            .optionalInts(files.map { $0.ahead?.stored }), .ints(files.map { Int64($0.views.count) }))
    }

    /// Counts what client files of flexible realms take, before their rows say so: a statement may not change a row twice.
    private mutating func countViews(of files: [ClientFileRecord]) {
        let files = files.filter { !$0.views.isEmpty }
        guard !files.isEmpty else { return }
        add(
            """
            WITH q AS (SELECT * FROM unnest($2, $3, $4) AS q (realm, ident, bytes)),
            delta AS (
                SELECT q.realm, sum(q.bytes - coalesce(f.counted, 0))::bigint AS bytes FROM q LEFT JOIN LATERAL (
                    SELECT c.counted FROM client_files c WHERE c.slice = $1 AND c.realm = q.realm AND c.ident = q.ident
                    OFFSET 0) f ON true
                GROUP BY q.realm),
            \(Self.growing)
            """, .ints(files.map(\.realm.value)), .ints(files.map(\.ident.stored)),
            .ints(files.map { Int64($0.views.count) }))
    }

    mutating func removeClientFiles(_ keys: [ClientFileKey]) {
        guard !keys.isEmpty else { return }
        add(
            """
            WITH q AS (SELECT * FROM unnest($2, $3) AS q (realm, ident)),
            gone AS (
                DELETE FROM client_files f USING q
                WHERE f.slice = $1 AND f.realm = ANY ($2) AND f.realm = q.realm AND f.ident = q.ident
                RETURNING f.realm, f.counted),
            merged AS (
                DELETE FROM reciprocals c USING q
                WHERE c.slice = $1 AND c.realm = ANY ($2) AND c.realm = q.realm AND c.ident = q.ident),
            cases AS (
                DELETE FROM reset_cases c USING q
                WHERE c.slice = $1 AND c.realm = ANY ($2) AND c.realm = q.realm AND c.ident_old = q.ident),
            delta AS (SELECT realm, count(*) AS files, sum(counted)::bigint AS bytes FROM gone GROUP BY realm),
            shrunk AS (
                UPDATE realms r SET stored_bytes = r.stored_bytes - d.bytes FROM delta d
                WHERE r.slice = $1 AND r.id = ANY (ARRAY(SELECT realm FROM delta)) AND r.id = d.realm
                RETURNING r.app, d.files, d.bytes)
            UPDATE app_usage u SET client_files = u.client_files - g.files, bytes = u.bytes - g.bytes
            FROM (
                SELECT app, sum(files)::bigint AS files, sum(bytes)::bigint AS bytes FROM shrunk GROUP BY app) g
            WHERE u.slice = $1 AND u.app = g.app
            """, .ints(keys.map(\.realm.value)), .ints(keys.map(\.ident.stored)))
    }

    mutating func putResets(_ batch: SliceBatch) {
        let cases = batch.resetCases.last(by: \.key)
        if !cases.isEmpty {
            add(
                """
                INSERT INTO reset_cases (slice, realm, ident_old, "user", is_open, due_at, body)
                SELECT $1, q.* FROM unnest($2, $3, $4, $5, $6, $7) AS q
                ON CONFLICT (slice, realm, ident_old) DO UPDATE SET "user" = excluded."user",
                    is_open = excluded.is_open, due_at = excluded.due_at, body = excluded.body
                """, .ints(cases.map(\.realm.value)), .ints(cases.map(\.identOld.stored)),
                .strings(cases.map(\.user)), .bools(cases.map(\.isOpen)),
                .optionalInts(cases.map { $0.dueAt?.stored }), .byteStrings(cases.map(\.body)))
        }
        let holds = Array(batch.resetHolds.values)
        guard !holds.isEmpty else { return }
        add(
            """
            INSERT INTO reset_holds (slice, app, held_since, asked, client_files, allowed_until)
            SELECT $1, q.* FROM unnest($2, $3, $4, $5, $6) AS q
            ON CONFLICT (slice, app) DO UPDATE SET held_since = excluded.held_since, asked = excluded.asked,
                client_files = excluded.client_files, allowed_until = excluded.allowed_until
            """, .strings(holds.map(\.app)), .optionalInts(holds.map { $0.heldSince?.stored }),
            .ints(holds.map { Int64($0.asked) }), .ints(holds.map { Int64($0.clientFiles) }),
            .optionalInts(holds.map { $0.allowedUntil?.stored }))
    }

    mutating func putErasures(_ batch: SliceBatch) {
        let erasures = batch.erasures.last(by: \.realm)
        if !erasures.isEmpty {
            add(
                """
                WITH gone AS (
                    DELETE FROM realms r USING unnest($2) AS q (realm) WHERE r.slice = $1 AND r.id = ANY ($2) AND r.id = q.realm
                    RETURNING r.id, r.app, r.stored_bytes),
                lost AS (
                    SELECT g.app, count(*) AS realms, sum(g.stored_bytes)::bigint AS bytes, sum(f.files)::bigint AS files
                    FROM gone g CROSS JOIN LATERAL (
                        SELECT count(*) AS files FROM client_files c WHERE c.slice = $1 AND c.realm = g.id) f
                    GROUP BY g.app)
                UPDATE app_usage u SET realms = u.realms - l.realms, bytes = u.bytes - l.bytes,
                    client_files = u.client_files - l.files
                FROM lost l WHERE u.slice = $1 AND u.app = l.app
                """, .ints(erasures.map(\.realm.value)))
            add("DELETE FROM app_usage WHERE slice = $1 AND realms <= 0")
            add(
                """
                INSERT INTO erasures (slice, realm, app, partition, name_id, generation, version, next_ident, campaign, at,
                    found, reported, last_reported, swept, schema)
                SELECT $1, q.* FROM unnest($2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) AS q
                ON CONFLICT (slice, realm) DO UPDATE SET app = excluded.app, partition = excluded.partition,
                    name_id = excluded.name_id, generation = excluded.generation, version = excluded.version,
                    next_ident = excluded.next_ident, campaign = excluded.campaign, at = excluded.at,
                    found = excluded.found, reported = excluded.reported, last_reported = excluded.last_reported,
                    swept = excluded.swept, schema = excluded.schema
                """, .ints(erasures.map(\.realm.value)), .strings(erasures.map(\.name.app)),
                .strings(erasures.map(\.name.partition)), .byteStrings(erasures.map(\.name.nameID)),
                .ints(erasures.map(\.generation.stored)), .ints(erasures.map(\.version.stored)),
                .ints(erasures.map(\.nextIdent.stored)), .optionalStrings(erasures.map(\.campaign)),
                .ints(erasures.map(\.at.stored)), .ints(erasures.map { Int64($0.found) }),
                .ints(erasures.map { Int64($0.reported) }), .ints(erasures.map(\.lastReported.stored)),
                .bools(erasures.map(\.isSwept)), .byteStrings(erasures.map(\.schema)))
        }
        if !batch.erasureRemovals.isEmpty {
            add(
                "DELETE FROM erasures WHERE slice = $1 AND realm = ANY($2)", .ints(batch.erasureRemovals.map(\.value)))
        }
        let apps = batch.appErasures.last(by: \.app)
        if !apps.isEmpty {
            add(
                """
                INSERT INTO app_erasures (slice, app, realms) SELECT $1, q.* FROM unnest($2, $3) AS q
                ON CONFLICT (slice, app) DO UPDATE SET realms = excluded.realms
                """, .strings(apps.map(\.app)), .ints(apps.map { Int64($0.realms) }))
        }
        guard !batch.appRemovals.isEmpty else { return }
        for table in ["app_generations", "reset_holds", "app_erasures", "user_usage", "termination_steps"] {
            add("DELETE FROM \(table) WHERE slice = $1 AND app = ANY($2)", .strings(batch.appRemovals))
        }
    }
}
