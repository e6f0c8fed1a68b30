import Messages
import SyncModel

/// What a session may do, and what that was decided by.
struct Judgement: Sendable, Equatable {
    var session: SessionRights
    /// The user's roles, closed, as text, if the session is in flexible mode.
    var roles: String?
    /// The partition that the client of a session in flexible mode came from, and to which what the client makes is to belong; nil if there is
    /// none, or none that the user may write to.
    var home: String?
    /// The version of the app's users at which the user's record was read.
    var usersVersion: UInt64 { session.usersVersion ?? 0 }
}

/// What comes of judging a session.
enum Verdict: Sendable, Equatable {
    case judged(Judgement)
    /// The user is disabled or deleted: nothing of theirs is served, whatever the rules say.
    case noUser(reason: String)

    /// Whether the session may begin.
    var mayRead: Bool { if case .judged(let made) = self { made.session.rights.mayRead } else { false } }
}
