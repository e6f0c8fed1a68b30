import PostgreSQL
import Storage
import SyncModel

/// A batch as statements: one pipeline, however much it changes. Each statement takes the rows of one table as arrays.
struct PostgresCommit {
    /// The index of the statement that fails where the slice is not its owner's any more.
    static let fence = 0

    private var statements: SliceStatements

    var pipeline: PostgresPipeline { statements.pipeline }

    /// - Parameters:
    ///   - previous: the token of the last commit. Where it is another, this commit has been overtaken, or has come through before.
    ///   - token: that of this commit.
    init(_ batch: SliceBatch, slice: SliceNumber, epoch: Epoch, previous: Int64, token: Int64) {
        statements = SliceStatements(slice)
        // In the same transaction as everything else: whoever takes the slice waits until it has ended, and what comes after
        // finds the epoch gone.
        add(
            """
            WITH held AS (
                UPDATE ownership SET last_commit = $4
                WHERE slice = $1 AND epoch = $2 AND NOT released AND last_commit = $3 RETURNING 1)
            SELECT CAST(CASE count(*) WHEN 1 THEN '1' ELSE 'this worker has lost the slice' END AS bigint) FROM held
            """, .int(epoch.value.stored), .int(previous), .int(token))
        CampaignStatements.terminate(batch, &statements)
        CampaignStatements.putReasons(batch.reasons, &statements)
        trim(batch.historyTrims)
        removeReciprocals(batch.reciprocalResets)
        putErasures(batch)
        RealmStatements.put(batch.realms, &statements)
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
        MessageStatements.remember(batch.seenMessages, &statements)
        MessageStatements.putOutbox(batch, &statements)
        CampaignStatements.dropReasons(but: batch.reasons, &statements)
    }

    /// Adds a statement whose first parameter is the slice.
    mutating func add(_ sql: String, _ values: PostgresValue...) { statements.add(sql, values: values) }
    mutating func add(_ sql: String, values: [PostgresValue]) { statements.add(sql, values: values) }

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
