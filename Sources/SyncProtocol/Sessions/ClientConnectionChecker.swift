package import SyncModel

/// All sessions of one connection as a client sees it. What `receive` throws closes the connection.
package struct ClientConnectionChecker: Sendable {
    package let mode: SyncMode
    package let version: ProtocolVersion
    package private(set) var sessions: [SessionIdent: ClientSessionChecker] = [:]
    private var pendingPing: UInt64?

    package init(mode: SyncMode, version: ProtocolVersion = .maximum) {
        self.mode = mode
        self.version = version
    }

    package mutating func setNewestClientVersion(_ version: ClientVersion, for session: SessionIdent) {
        sessions[session]?.setNewestClientVersion(version)
    }

    /// Takes note of the client's IDENT, with the upload cursor as persisted.
    package mutating func sendIdent(
        _ ident: Ident, upload: UploadCursor, newestClientVersion: ClientVersion?
    ) throws(SyncProtocolError) {
        var checker = try bound(ident.session, "ident")
        try checker.sendIdent(ident, upload: upload, newestClientVersion: newestClientVersion)
        sessions[ident.session] = checker
    }

    /// Takes note of anything but IDENT; throws if it must not be sent now.
    package mutating func send(_ message: ClientMessage) throws(SyncProtocolError) {
        switch message {
        case .bind(let bind):
            guard sessions[bind.session] == nil else { throw refusal("BIND of a bound session", bind.session) }
            sessions[bind.session] = ClientSessionChecker(bind: bind, mode: mode, version: version)
        case .ping(let timestamp, _):
            guard pendingPing == nil else { throw refusal("PING while one is unanswered", .connection) }
            pendingPing = timestamp
        default:
            guard let session = message.session else { return }
            var checker = try bound(session, message.name)
            try checker.send(message)
            sessions[session] = checker.state == .ended ? nil : checker
        }
    }

    package mutating func receive(_ message: ServerMessage) throws(SyncProtocolError) {
        if case .logMessage = message { return }
        if case .pong(let timestamp) = message {
            guard pendingPing == timestamp else {
                throw SyncProtocolError(.badMessageOrder, "a PONG that nothing asked for")
            }
            pendingPing = nil
            return
        }
        guard let session = message.session, !session.isConnection else { return }
        guard var checker = sessions[session] else {
            throw SyncProtocolError(.badSessionIdent, session: session, "\(message.name) for a session not bound")
        }
        try checker.receive(message)
        sessions[session] = checker.state == .ended ? nil : checker
    }

    private func refusal(_ message: String, _ session: SessionIdent) -> SyncProtocolError {
        SyncProtocolError(.badMessageOrder, session: session, fault: .sending, message)
    }

    private func bound(_ session: SessionIdent, _ name: String) throws(SyncProtocolError) -> ClientSessionChecker {
        guard let checker = sessions[session] else { throw refusal("\(name) for a session not bound", session) }
        return checker
    }
}
