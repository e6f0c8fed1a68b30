/// A message of a client (docs/protocol.md, "Client messages").
package enum ClientMessage: Hashable, Sendable {
    case bind(Bind)
    case ident(Ident)
    case query(Query)
    case upload(Upload)
    /// Asks to be told once all history that exists on arrival has been sent.
    case mark(session: SessionIdent, request: RequestIdent)
    case unbind(session: SessionIdent)
    /// `timestamp` is the client's own clock; `roundTrip` the last measured, 0 if none. Both in milliseconds.
    case ping(timestamp: UInt64, roundTrip: UInt64)
    /// The client could not integrate a DOWNLOAD.
    case jsonError(ClientJSONError)
    /// Sent by test builds only; to be answered `{}` and not obeyed.
    case testCommand(TestCommand)

    /// The session it speaks of; nil for a PING.
    package var session: SessionIdent? {
        switch self {
        case .bind(let bind): bind.session
        case .ident(let ident): ident.session
        case .query(let query): query.session
        case .upload(let upload): upload.session
        case .mark(let session, _), .unbind(let session): session
        case .ping: nil
        case .jsonError(let error): error.session
        case .testCommand(let command): command.session
        }
    }

    /// The first word on the wire; for logs and metrics.
    package var name: String {
        switch self {
        case .bind: "bind"
        case .ident: "ident"
        case .query: "query"
        case .upload: "upload"
        case .mark: "mark"
        case .unbind: "unbind"
        case .ping: "ping"
        case .jsonError: "json_error"
        case .testCommand: "test_command"
        }
    }
}
