package import SyncModel

/// All sessions of one connection as a server sees it: the order of messages in both directions, idents in use, PING
/// and PONG (docs/protocol.md, "What the server checks", "What the client checks" and "Sessions").
package struct ServerConnectionChecker: Sendable {
    package let mode: SyncMode
    package let version: ProtocolVersion
    package let limits: ProtocolLimits
    package private(set) var sessions: [SessionIdent: ServerSessionChecker] = [:]
    /// An error of the connection came up or was sent: nothing counts any more.
    package private(set) var isClosed = false
    private var pendingPing: UInt64?

    /// - Parameter version: the client's build, as for `MessageEncoder`.
    package init(mode: SyncMode, version: ProtocolVersion = .maximum, limits: ProtocolLimits = .standard) {
        self.mode = mode
        self.version = min(version, .maximum)
        self.limits = limits
    }

    package func session(_ session: SessionIdent) -> ServerSessionChecker? { sessions[session] }

    /// Tells the checker what is on record for the file of a session that has identified itself.
    package mutating func identified(
        _ session: SessionIdent, upload: UploadCursor, lockedServerVersion: ServerVersion = 0
    ) {
        sessions[session]?.identified(upload: upload, lockedServerVersion: lockedServerVersion)
    }

    package mutating func receive(_ message: ClientMessage) -> ServerVerdict {
        guard !isClosed else { return .ignore }
        let verdict = verdict(on: message)
        if case .fail(let error) = verdict, error.scope == .connection { isClosed = true }
        return verdict
    }

    private mutating func verdict(on message: ClientMessage) -> ServerVerdict {
        guard let session = message.session else {
            if case .ping(let timestamp, _) = message { pendingPing = timestamp }
            return .accept
        }
        if case .bind(let bind) = message, sessions[session] == nil {
            guard sessions.count < limits.maxSessions else {
                return .fail(
                    SyncProtocolError(
                        .otherError, action: .protocolViolation,
                        "limit exceeded: \(limits.maxSessions) sessions on one connection"))
            }
            sessions[session] = ServerSessionChecker(bind: bind, mode: mode, version: version)
            return .accept
        }
        guard var checker = sessions[session] else {
            return .fail(
                SyncProtocolError(.badSessionIdent, session: session, "\(message.name) for a session not bound"))
        }
        if case .ident(let ident) = message, isBoundElsewhere(ident, target: checker.bind.target) {
            return .fail(SyncProtocolError(.boundInOtherSession, session: session, "IDENT of a file bound already"))
        }
        let verdict = checker.receive(message)
        // Without an UNBOUND to send, the ident is free at once.
        sessions[session] = verdict == .unbind(answer: false) ? nil : checker
        return verdict
    }

    private func isBoundElsewhere(_ ident: Ident, target: String) -> Bool {
        sessions.values.contains { other in
            // Partition realms number their files each for itself; a flexible app has one realm.
            other.session != ident.session && other.holdsFile && other.file?.ident == ident.file.ident
                && (mode == .flexible || other.bind.target == target)
        }
    }

    /// Checks what is about to be sent and takes note of it; call it right before encoding, and in the order of sending.
    package mutating func send(_ message: ServerMessage) throws(SyncProtocolError) {
        func refusal(_ text: String) -> SyncProtocolError {
            SyncProtocolError(.badMessageOrder, session: message.session ?? .connection, fault: .sending, text)
        }
        switch message {
        case .logMessage: return
        case .pong(let timestamp):
            guard pendingPing == timestamp else { throw refusal("a PONG that nothing asked for") }
            pendingPing = nil
        case .jsonError(let session, _, _) where session.isConnection: isClosed = true
        case .error(let error) where error.session.isConnection: isClosed = true
        default:
            guard let session = message.session, var checker = sessions[session] else {
                throw refusal("\(message.name) for a session not bound")
            }
            try checker.send(message)
            if case .unbound = message { sessions[session] = nil } else { sessions[session] = checker }
        }
    }
}
