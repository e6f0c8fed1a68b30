import Logging

/// The standbys that commits wait for on a server that has synchronous ones, and those of them that are there.
package struct SynchronousStandbys: Sendable, Equatable {
    /// `synchronous_standby_names`.
    package var names: String
    /// `synchronous_commit`, for this role and database.
    package var commit: String
    /// The servers that follow this one, by `application_name`, each with its `sync_state` where this role may see that.
    package var connected: [String]
    /// How many of them a commit may count on; nil if this role may not see it.
    package var synchronous: Int?
    /// Sessions whose commits wait, as far as this role sees them, and for how many seconds the first of them has.
    package var waiting: Int
    package var longest: Int

    /// A commit that has waited for so many seconds although a standby is there waits for too long.
    private static let patience = 3
}

extension SynchronousStandbys {
    package init(on client: PostgresClient) async throws(PostgresError) {
        let rows = try await client.query(
            """
            SELECT current_setting('synchronous_standby_names'), current_setting('synchronous_commit'), w.waiting, w.longest,
                r.names, r.synchronous, r.hidden
            FROM (
                SELECT count(*), coalesce(extract(epoch FROM max(clock_timestamp() - query_start)), 0)::bigint
                FROM pg_stat_activity WHERE wait_event = 'SyncRep') AS w (waiting, longest),
                (
                SELECT coalesce(string_agg(application_name || coalesce(' (' || sync_state || ')', ''), ', '
                    ORDER BY application_name), ''),
                    count(*) FILTER (WHERE sync_state IN ('sync', 'quorum')), count(*) FILTER (WHERE sync_state IS NULL)
                FROM pg_stat_replication) AS r (names, synchronous, hidden)
            """)
        guard let row = rows.first else { throw PostgresError(.other, "the server answers nothing") }
        self.init(
            names: row.text(0), commit: row.text(1),
            connected: row.text(4).split(separator: ", ").map(String.init),
            synchronous: row.int(6) == 0 ? Int(row.int(5)) : nil, waiting: Int(row.int(2)), longest: Int(row.int(3)))
    }

    /// The obstacle that keeps commits from being acknowledged, and what an operator can do about it; nil if nothing does.
    package var obstacle: String? {
        guard commit != "off", commit != "local", !names.allSatisfy(\.isWhitespace) else { return nil }
        let isThere = synchronous.map { $0 > 0 } ?? !connected.isEmpty
        guard !isThere || waiting > 0 && longest >= Self.patience else { return nil }
        let found =
            connected.isEmpty
            ? "no standby is connected" : "connected: \(connected.prefix(8).joined(separator: ", "))"
        let waits = waiting > 0 ? "; \(waiting) commits wait, the first for \(longest) s" : ""
        return """
            commits wait for a standby: synchronous_standby_names is '\(names)', and \(found)\(waits). Start that standby, or see \
            why it does not follow; to go on with one machine's disk alone, run ALTER SYSTEM SET synchronous_standby_names = '' \
            and SELECT pg_reload_conf() on the primary
            """
    }
}

/// Finds out why a server that can be reached gives no answer, for errors that would otherwise say only that.
///
/// The client's own connections may all wait for the same thing, so this makes one of its own: one at a time, and not more than one
/// in some seconds, however many callers ask.
actor ObstacleWatch {
    private static let freshness = Duration.seconds(5)

    private let configuration: PostgresConfiguration
    private var last: (text: String?, at: ContinuousClock.Instant)?
    private var looking: Task<String?, Never>?

    init(_ configuration: PostgresConfiguration) {
        var configuration = configuration
        configuration.connections = 1
        configuration.sessions = 0
        configuration.patience = .seconds(2)
        configuration.timeout = .seconds(2)
        configuration.metrics = nil
        configuration.namesObstacles = false
        self.configuration = configuration
    }

    /// What stands in the way of commits; nil if nothing is known to.
    func find() async -> String? {
        if let last, ContinuousClock.now < last.at + Self.freshness { return last.text }
        let task =
            looking
            ?? Task { [configuration] in
                let client = PostgresClient(
                    configuration, logger: Logger(label: "sluice.obstacles") { _ in SwiftLogNoOpLogHandler() })
                let found = try? await SynchronousStandbys(on: client)
                await client.close()
                return found?.obstacle
            }
        looking = task
        let text = await task.value
        looking = nil
        last = (text, .now)
        return text
    }
}
