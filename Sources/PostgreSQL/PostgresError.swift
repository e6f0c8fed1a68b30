/// Why PostgreSQL, or the way to it, did not do what was asked.
///
/// The message says what was expected and what came. It never contains a password or a parameter's value.
package struct PostgresError: Error, Sendable, CustomStringConvertible {
    package enum Kind: String, Sendable {
        /// The connection string cannot be read.
        case invalidURL
        /// No server could be reached in time, or none of them takes connections yet.
        case unreachable
        /// The server refuses the user, the password, or the database.
        case denied
        /// The connection was lost, or the server ended it.
        case lost
        /// The answer did not come in time.
        case timeout
        /// Too many pipelines wait for a connection.
        case busy
        /// The task that asked was cancelled before anything was sent.
        case cancelled
        /// The client was closed on this side.
        case closed
        /// The server takes no writes: a standby, or a primary that was demoted.
        case readOnly
        /// The transaction stood in the way of another one (serialization failure, deadlock) and was rolled back.
        case conflict
        /// A row of this key is there already.
        case unique
        /// A table or schema is not there.
        case undefinedTable
        /// The database role may not do this.
        case notPermitted
        /// The server, or its version, cannot do what is needed.
        case unsupported
        /// The server has no room left on its disk.
        case full
        case other
    }

    package var kind: Kind
    package var message: String
    /// The server's code for the error, if the server raised it.
    package var sqlState: String?
    /// The statement of the pipeline that failed, counted from 0.
    package var statement: Int?
    /// The name of the constraint that was violated.
    package var constraint: String?
    /// The connection was lost while changes were under way: whether they were made is not known. Read them back before anything
    /// is repeated.
    package var mayHaveHappened = false

    package init(
        _ kind: Kind, _ message: String, sqlState: String? = nil, statement: Int? = nil, constraint: String? = nil
    ) {
        self.kind = kind
        self.message = message
        self.sqlState = sqlState
        self.statement = statement
        self.constraint = constraint
    }

    /// Whether the same may succeed later without any change by an operator or the caller.
    package var isRetriable: Bool {
        switch kind {
        case .unreachable, .lost, .timeout, .busy, .readOnly, .conflict: true
        default: false
        }
    }

    package var description: String {
        sqlState.map { "PostgreSQL \($0), \(kind.rawValue): \(message)" } ?? "PostgreSQL, \(kind.rawValue): \(message)"
    }
}

extension PostgresError.Kind {
    /// What a server's code for an error means to a client.
    init(sqlState: String) {
        self =
            switch sqlState {
            case "40001", "40P01": .conflict
            case "23505": .unique
            case "25006": .readOnly
            case "42P01", "3F000": .undefinedTable
            case "42501": .notPermitted
            case "53100": .full
            case "57014": .timeout
            case "28000", "28P01", "3D000": .denied
            case "53300", "57P03": .unreachable
            // The server shuts down, was told to end this connection, or another of its processes crashed.
            case "57P01", "57P02", "57P05": .lost
            default: sqlState.hasPrefix("08") ? .lost : .other
            }
    }
}

extension PostgresError {
    /// A prepared statement does not fit its tables any more, or is not there.
    var isAboutPreparing: Bool { sqlState == "26000" || sqlState == "0A000" && message.contains("cached plan") }

    /// Whether the connection on which it came is of no further use: another one may lead to another server.
    var endsConnection: Bool { kind == .lost || kind == .readOnly || isAboutPreparing }
}
