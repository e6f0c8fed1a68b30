import SyncModel
import SyncProtocol

/// The MARKs of a session that are to be answered: each once the client has everything that its realm had when the MARK came, whatever has
/// been written since. Pure.
struct PendingMarks: Sendable {
    /// The newest MARK that came.
    private var newest: RequestIdent?
    /// The newest MARK that is not part of a request yet.
    private var open: RequestIdent?
    /// The MARK that the owner was asked about, and the version that it is answered with, once the owner has named that.
    private var asked: (mark: RequestIdent, target: ServerVersion?)?
    /// The owner has not heard yet that a client which has asked for it has everything.
    private(set) var tellsOwner = false

    /// Whether a MARK is to be answered.
    var isOwed: Bool { open != nil || asked != nil }
    /// Whether only the owner can say with which version a MARK is answered.
    var needsOwner: Bool { asked.map { $0.target == nil } ?? (open != nil) }
    /// Whether a MARK came that no request has been made for.
    var isOpen: Bool { open != nil }

    /// Takes a MARK, unless it has come before: that is answered once.
    ///
    /// - Returns: whether it was taken.
    mutating func take(_ mark: RequestIdent) -> Bool {
        guard newest.map({ mark > $0 }) ?? true else { return false }
        newest = mark
        open = mark
        return true
    }

    /// A request to the owner is made. A MARK whose version is known is answered first.
    mutating func ask() {
        guard let mark = open, asked?.target == nil else { return }
        asked = (mark, nil)
        open = nil
        tellsOwner = true
    }

    /// The owner has answered: its realm stands at `latest`.
    mutating func hear(latest: ServerVersion, isComplete: Bool) {
        if let mark = asked, mark.target == nil { asked?.target = latest }
        if isComplete { tellsOwner = false }
    }

    /// Takes out the MARK that is answered where the client stands.
    mutating func answer(at version: ServerVersion) -> RequestIdent? {
        guard let asked, let target = asked.target, target <= version else { return nil }
        self.asked = nil
        return asked.mark
    }
}
