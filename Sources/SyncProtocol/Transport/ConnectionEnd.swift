/// How a connection, or the attempt to make one, ended.
package enum ConnectionEnd: Hashable, Sendable {
    /// A close frame came.
    case closeFrame(CloseCode)
    /// The upgrade was answered with this status instead of 101.
    case httpStatus(Int)
    /// The answer to the upgrade was no HTTP, or a 101 that breaks the rules of WebSocket.
    case malformedResponse
    case tlsFailure
    /// End of stream, reset, read or write error, or no PONG in time.
    case lost
    /// DNS or TCP failure, or no connection in time.
    case unreachable
}

/// The reaction of a client.
package struct ConnectionReaction: Hashable, Sendable {
    package enum Action: Hashable, Sendable {
        /// Nothing yet: wait for the end of the TCP connection.
        case wait
        /// Connect again after a backoff.
        case reconnect
        /// Ask for the location and a new token, then restart the sessions.
        case refreshLocation
        /// Get a new access token, then connect again.
        case refreshUser
        /// Log the user out and stop the sessions.
        case logOutUser
        /// The largest upload that was sent is more than the server takes: its realm stops, and keeps what it has. Stock clients reset every
        /// realm of the connection, and send the same again once they have.
        case stopUpload
    }

    /// The report to the app's error handler.
    package enum Report: Hashable, Sendable {
        case silent
        case nonFatal
        case fatal
    }

    package let action: Action
    package let report: Report
    /// Whether the client, besides the action, asks for the location again, because the route has never worked.
    package let alsoRefreshesLocation: Bool

    package init(_ action: Action, _ report: Report, alsoRefreshesLocation: Bool = false) {
        self.action = action
        self.report = report
        self.alsoRefreshesLocation = alsoRefreshesLocation
    }
}

extension ConnectionEnd {
    /// The table of docs/protocol.md, "Close codes".
    /// - Parameter routeIsVerified: the address came from a location answer, or has worked before.
    package func reaction(routeIsVerified: Bool) -> ConnectionReaction {
        switch self {
        case .closeFrame(let code): Self.reaction(to: code)
        case .httpStatus(let status): Self.reaction(toStatus: status, routeIsVerified: routeIsVerified)
        case .malformedResponse: Self.refused(routeIsVerified: routeIsVerified)
        case .tlsFailure: ConnectionReaction(.reconnect, .nonFatal)
        case .lost: ConnectionReaction(.reconnect, .silent)
        case .unreachable: ConnectionReaction(.reconnect, .silent, alsoRefreshesLocation: !routeIsVerified)
        }
    }

    private static func reaction(to code: CloseCode) -> ConnectionReaction {
        switch code.rawValue {
        case 1000: ConnectionReaction(.wait, .silent)
        // 1006 hides an HTTP status that the transport could not see.
        case 1006, 4001: ConnectionReaction(.refreshUser, .silent)
        case 1009: ConnectionReaction(.stopUpload, .nonFatal)
        case 4002: ConnectionReaction(.logOutUser, .fatal)
        case 4003: ConnectionReaction(.refreshLocation, .silent)
        default: ConnectionReaction(.reconnect, .nonFatal)
        }
    }

    private static func reaction(toStatus status: Int, routeIsVerified: Bool) -> ConnectionReaction {
        switch status {
        case 301, 308: ConnectionReaction(.refreshLocation, .silent)
        case 401: ConnectionReaction(.refreshUser, .silent)
        case 403: ConnectionReaction(.logOutUser, .fatal)
        case 300...399, 500...599: ConnectionReaction(.reconnect, .nonFatal)
        default: refused(routeIsVerified: routeIsVerified)
        }
    }

    private static func refused(routeIsVerified: Bool) -> ConnectionReaction {
        routeIsVerified ? ConnectionReaction(.reconnect, .fatal) : ConnectionReaction(.refreshLocation, .silent)
    }
}
