import PostgreSQL
import Storage

/// Rows of a table that follow each other under a number, each query's until its bytes are reached: the statement that reads the
/// pages of all queries at once.
///
/// Where a page ends is found first, a chunk of rows at a time, by the rows' lengths alone: so a query costs what it returns, not
/// what follows.
struct PostgresPage {
    /// A query for rows with numbers after `after`, up to and including `through`.
    struct Query {
        /// The key before the number: realm and series, or realm and ident.
        var key: (Int64, Int64)
        var after: Int64
        var through = Int64.max
        var maxBytes: Int
        /// The contents are neither returned nor counted.
        var omitsContent = false
    }

    /// `slice`, `$1`, is the first column of the key; $2 to $7 are the queries.
    let sql: String

    /// - Parameters:
    ///   - key: the columns before the number.
    ///   - columns: what is returned of a row before its content.
    init(table: String, key: (String, String), number: String, columns: [String], content: String) {
        let inPlace = "t.slice = $1 AND t.\(key.0) = e.k0 AND t.\(key.1) = e.k1"
        let octets = "CASE WHEN e.omit THEN 0 ELSE octet_length(t.\(content)) END + \(HistoryQuery.overhead)"
        sql = """
            WITH RECURSIVE ends AS (
                SELECT q.*, q.after AS reached, 0::bigint AS total, \(Self.chunk)::bigint AS rows
                FROM unnest($2, $3, $4, $5, $6, $7) WITH ORDINALITY AS q (k0, k1, after, through, maximum, omit, n)
            UNION ALL
                SELECT e.k0, e.k1, e.after, e.through, e.maximum, e.omit, e.n, c.reached, e.total + c.total, c.rows
                FROM ends e CROSS JOIN LATERAL (
                    SELECT max(p.number) AS reached, sum(p.octets)::bigint AS total, count(*) AS rows FROM (
                        SELECT t.\(number) AS number, \(octets) AS octets FROM \(table) t
                        WHERE \(inPlace) AND t.\(number) > e.reached AND t.\(number) <= e.through
                        ORDER BY t.\(number) LIMIT \(Self.chunk)) p) c
                WHERE e.rows = \(Self.chunk) AND (e.total < e.maximum OR e.total = 0) AND c.rows > 0
            )
            SELECT x.n, \(columns.map { "x.\($0)" }.joined(separator: ", ")),
                CASE WHEN x.omit THEN ''::bytea ELSE x.\(content) END
            FROM (
                SELECT e.n, e.maximum, e.omit, t.*,
                    sum(\(octets)) OVER (PARTITION BY e.n ORDER BY t.\(number)) - (\(octets)) AS before
                FROM (
                    SELECT n, k0, k1, after, maximum, omit, max(reached) AS reached FROM ends
                    GROUP BY n, k0, k1, after, maximum, omit) e
                CROSS JOIN LATERAL (
                    SELECT * FROM \(table) t
                    WHERE \(inPlace) AND t.\(number) > e.after AND t.\(number) <= e.reached OFFSET 0) t
            ) x
            WHERE x.before < x.maximum OR x.before = 0
            ORDER BY x.n, x.\(number)
            """
    }

    private static let chunk = 256

    func parameters(_ slice: Int64, _ queries: [Query]) -> [PostgresValue] {
        [
            .int(slice), .ints(queries.map(\.key.0)), .ints(queries.map(\.key.1)), .ints(queries.map(\.after)),
            .ints(queries.map(\.through)), .ints(queries.map { Int64($0.maxBytes) }),
            .bools(queries.map(\.omitsContent)),
        ]
    }

    /// The rows of each query; a row's first column is the query's number, from 1.
    static func rows(_ result: PostgresRows, queries: Int) -> [[PostgresRow]] {
        var rows = [[PostgresRow]](repeating: [], count: queries)
        for row in result where rows.indices.contains(Int(row.int(0)) - 1) { rows[Int(row.int(0)) - 1].append(row) }
        return rows
    }
}
