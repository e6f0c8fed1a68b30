package import SyncModel

/// A client's JSON_ERROR: 212 bad changeset, 233 bad progress, 112 bootstrap too large to store, 201 anything else.
/// Afterwards the client ignores DOWNLOADs until the session ends in an error or the connection is lost.
package struct ClientJSONError: Hashable, Sendable {
    package var session: SessionIdent
    package var code: ErrorCode
    package var message: String

    package init(session: SessionIdent, code: ErrorCode, message: String) {
        self.session = session
        self.code = code
        self.message = message
    }
}

/// A test build's command, or the answer to it; JSON text.
package struct TestCommand: Hashable, Sendable {
    package var session: SessionIdent
    package var request: RequestIdent
    package var text: String

    package init(session: SessionIdent, request: RequestIdent, text: String) {
        self.session = session
        self.request = request
        self.text = text
    }
}

/// The plain ERROR message.
package struct PlainError: Hashable, Sendable {
    package var session: SessionIdent
    package var code: ErrorCode
    package var tryAgain: Bool
    package var message: String
}

/// QUERY_ERROR: a subscription set is refused, the session goes on with the one in force.
package struct QueryError: Hashable, Sendable {
    package var session: SessionIdent
    package var code: ErrorCode
    package var queryVersion: QueryVersion
    package var message: String

    package init(session: SessionIdent, code: ErrorCode = .badQuery, queryVersion: QueryVersion, message: String) {
        self.session = session
        self.code = code
        self.queryVersion = queryVersion
        self.message = message
    }
}

/// LOG_MESSAGE: a line for the client's log, or what the connection is: its id, and by which rules the app's copies are made.
package struct LogMessage: Hashable, Sendable {
    /// The header of an upgrade by which a client says which rules it knows, separated by commas. The server's first
    /// LOG_MESSAGE answers with the app's.
    package static let compatibilityHeader = "Sluice-Compatibility"

    package enum Level: String, Sendable {
        case fatal, error, warn, info, detail, debug, trace
    }

    package var session: SessionIdent
    package var connectionID: String?
    /// Only from Sluice, and only to clients that asked.
    package var compatibility: String?
    package var level: Level?
    package var text: String?

    package init(
        session: SessionIdent = .connection, connectionID: String? = nil, compatibility: String? = nil,
        level: Level? = nil, text: String? = nil
    ) {
        self.session = session
        self.connectionID = connectionID
        self.compatibility = compatibility
        self.level = level
        self.text = text
    }
}
