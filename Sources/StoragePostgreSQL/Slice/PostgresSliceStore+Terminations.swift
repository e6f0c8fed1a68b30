import PostgreSQL
import Storage
import SyncModel

extension PostgresSliceStore {
    func terminationSteps() async throws(StoreError) -> [TerminationSteps] {
        try await query(
            """
            SELECT app, generation, campaign, last_realm, last_ident, marked, chunks, reported FROM termination_steps
            WHERE slice = $1 ORDER BY app
            """
        ).map { row in
            let realm = row.optionalInt(3).map { RealmID($0) }
            return TerminationSteps(
                app: row.string(0), generation: row.number(1), campaign: row.string(2),
                last: realm.map { ClientFileKey(realm: $0, ident: row.number(4)) }, isMarked: row.bool(5),
                chunks: row.optionalInt(6).map { Int($0) }, reported: Int(row.int(7)))
        }
    }

    func mark(_ steps: TerminationSteps, limit: Int, epoch: Epoch) async throws(StoreError) -> TerminationSteps {
        do {
            return try await client.withTransaction { transaction in
                try await requireOwned(epoch, transaction)
                let last = try await transaction.query(
                    Self.marking, .int(number), .string(steps.app), .int(steps.last?.realm.value ?? 0),
                    .int(steps.last?.ident.stored ?? 0), .int(Int64(limit)), .string(steps.campaign),
                    .int(steps.generation.stored)
                ).first
                let key = last.map { ClientFileKey(realm: RealmID($0.int(0)), ident: $0.number(1)) }
                let after = steps.marked(through: key, isEnd: last.map { $0.int(2) < Int64(limit) } ?? true)
                var pipeline = PostgresPipeline()
                pipeline.add(after.putting, after.values(number))
                _ = try await transaction.commit(pipeline)
                return after
            }
        } catch {
            throw StoreError(any: error, "slice \(slice) cannot be used")
        }
    }

    /// Marks an app's next client files in the order of their keys: the rest of the last one's realm, then realm by realm, so that a
    /// step does not depend on how many there are. Returns the last key, and how many there were.
    private static let marking = """
        WITH keys AS (
            SELECT * FROM (
                (SELECT f.realm, f.ident FROM client_files f
                    WHERE f.slice = $1 AND f.realm = $3 AND f.ident > $4
                        AND EXISTS (SELECT 1 FROM realms r WHERE r.slice = $1 AND r.id = $3 AND r.app = $2)
                    ORDER BY f.ident LIMIT $5)
                UNION ALL
                (SELECT f.realm, f.ident FROM realms r JOIN client_files f ON f.slice = $1 AND f.realm = r.id
                    WHERE r.slice = $1 AND r.app = $2 AND r.id > $3 ORDER BY r.id, f.ident LIMIT $5)) k
            ORDER BY realm, ident LIMIT $5),
        marked AS (
            UPDATE client_files f SET state = 'resetRequired', campaign = $6 FROM keys k
            WHERE f.slice = $1 AND f.realm = k.realm AND f.ident = k.ident AND f.generation < $7
                AND f.state IN ('live', 'resetRequired'))
        SELECT realm, ident, (SELECT count(*) FROM keys) FROM keys ORDER BY realm DESC, ident DESC LIMIT 1
        """

    /// The fence of a transaction of several steps: what follows in it is written by the owner or not at all.
    func requireOwned(_ epoch: Epoch, _ transaction: PostgresTransaction) async throws {
        let row = try await transaction.query(
            "SELECT epoch, released FROM ownership WHERE slice = $1 FOR UPDATE", .int(number)
        ).first
        guard let row, Epoch(row.number(0)) == epoch, !row.bool(1) else {
            throw fenced(epoch, found: row.map { Epoch($0.number(0)) })
        }
    }
}

extension TerminationSteps {
    /// Stores how far a termination is.
    var putting: String {
        """
        INSERT INTO termination_steps (slice, app, generation, campaign, last_realm, last_ident, marked, chunks, reported)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
        ON CONFLICT (slice, campaign) DO UPDATE SET app = excluded.app, generation = excluded.generation,
            last_realm = excluded.last_realm, last_ident = excluded.last_ident, marked = excluded.marked,
            chunks = excluded.chunks, reported = excluded.reported
        """
    }

    func values(_ slice: Int64) -> [PostgresValue] {
        [
            .int(slice), .string(app), .int(generation.stored), .string(campaign), .int(last?.realm.value),
            .int(last?.ident.stored), .bool(isMarked), .int(chunks.map { Int64($0) }), .int(Int64(reported)),
        ]
    }
}
