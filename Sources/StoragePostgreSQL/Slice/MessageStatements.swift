import PostgreSQL
import Storage
import SyncModel

/// The part of a commit about messages: those that were dealt with, and those that are still to be sent.
enum MessageStatements {
    static func remember(_ ids: [String], _ statements: inout SliceStatements) {
        guard !ids.isEmpty else { return }
        statements.add(
            """
            INSERT INTO seen_messages (slice, id, number)
            SELECT $1, q.id, m.last + row_number() OVER (ORDER BY q.n)
            FROM unnest($2) WITH ORDINALITY AS q (id, n)
            CROSS JOIN (SELECT coalesce(max(number), 0) AS last FROM seen_messages WHERE slice = $1) m
            WHERE NOT EXISTS (SELECT 1 FROM seen_messages s WHERE s.slice = $1 AND s.id = q.id)
            ON CONFLICT (slice, id) DO NOTHING
            """, .strings(ids))
        statements.add(
            """
            DELETE FROM seen_messages WHERE slice = $1
                AND number <= (SELECT max(number) FROM seen_messages WHERE slice = $1) - $2
            """, .int(Int64(SliceBatch.rememberedMessages)))
    }

    static func putOutbox(_ batch: SliceBatch, _ statements: inout SliceStatements) {
        if !batch.outbox.isEmpty {
            statements.add(
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
            statements.add("DELETE FROM outbox WHERE slice = $1 AND id = ANY($2)", .strings(batch.outboxRemovals))
        }
    }
}
