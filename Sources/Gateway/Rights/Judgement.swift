import Messages
import SyncModel

/// What a session may do, and what that was decided by.
struct Judgement: Sendable, Equatable {
    var session: SessionRights
    /// Of a session in flexible mode: the user's roles, closed, as text.
    var roles: String?
    /// The version of the app's users at which the user's record was read.
    var usersVersion: UInt64
}

/// What comes of judging a session.
enum Verdict: Sendable, Equatable {
    case judged(Judgement)
    /// The user is disabled or deleted: nothing of theirs is served, whatever the rules say.
    case noUser(reason: String)

    /// Whether the session may begin.
    var mayRead: Bool { if case .judged(let made) = self { made.session.rights.mayRead } else { false } }
}
