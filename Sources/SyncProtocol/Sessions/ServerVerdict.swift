/// The verdict of a server on a client's message.
package enum ServerVerdict: Hashable, Sendable {
    /// Act on it.
    case accept
    /// Drop it: the session has ended in an error and the client does not know yet.
    case ignore
    /// The session is over. `answer`: send UNBOUND, which frees the session ident; else it is free already, and nothing
    /// may be sent.
    case unbind(answer: Bool)
    /// Answer with `error.answer`: it ends the session, or the connection.
    case fail(SyncProtocolError)
}
