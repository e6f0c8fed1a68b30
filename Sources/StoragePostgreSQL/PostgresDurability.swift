import PostgreSQL
package import Storage

/// The settings of a server that say what a commit waits for.
package struct PostgresDurability: Sendable {
    /// `synchronous_commit`, for this role and database.
    var commit: String
    var syncsFiles: Bool
    /// `synchronous_standby_names`.
    var standbys: String

    static let selecting = """
        current_setting('synchronous_commit'), current_setting('fsync'), current_setting('synchronous_standby_names')
        """

    package init(commit: String, syncsFiles: Bool, standbys: String) {
        self.commit = commit
        self.syncsFiles = syncsFiles
        self.standbys = standbys
    }

    /// - Parameter column: the first of those of `selecting`.
    init(_ row: PostgresRow, at column: Int) {
        self.init(
            commit: row.text(column), syncsFiles: row.text(column + 1) == "on", standbys: row.text(column + 2))
    }

    /// Where standbys are named, a commit waits for them even if none is connected.
    package var extent: StoreDurability {
        guard commit != "off", syncsFiles else { return .memory }
        guard commit != "local", !standbys.allSatisfy(\.isWhitespace) else { return .oneDisk }
        return commit == "remote_write" ? .diskAndMemory : .twoDisks
    }
}
