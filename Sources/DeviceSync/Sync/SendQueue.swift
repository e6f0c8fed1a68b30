internal import SyncProtocol

/// The sessions that may have something to send, in the order of their turns. A session stands in the queue once at most.
struct SendQueue: Sendable {
    private var order: [SessionIdent] = []
    private var members: Set<SessionIdent> = []

    mutating func append(_ ident: SessionIdent) {
        if members.insert(ident).inserted { order.append(ident) }
    }

    /// Takes the session out whose turn it is; nil if none is waiting.
    mutating func next() -> SessionIdent? {
        guard let ident = order.first else { return nil }
        order.removeFirst()
        members.remove(ident)
        return ident
    }

    mutating func removeAll() { self = SendQueue() }
}
