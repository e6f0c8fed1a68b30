import Changesets
import PostgreSQL
import Storage
import SyncModel

/// A batch as statements: one pipeline, however much it changes. Each statement takes the rows of one table as arrays.
struct PostgresCommit {
    /// The index of the statement that fails where the slice is not its owner's any more.
    static let fence = 0

    private(set) var pipeline = PostgresPipeline()
    let slice: Int64

    /// - Parameters:
    ///   - previous: the token of the last commit. Where it is another, this commit has been overtaken, or has come through before.
    ///   - token: that of this commit.
    init(_ batch: SliceBatch, slice: SliceNumber, epoch: Epoch, previous: Int64, token: Int64) {
        self.slice = Int64(slice.value)
        // In the same transaction as everything else: whoever takes the slice waits until it has ended, and what comes after
        // finds the epoch gone.
        add(
            """
            WITH held AS (
                UPDATE ownership SET last_commit = $4
                WHERE slice = $1 AND epoch = $2 AND NOT released AND last_commit = $3 RETURNING 1)
            SELECT CAST(CASE count(*) WHEN 1 THEN '1' ELSE 'this worker has lost the slice' END AS bigint) FROM held
            """, .int(epoch.value.stored), .int(previous), .int(token))
        terminate(batch)
        putReasons(batch.reasons)
        trim(batch.historyTrims)
        removeReciprocals(batch.reciprocalResets)
        putErasures(batch)
        putRealms(batch.realms)
        compact(batch)
        removeObjects(batch)
        putContents(batch)
        putIndexEntries(batch)
        putDigests(batch.historyDigests)
        putClientFiles(batch.clientFiles)
        removeClientFiles(batch.clientFileRemovals)
        putReciprocals(batch)
        putResets(batch)
        putUsage(batch)
        remember(batch.seenMessages)
        putOutbox(batch)
        dropReasons(but: batch.reasons)
    }

    /// Adds a statement whose first parameter is the slice.
    mutating func add(_ sql: String, _ values: PostgresValue...) { add(sql, values: values) }
    mutating func add(_ sql: String, values: [PostgresValue]) { pipeline.add(sql, [.int(slice)] + values) }

    /// The end of a statement that has, as `delta (realm, bytes)`, by how much realms grow.
    static let growing = """
        grown AS (
            UPDATE realms r SET stored_bytes = r.stored_bytes + d.bytes FROM delta d
            WHERE r.slice = $1 AND r.id = ANY (ARRAY(SELECT realm FROM delta)) AND r.id = d.realm
            RETURNING r.app, d.bytes)
        UPDATE app_usage u SET bytes = u.bytes + s.bytes
        FROM (SELECT app, sum(bytes)::bigint AS bytes FROM grown GROUP BY app) s
        WHERE u.slice = $1 AND u.app = s.app
        """

    // MARK: Generations, reasons

    private mutating func terminate(_ batch: SliceBatch) {
        let inSteps = Set(batch.terminationSteps.map(\.campaign))
        for record in batch.terminations {
            add(
                """
                INSERT INTO app_generations (slice, app, generation, campaign, at) VALUES ($1, $2, $3, $4, $5)
                ON CONFLICT (slice, app, generation) DO NOTHING
                """, .string(record.app), .int(record.generation.stored), .string(record.campaign),
                .int(record.at.stored))
            guard let campaign = record.campaign, !inSteps.contains(campaign) else { continue }
            add(
                """
                UPDATE client_files f SET state = 'resetRequired', campaign = $4 FROM realms r
                WHERE r.slice = $1 AND r.app = $2 AND f.slice = $1 AND f.realm = r.id AND f.generation < $3
                    AND f.state IN ('live', 'resetRequired')
                """, .string(record.app), .int(record.generation.stored), .string(campaign))
        }
        for steps in batch.terminationSteps { put(steps) }
        if !batch.terminationStepsDone.isEmpty {
            add(
                "DELETE FROM termination_steps WHERE slice = $1 AND campaign = ANY($2)",
                .strings(batch.terminationStepsDone))
        }
    }

    private mutating func put(_ steps: TerminationSteps) { pipeline.add(steps.putting, steps.values(slice)) }

    private mutating func putReasons(_ reasons: [String: String]) {
        guard !reasons.isEmpty else { return }
        let reasons = Array(reasons)
        add(
            """
            INSERT INTO campaign_reasons (slice, campaign, reason) SELECT $1, q.campaign, q.reason
            FROM unnest($2, $3) AS q (campaign, reason) ON CONFLICT (slice, campaign) DO NOTHING
            """, .strings(reasons.map(\.key)), .strings(reasons.map(\.value)))
    }

    /// Drops the reasons of campaigns that are over, now that there are new reasons.
    private mutating func dropReasons(but new: [String: String]) {
        guard !new.isEmpty else { return }
        add(
            """
            DELETE FROM campaign_reasons c WHERE c.slice = $1 AND c.campaign <> ALL($2)
                AND NOT EXISTS (SELECT 1 FROM client_files f
                    WHERE f.slice = $1 AND f.campaign = c.campaign AND f.state = 'resetRequired')
                AND NOT EXISTS (SELECT 1 FROM erasures e WHERE e.slice = $1 AND e.campaign = c.campaign)
                AND NOT EXISTS (SELECT 1 FROM app_generations g
                    WHERE g.slice = $1 AND g.campaign = c.campaign AND g.generation =
                        (SELECT max(l.generation) FROM app_generations l WHERE l.slice = $1 AND l.app = g.app))
            """, .strings(Array(new.keys)))
    }

    // MARK: Realms

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

    private mutating func putRealms(_ records: [RealmRecord]) {
        let realms = Self.headings(records)
        guard !realms.isEmpty else { return }
        add(
            """
            WITH q AS (
                SELECT * FROM unnest($2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18,
                    $19) AS q (id, app, partition, name_id, generation, latest, latest_salt, salt, salt_epoch, history_base,
                        history_bytes, next_ident, schema, compatibility, lost_from, lost_to, imaged, indexed)),
            made AS (
                SELECT q.app, count(*) AS realms FROM q
                WHERE NOT EXISTS (SELECT 1 FROM realms r WHERE r.slice = $1 AND r.id = q.id) GROUP BY q.app),
            counted AS (
                INSERT INTO app_usage (slice, app, realms, client_files, bytes) SELECT $1, app, realms, 0, 0 FROM made
                ON CONFLICT (slice, app) DO UPDATE SET realms = app_usage.realms + excluded.realms)
            INSERT INTO realms AS r (slice, id, app, partition, name_id, generation, latest, latest_salt, salt, salt_epoch,
                history_base, history_bytes, next_ident, schema, compatibility, lost_from, lost_to, imaged, indexed,
                stored_bytes)
            SELECT $1, q.*, 0 FROM q
            ON CONFLICT (slice, id) DO UPDATE SET latest = excluded.latest, latest_salt = excluded.latest_salt,
                salt = excluded.salt, salt_epoch = excluded.salt_epoch,
                history_base = CASE WHEN r.generation = excluded.generation
                    THEN greatest(r.history_base, excluded.history_base) ELSE excluded.history_base END,
                generation = excluded.generation, history_bytes = excluded.history_bytes,
                next_ident = excluded.next_ident, schema = excluded.schema, imaged = excluded.imaged,
                indexed = excluded.indexed
            """, .ints(realms.map(\.id.value)), .strings(realms.map(\.name.app)),
            .strings(realms.map(\.name.partition)), .byteStrings(realms.map(\.name.nameID)),
            .ints(realms.map(\.generation.stored)), .ints(realms.map(\.latest.version.stored)),
            .ints(realms.map(\.latest.salt.stored)), .ints(realms.map(\.salt.stored)),
            .ints(realms.map(\.saltEpoch.value.stored)), .ints(realms.map(\.historyBase.stored)),
            .ints(realms.map(\.historyBytes.stored)), .ints(realms.map(\.nextIdent.stored)),
            .byteStrings(realms.map(\.schema)), .texts(realms.map(\.compatibility.rawValue)),
            .ints(realms.map(\.lostIdents.lowerBound.stored)), .ints(realms.map(\.lostIdents.upperBound.stored)),
            .byteStrings(realms.map(\.imaged)), .byteStrings(realms.map(\.indexed)))
    }

    // MARK: Messages

    private mutating func remember(_ ids: [String]) {
        guard !ids.isEmpty else { return }
        add(
            """
            INSERT INTO seen_messages (slice, id, number)
            SELECT $1, q.id, m.last + row_number() OVER (ORDER BY q.n)
            FROM unnest($2) WITH ORDINALITY AS q (id, n)
            CROSS JOIN (SELECT coalesce(max(number), 0) AS last FROM seen_messages WHERE slice = $1) m
            WHERE NOT EXISTS (SELECT 1 FROM seen_messages s WHERE s.slice = $1 AND s.id = q.id)
            ON CONFLICT (slice, id) DO NOTHING
            """, .strings(ids))
        add(
            """
            DELETE FROM seen_messages WHERE slice = $1
                AND number <= (SELECT max(number) FROM seen_messages WHERE slice = $1) - $2
            """, .int(Int64(SliceBatch.rememberedMessages)))
    }

    private mutating func putOutbox(_ batch: SliceBatch) {
        if !batch.outbox.isEmpty {
            add(
                """
                INSERT INTO outbox (slice, number, id, body)
                SELECT $1, m.last + row_number() OVER (ORDER BY q.n), q.id, q.body
                FROM unnest($2, $3) WITH ORDINALITY AS q (id, body, n)
                CROSS JOIN (SELECT coalesce(max(number), 0) AS last FROM outbox WHERE slice = $1) m
                WHERE NOT EXISTS (SELECT 1 FROM outbox o WHERE o.slice = $1 AND o.id = q.id)
                ON CONFLICT (slice, id) DO NOTHING
                """, .strings(batch.outbox.map(\.id)), .byteStrings(batch.outbox.map(\.body)))
        }
        if !batch.outboxRemovals.isEmpty {
            add("DELETE FROM outbox WHERE slice = $1 AND id = ANY($2)", .strings(batch.outboxRemovals))
        }
    }

    private mutating func putUsage(_ batch: SliceBatch) {
        if !batch.usageRemovals.isEmpty {
            add(
                """
                DELETE FROM user_usage u USING unnest($2, $3) AS q (app, user_key)
                WHERE u.slice = $1 AND u.app = q.app AND u.user_key = q.user_key
                """, .strings(batch.usageRemovals.map(\.app)), .byteStrings(batch.usageRemovals.map(\.userKey)))
        }
        guard !batch.usage.isEmpty else { return }
        let users = Array(batch.usage)
        // As `UserUsage` adds: of what was added before, half is forgotten in each half-life.
        let left = """
            CASE WHEN excluded.at > u.at
            THEN power(0.5::double precision, (excluded.at - u.at)::double precision / \(UserUsage.halfLife)) ELSE 1 END
            """
        add(
            """
            INSERT INTO user_usage AS u (slice, app, user_key, "user", realms, client_files, bytes, at)
            SELECT $1, q.*, $8 FROM unnest($2, $3, $4, $5, $6, $7)
                AS q (app, user_key, "user", realms, client_files, bytes)
            ON CONFLICT (slice, app, user_key) DO UPDATE SET realms = u.realms * (\(left)) + excluded.realms,
                client_files = u.client_files * (\(left)) + excluded.client_files,
                bytes = u.bytes * (\(left)) + excluded.bytes, at = greatest(u.at, excluded.at)
            """, .strings(users.map(\.key.app)), .byteStrings(users.map(\.key.userKey)),
            .strings(users.map(\.key.user)), .reals(users.map(\.value.realms)), .reals(users.map(\.value.clientFiles)),
            .reals(users.map(\.value.bytes)), .int(batch.usageAt.stored))
    }
}

extension Array {
    /// The last element of each key, in order: a statement may not write one row twice.
    func last<Key: Hashable>(by key: (Element) -> Key) -> [Element] {
        var places: [Key: Int] = [:]
        for (index, element) in enumerated() { places[key(element)] = index }
        guard places.count < count else { return self }
        return places.values.sorted().map { self[$0] }
    }
}

extension RealmRecord {
    /// Becomes what a later heading of the realm says.
    fileprivate mutating func follow(_ later: RealmRecord) {
        historyBase = later.generation == generation ? max(historyBase, later.historyBase) : later.historyBase
        (generation, latest, salt, saltEpoch) = (later.generation, later.latest, later.salt, later.saltEpoch)
        (historyBytes, nextIdent, schema) = (later.historyBytes, later.nextIdent, later.schema)
        (imaged, indexed) = (later.imaged, later.indexed)
    }
}
