package import SyncModel

/// A rule of the protocol that a peer broke, or that we were about to break.
///
/// It carries the error code to answer, so that a gateway can turn it into a JSON_ERROR as it is. `message` names no
/// payload and no secret.
package struct SyncProtocolError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Fault: String, Sendable {
        /// The peer's message is against the rules.
        case received
        /// The message that was about to be sent is against the rules; nothing was sent.
        case sending
    }

    package let fault: Fault
    package let code: ErrorCode
    /// The session concerned, where it is known; `.connection` otherwise.
    package let session: SessionIdent
    /// The action that replaces the table's action for this code.
    package let actionOverride: ErrorAction?
    package let message: String
    /// The reason that the close frame gives where the socket is closed with 1009 for a session's message beyond the limits.
    package let closeReason: String?

    package init(
        _ code: ErrorCode, session: SessionIdent = .connection, fault: Fault = .received, action: ErrorAction? = nil,
        closeReason: String? = nil, _ message: String
    ) {
        self.fault = fault
        self.code = code
        self.session = session
        self.actionOverride = action
        self.message = message
        self.closeReason = closeReason
    }

    /// Whether the answer ends one session or the connection.
    package var scope: ErrorScope { session.isConnection ? .connection : code.scope ?? .connection }

    package var action: ErrorAction { actionOverride ?? code.entry?.action ?? .applicationBug }

    /// The session to name in the answer: 0 when it concerns the connection.
    package var answeredSession: SessionIdent { scope == .session ? session : .connection }

    /// The JSON_ERROR that tells the peer, or nil if the code must not be sent.
    package var answer: ServerMessage? {
        guard fault == .received, !code.abortsStockClient else { return nil }
        let body = JSONErrorBody(
            code: code, message: message, action: action,
            tryAgain: actionOverride == nil ? code.entry?.tryAgain ?? false : action == .transient)
        return .jsonError(session: answeredSession, code: code, body: body)
    }

    package var description: String { "\(code), session \(session): \(message)" }

    func attributed(to session: SessionIdent) -> SyncProtocolError {
        SyncProtocolError(
            code, session: session, fault: fault, action: actionOverride, closeReason: closeReason, message)
    }
}
