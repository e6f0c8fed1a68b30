import DequeModule
import Messages
import SyncModel

/// The sessions of one realm that were bound at this owner, and those of them that have ended, as far as memory goes back.
///
/// A request may come twice: delivered again, or published again by somebody who lost a confirm. Each is answered once, and
/// `questions` has what is asked back of those that come to an owner for the first time, although they may be old.
struct SessionBook {
    struct Session {
        var connection: String
        /// Once it has said which client file it is.
        var clientFile: FileIdent?
        /// The newest version that it asked a page after.
        var askedAfter: ServerVersion = 0
    }

    enum Standing {
        /// Bound at another owner, or forgotten, or never there.
        case unknown
        case open(Session)
        case ended
    }

    var questions = IdentQuestions()
    private static let maxOpen = 4_000
    private static let maxEnded = 1_000
    private var open: [SessionReference: Session] = [:]
    /// The sessions that have ended, with their connections.
    private var ended: [SessionReference: String] = [:]
    private var endedInOrder: Deque<SessionReference> = []

    func standing(of session: SessionReference) -> Standing {
        if let info = open[session] { return .open(info) }
        return ended[session] == nil ? .unknown : .ended
    }

    /// Whether this very session was bound here before. A gateway's next life may count from the same number.
    func wasBound(_ session: SessionReference, on connection: String) -> Bool {
        (open[session]?.connection ?? ended[session]) == connection
    }

    func connection(of session: SessionReference) -> String? { open[session]?.connection }

    mutating func bound(_ session: SessionReference, on connection: String) {
        if open.count >= Self.maxOpen { open.removeAll() }
        if ended.removeValue(forKey: session) != nil { endedInOrder.removeAll { $0 == session } }
        open[session] = Session(connection: connection)
    }

    mutating func identified(_ session: SessionReference, as ident: FileIdent) {
        open[session]?.clientFile = ident
        questions.close(session)
    }

    mutating func asked(_ session: SessionReference, after version: ServerVersion) {
        open[session]?.askedAfter = version
    }

    mutating func ended(_ session: SessionReference) {
        questions.close(session)
        guard let info = open.removeValue(forKey: session) else { return }
        ended[session] = info.connection
        endedInOrder.append(session)
        while endedInOrder.count > Self.maxEnded, let oldest = endedInOrder.popFirst() { ended[oldest] = nil }
    }
}
