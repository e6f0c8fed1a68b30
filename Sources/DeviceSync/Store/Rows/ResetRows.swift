internal import GRDB

/// What a realm's file has of its client resets: the record of one that the server has not acknowledged, and reports that are not queued yet.
struct ResetRows {
    static let tables = """
        CREATE TABLE IF NOT EXISTS client_reset_metadata(
            core_version TEXT NOT NULL, time INTEGER NOT NULL, mode INTEGER NOT NULL, action INTEGER NOT NULL,
            error_code INTEGER NOT NULL, error_msg TEXT NOT NULL, attempt TEXT NOT NULL,
            cut_off INTEGER NOT NULL);
        """

    /// The names under which a realm keeps reports on its client resets until they are queued.
    enum ReportName: String {
        /// The report of a reset that has ended.
        case outcome = "reset_outcome"
        /// The report that a reset was cut off, for as long as one is under way.
        case attempt = "reset_attempt"
    }

    private let database: Database

    init(_ database: Database) { self.database = database }

    /// The record of a client reset, nil unless there is exactly one row that this version wrote and understands.
    func pending() -> PendingReset? {
        guard let records = try? PendingReset.fetchAll(database), records.count == 1 else { return nil }
        return records[0].coreVersion == SDK.version ? records[0] : nil
    }

    func set(_ record: PendingReset) throws {
        // A table of another shape, from another version, makes way.
        try database.execute(sql: "DROP TABLE IF EXISTS client_reset_metadata; \(Self.tables)")
        try record.insert(database)
    }

    func clear() throws { try PendingReset.deleteAll(database) }

    func report(_ name: ReportName) throws -> ResetOutcome? {
        try database.meta(name.rawValue).map(ResetOutcome.init(json:))
    }

    /// - Parameter report: nil once it is queued.
    func setReport(_ name: ReportName, _ report: ResetOutcome?) throws {
        try database.setMeta(name.rawValue, report?.json())
    }
}
