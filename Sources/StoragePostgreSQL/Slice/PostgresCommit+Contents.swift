import PostgreSQL
import Storage
import SyncModel

extension PostgresCommit {
    // MARK: What goes

    mutating func trim(_ trims: [HistoryKey: ServerVersion]) {
        guard !trims.isEmpty else { return }
        let trims = Array(trims)
        add(
            """
            WITH q AS (SELECT * FROM unnest($2, $3, $4) AS q (realm, generation, version)),
            gone AS (
                DELETE FROM history h USING q
                WHERE h.slice = $1 AND h.realm = ANY ($2) AND h.realm = q.realm AND h.generation = q.generation AND h.version <= q.version
                RETURNING h.realm, octet_length(h.changeset) + h.counted AS bytes),
            digests AS (
                DELETE FROM history_digests d USING q
                WHERE d.slice = $1 AND d.realm = ANY ($2) AND d.realm = q.realm AND d.generation = q.generation
                    AND d.through <= q.version),
            delta AS (SELECT realm, -sum(bytes)::bigint AS bytes FROM gone GROUP BY realm),
            \(Self.growing)
            """, .ints(trims.map(\.key.realm.value)), .ints(trims.map(\.key.series)), .ints(trims.map(\.value.stored)))
    }

    mutating func removeReciprocals(_ realms: [RealmID]) {
        guard !realms.isEmpty else { return }
        add("DELETE FROM reciprocals WHERE slice = $1 AND realm = ANY($2)", .ints(realms.map(\.value)))
    }

    mutating func compact(_ batch: SliceBatch) {
        trim(batch.compactions)
        if !batch.compactions.isEmpty {
            let trims = Array(batch.compactions)
            add(
                """
                UPDATE realms r SET history_base = greatest(r.history_base, q.version)
                FROM unnest($2, $3, $4) AS q (realm, generation, version)
                WHERE r.slice = $1 AND r.id = ANY ($2) AND r.id = q.realm AND r.generation = q.generation
                """, .ints(trims.map(\.key.realm.value)), .ints(trims.map(\.key.generation.stored)),
                .ints(trims.map(\.value.stored)))
        }
        struct BaseKey: Hashable {
            var realm: RealmID
            var version: ServerVersion
        }
        let bases = batch.bases.last { BaseKey(realm: $0.realm, version: $0.version) }
        if !bases.isEmpty {
            add(
                """
                INSERT INTO bases (slice, realm, version, generation, entries, bytes, history_bytes, complete, created_at)
                SELECT $1, q.* FROM unnest($2, $3, $4, $5, $6, $7, $8, $9)
                    AS q (realm, version, generation, entries, bytes, history_bytes, complete, created_at)
                ON CONFLICT (slice, realm, version) DO UPDATE SET generation = excluded.generation,
                    entries = excluded.entries, bytes = excluded.bytes, history_bytes = excluded.history_bytes,
                    complete = excluded.complete, created_at = excluded.created_at
                """, .ints(bases.map(\.realm.value)), .ints(bases.map(\.version.stored)),
                .ints(bases.map(\.generation.stored)), .ints(bases.map(\.entries.stored)),
                .ints(bases.map(\.bytes.stored)), .ints(bases.map(\.historyBytes.stored)),
                .bools(bases.map(\.isComplete)), .ints(bases.map(\.createdAt.stored)))
        }
        if !batch.baseRemovals.isEmpty {
            add(
                """
                DELETE FROM bases b USING unnest($2, $3) AS q (realm, version)
                WHERE b.slice = $1 AND b.realm = ANY ($2) AND b.realm = q.realm AND b.version = q.version
                """, .ints(batch.baseRemovals.map(\.realm.value)), .ints(batch.baseRemovals.map(\.version.stored)))
        }
    }

    mutating func removeObjects(_ batch: SliceBatch) {
        let tables = batch.tableRemovals.flatMap { realm, tables in tables.map { (realm: realm, table: Int64($0)) } }
        if !tables.isEmpty {
            add(
                """
                DELETE FROM object_index i USING unnest($2, $3) AS q (realm, table_id)
                WHERE i.slice = $1 AND i.realm = ANY ($2) AND i.realm = q.realm AND i.table_id = q.table_id
                """, .ints(tables.map(\.realm.value)), .ints(tables.map(\.table)))
            add(
                """
                WITH gone AS (
                    DELETE FROM objects o USING unnest($2, $3) AS q (realm, table_id)
                    WHERE o.slice = $1 AND o.realm = ANY ($2) AND o.realm = q.realm AND o.table_id = q.table_id
                    RETURNING o.realm, octet_length(o.body) AS bytes),
                delta AS (SELECT realm, -sum(bytes)::bigint AS bytes FROM gone GROUP BY realm),
                \(Self.growing)
                """, .ints(tables.map(\.realm.value)), .ints(tables.map(\.table)))
        }
        let objects = batch.objectRemovals.flatMap { realm, rows in rows.map { (realm: realm, row: $0) } }
        guard !objects.isEmpty else { return }
        add(
            """
            WITH there AS (
                SELECT q.* FROM unnest($2, $3, $4) AS q (realm, table_id, key_id)
                CROSS JOIN LATERAL (
                    SELECT 1 FROM objects o WHERE o.slice = $1 AND o.realm = q.realm AND o.table_id = q.table_id
                        AND o.key_id = q.key_id OFFSET 0) o),
            gone AS (
                DELETE FROM objects o USING there q
                WHERE o.slice = $1 AND o.realm = ANY ($2) AND o.realm = q.realm AND o.table_id = q.table_id
                    AND o.key_id = q.key_id
                RETURNING o.realm, octet_length(o.body) AS bytes),
            delta AS (SELECT realm, -sum(bytes)::bigint AS bytes FROM gone GROUP BY realm),
            \(Self.growing)
            """, .ints(objects.map(\.realm.value)), .ints(objects.map { Int64($0.row.table) }),
            .byteStrings(objects.map { StoredKey($0.row.key).id }))
    }

    // MARK: What comes

    /// Objects and versions, and by how much their realms grow with both.
    mutating func putContents(_ batch: SliceBatch) {
        var growth: [RealmID: Int64] = [:]
        let history = batch.history.flatMap { key, records in records.map { (key: key, record: $0) } }
        if !history.isEmpty {
            for (key, record) in history {
                growth[key.realm, default: 0] += Int64(record.entry.changeset.count + record.images.count)
            }
            // A version that exists already would be a second history: that fails.
            add(
                """
                INSERT INTO history (slice, realm, generation, version, salt, origin, client_version, timestamp, cumulative,
                    changeset, images, counted, event)
                SELECT $1, q.* FROM unnest($2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) AS q
                """, .ints(history.map(\.key.realm.value)), .ints(history.map(\.key.series)),
                .ints(history.map(\.record.version.stored)), .ints(history.map(\.record.salt.stored)),
                .ints(history.map(\.record.entry.originFile.stored)),
                .ints(history.map(\.record.entry.clientVersion.stored)),
                .ints(history.map(\.record.entry.timestamp.stored)),
                .ints(history.map(\.record.cumulativeBytes.stored)),
                .byteStrings(history.map(\.record.entry.changeset)),
                .byteStrings(history.map(\.record.images)), .ints(history.map { Int64($0.record.images.count) }),
                .strings(history.map(\.record.event)))
        }
        let objects = batch.objects.flatMap { realm, bodies in
            bodies.map { (realm: realm, table: Int64($0.key.table), key: StoredKey($0.key.key), body: $0.value) }
        }
        for object in objects { growth[object.realm, default: 0] += Int64(object.body.count) }
        let grown = growth.filter { $0.value != 0 }
        let (realms, bytes) = (PostgresValue.ints(grown.keys.map(\.value)), PostgresValue.ints(Array(grown.values)))
        guard !objects.isEmpty else {
            if !grown.isEmpty {
                add(
                    "WITH delta AS (SELECT * FROM unnest($2, $3) AS q (realm, bytes)), \(Self.growing)", realms, bytes)
            }
            return
        }
        add(
            """
            WITH q AS (SELECT * FROM unnest($2, $3, $4, $5, $6) AS q (realm, table_id, key_id, key, body)),
            put AS (
                INSERT INTO objects (slice, realm, table_id, key_id, key, body) SELECT $1, q.* FROM q
                ON CONFLICT (slice, realm, table_id, key_id) DO UPDATE SET body = excluded.body),
            delta AS (
                SELECT realm, sum(bytes)::bigint AS bytes FROM (
                    SELECT * FROM unnest($7, $8) AS g (realm, bytes)
                    UNION ALL
                    SELECT q.realm, -octet_length(o.body)::bigint FROM q CROSS JOIN LATERAL (
                        SELECT o.body FROM objects o WHERE o.slice = $1 AND o.realm = q.realm
                            AND o.table_id = q.table_id AND o.key_id = q.key_id OFFSET 0) o
                ) AS g (realm, bytes) GROUP BY realm),
            \(Self.growing)
            """, .ints(objects.map(\.realm.value)), .ints(objects.map(\.table)), .byteStrings(objects.map(\.key.id)),
            .byteStrings(objects.map(\.key.encoding)), .byteStrings(objects.map(\.body)), realms, bytes)
    }

    /// Entries go before others come: an object's value may be one that another object had.
    mutating func putIndexEntries(_ batch: SliceBatch) {
        func columns(_ entries: [(realm: RealmID, entry: IndexEntry, key: StoredKey)]) -> [PostgresValue] {
            [
                .ints(entries.map(\.realm.value)), .ints(entries.map { Int64($0.entry.row.table) }),
                .ints(entries.map { Int64($0.entry.column) }), .byteStrings(entries.map(\.entry.value)),
                .byteStrings(entries.map(\.key.id)),
            ]
        }
        func listed(_ entries: [RealmID: Set<IndexEntry>]) -> [(realm: RealmID, entry: IndexEntry, key: StoredKey)] {
            entries.flatMap { realm, entries in
                entries.map { (realm: realm, entry: $0, key: StoredKey($0.row.key)) }
            }
        }
        let gone = listed(batch.indexRemovals)
        if !gone.isEmpty {
            add(
                """
                WITH there AS (
                    SELECT q.* FROM unnest($2, $3, $4, $5, $6) AS q (realm, table_id, column_id, value, key_id)
                    CROSS JOIN LATERAL (
                        SELECT 1 FROM object_index i WHERE i.slice = $1 AND i.realm = q.realm AND i.table_id = q.table_id
                            AND i.column_id = q.column_id AND i.value = q.value AND i.key_id = q.key_id OFFSET 0) i)
                DELETE FROM object_index i USING there q
                WHERE i.slice = $1 AND i.realm = ANY ($2) AND i.realm = q.realm AND i.table_id = q.table_id
                    AND i.column_id = q.column_id AND i.value = q.value AND i.key_id = q.key_id
                """, values: columns(gone))
        }
        let new = listed(batch.indexEntries)
        guard !new.isEmpty else { return }
        add(
            """
            INSERT INTO object_index (slice, realm, table_id, column_id, value, key_id, key)
            SELECT $1, q.* FROM unnest($2, $3, $4, $5, $6, $7) AS q
            ON CONFLICT (slice, realm, table_id, column_id, value, key_id) DO NOTHING
            """, values: columns(new) + [.byteStrings(new.map(\.key.encoding))])
    }

    mutating func putDigests(_ batch: [HistoryDigest]) {
        // A digest that a later one of the same batch covers would be gone with it.
        let digests = batch.indices.filter { index in
            let digest = batch[index]
            return !batch[(index + 1)...].contains {
                $0.key == digest.key && digest.through > $0.after && digest.through <= $0.through
            }
        }.map { batch[$0] }
        guard !digests.isEmpty else { return }
        let (realms, series) = (
            PostgresValue.ints(batch.map(\.key.realm.value)), PostgresValue.ints(batch.map(\.key.series))
        )
        // The one that a digest continues ends inside it.
        add(
            """
            DELETE FROM history_digests d USING unnest($2, $3, $4, $5) AS q (realm, generation, after, through)
            WHERE d.slice = $1 AND d.realm = ANY ($2) AND d.realm = q.realm AND d.generation = q.generation
                AND d.through > q.after AND d.through <= q.through
            """, realms, series, .ints(batch.map(\.after.stored)), .ints(batch.map(\.through.stored)))
        add(
            """
            INSERT INTO history_digests (slice, realm, generation, after, through, body)
            SELECT $1, q.* FROM unnest($2, $3, $4, $5, $6) AS q
            """, .ints(digests.map(\.key.realm.value)), .ints(digests.map(\.key.series)),
            .ints(digests.map(\.after.stored)), .ints(digests.map(\.through.stored)),
            .byteStrings(digests.map(\.body)))
    }

    mutating func putReciprocals(_ batch: SliceBatch) {
        let put = batch.reciprocals.flatMap { owner, changesets in
            changesets.map { (owner: owner, version: $0.key, changeset: $0.value) }
        }
        if !put.isEmpty {
            add(
                """
                INSERT INTO reciprocals (slice, realm, ident, version, changeset)
                SELECT $1, q.* FROM unnest($2, $3, $4, $5) AS q
                ON CONFLICT (slice, realm, ident, version) DO UPDATE SET changeset = excluded.changeset
                """, .ints(put.map(\.owner.realm.value)), .ints(put.map(\.owner.ident.stored)),
                .ints(put.map(\.version.stored)), .byteStrings(put.map(\.changeset)))
        }
        guard !batch.reciprocalTrims.isEmpty else { return }
        let trims = Array(batch.reciprocalTrims)
        add(
            """
            DELETE FROM reciprocals r USING unnest($2, $3, $4) AS q (realm, ident, version)
            WHERE r.slice = $1 AND r.realm = ANY ($2) AND r.realm = q.realm AND r.ident = q.ident
                AND r.version <= q.version
            """, .ints(trims.map(\.key.realm.value)), .ints(trims.map(\.key.ident.stored)),
            .ints(trims.map(\.value.stored)))
    }
}
