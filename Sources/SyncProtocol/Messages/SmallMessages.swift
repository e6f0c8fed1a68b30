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

    package init(session: SessionIdent, code: ErrorCode, tryAgain: Bool, message: String) {
        self.session = session
        self.code = code
        self.tryAgain = tryAgain
        self.message = message
    }
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

/// LOG_MESSAGE: a line for the client's log, or the connection's id.
package struct LogMessage: Hashable, Sendable {
    package enum Level: String, Sendable {
        case fatal, error, warn, info, detail, debug, trace
    }

    package var session: SessionIdent
    package var connectionID: String?
    package var level: Level?
    package var text: String?

    package init(
        session: SessionIdent = .connection, connectionID: String? = nil, level: Level? = nil, text: String? = nil
    ) {
        self.session = session
        self.connectionID = connectionID
        self.level = level
        self.text = text
    }
}
