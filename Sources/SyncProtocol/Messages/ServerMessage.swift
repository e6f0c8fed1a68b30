package import SyncModel

/// A message of a server (docs/protocol.md, "Server messages").
package enum ServerMessage: Hashable, Sendable {
    /// A new client realm's number and salt; only when BIND asked for it.
    case ident(session: SessionIdent, file: ClientFileIdent)
    case download(Download)
    case mark(session: SessionIdent, request: RequestIdent)
    case unbound(session: SessionIdent)
    /// An exact echo of the PING's time stamp.
    case pong(timestamp: UInt64)
    /// The old form, which carries no action; `jsonError` replaces it.
    case error(PlainError)
    /// `session` 0 speaks of the connection.
    case jsonError(session: SessionIdent, code: ErrorCode, body: JSONErrorBody)
    case queryError(QueryError)
    case logMessage(LogMessage)
    case testCommand(TestCommand)

    /// The session it speaks of, 0 for the connection; nil for a PONG.
    package var session: SessionIdent? {
        switch self {
        case .ident(let session, _), .mark(let session, _), .unbound(let session), .jsonError(let session, _, _):
            session
        case .download(let download): download.session
        case .pong: nil
        case .error(let error): error.session
        case .queryError(let error): error.session
        case .logMessage(let message): message.session
        case .testCommand(let command): command.session
        }
    }

    /// The first word on the wire; for logs and metrics.
    package var name: String {
        switch self {
        case .ident: "ident"
        case .download: "download"
        case .mark: "mark"
        case .unbound: "unbound"
        case .pong: "pong"
        case .error: "error"
        case .jsonError: "json_error"
        case .queryError: "query_error"
        case .logMessage: "log_message"
        case .testCommand: "test_command"
        }
    }
}
