internal import SyncModel
internal import SyncProtocol

/// The client resets of one realm as a state machine: what to do next, event by event (docs/resets.md, "Steps"). It does
/// no I/O.
struct ResetMachine: Sendable {
    enum Phase: Sendable, Equatable {
        /// No reset is under way.
        case none
        /// The fresh copy is to be opened and downloaded.
        case downloading(ResetAttempt)
        /// The fresh copy is complete. The realm's own session holds its IDENT back; its BIND lets the merge begin.
        case readyToMerge(ResetAttempt)
        /// The merge is committed, and the server has not yet taken up everything that followed.
        case merged
        /// Only the app can finish the reset.
        case leftToApp
    }

    /// What the machine's owner has to do, in this order.
    enum Action: Sendable, Equatable {
        /// Report an attempt that was cut off before, and note this one in case it is cut off too.
        case note(ResetAttempt)
        /// Give the realm, into which nothing was ever written, a new identity, and sync it from the beginning.
        case startOver(ResetAttempt)
        /// Open the fresh copy, unless it is open, and start its session.
        case downloadFresh
        case endFreshSession
        /// Close the fresh copy and delete its file.
        case deleteFresh
        /// Close the fresh copy; a later attempt goes on with its file.
        case closeFresh
        /// Start the realm's own session.
        case startSession(holdsIdent: Bool)
        case endSession
        /// Merge the fresh copy into the realm, after the app's `beforeReset` if it has not seen this version yet.
        case merge(ResetAttempt, showsBefore: Bool)
        /// Put the record of an earlier merge back that a full disk has left changed.
        case restoreRecord
        /// Register the backup, tell the app and stop the session. Without a failure, the mode is manual.
        case leaveToApp(ResetAttempt, ResetFailure?)
    }

    /// How an error of the fresh copy's own session is dealt with.
    enum FreshError: Sendable, Equatable {
        /// Waited out: the session goes on later.
        case retry
        /// The access token is renewed first.
        case refreshUser
        case actions([Action])
    }

    private(set) var phase = Phase.none
    /// Whether a fresh copy that the server refused was thrown away already, and none was complete since.
    private var hasReplacedFresh = false
    /// The local version that `beforeReset` was shown last in this attempt.
    private var shownVersion: ClientVersion?

    /// The attempt under way.
    var attempt: ResetAttempt? {
        switch phase {
        case .downloading(let attempt), .readyToMerge(let attempt): attempt
        case .none, .merged, .leftToApp: nil
        }
    }
    var isUnderWay: Bool { attempt != nil }
    var isLeftToApp: Bool { phase == .leftToApp }
    var awaitsAcknowledgement: Bool { phase == .merged }

    // MARK: Events

    /// The realm's session starts.
    /// - Parameter hasRecord: whether the realm's file has the record of a merge that the server has not acknowledged.
    mutating func started(hasRecord: Bool) { phase = hasRecord ? .merged : .none }

    /// The server demands a reset.
    /// - Parameter isEmpty: whether nothing was ever written into the realm.
    mutating func demanded(_ attempt: ResetAttempt, isEmpty: Bool) -> [Action] {
        // The next attempt finds the record as it was before this one, and goes on with the same fresh copy.
        let before: [Action] = isUnderWay ? [.restoreRecord] : []
        hasReplacedFresh = false
        shownVersion = nil
        switch ResetDecision.start(attempt.mode, attempt.action) {
        case .manual: return before + leave(attempt, nil)
        case .fail(let reason): return before + leave(attempt, ResetFailure(reason))
        case .download where isEmpty:
            phase = .none
            return before + [.startOver(attempt)]
        case .download:
            phase = .downloading(attempt)
            return before + [.note(attempt), .downloadFresh]
        }
    }

    /// The fresh copy cannot be opened, and trying again would not help.
    mutating func freshIsUnusable(_ reason: String) -> [Action] {
        fail(ResetFailure("the fresh copy cannot be opened: \(reason)"))
    }

    /// The fresh copy has everything that the server had.
    mutating func freshDownloaded() -> [Action] {
        guard case .downloading(let attempt) = phase else { return [] }
        hasReplacedFresh = false
        phase = .readyToMerge(attempt)
        return [.endFreshSession, .startSession(holdsIdent: true)]
    }

    /// The fresh copy's own session got an error.
    mutating func freshFailed(_ body: JSONErrorBody) -> FreshError {
        guard var attempt else { return .actions([]) }
        switch body.action.effective {
        case .transient where body.tryAgain, .warning where body.tryAgain: return .retry
        case .refreshUser: return .refreshUser
        case .clientReset where !hasReplacedFresh, .clientResetNoRecovery where !hasReplacedFresh:
            hasReplacedFresh = true
            // Perhaps the server's state is no longer the one that the number was about.
            attempt.integrated = nil
            phase = .downloading(attempt)
            return .actions([.endFreshSession, .deleteFresh, .downloadFresh])
        default:
            let failure = ResetFailure("the fresh copy could not be downloaded: \(body.message)")
            return .actions([.endFreshSession] + fail(failure))
        }
    }

    /// A new connection is up, and nothing has been sent on it. A fresh copy that was complete on the last one is brought
    /// up to date first. The server may have terminated sync once more since, and what is recovered under an identity that
    /// is dead is lost to the next reset.
    mutating func connected() -> [Action] {
        guard case .readyToMerge(let attempt) = phase else { return [] }
        phase = .downloading(attempt)
        return [.endSession, .downloadFresh]
    }

    /// BIND of the session that holds its IDENT back is on the wire.
    /// - Parameter version: the realm's newest.
    mutating func bindSent(version: ClientVersion) -> [Action] {
        guard case .readyToMerge(let attempt) = phase else { return [] }
        // Once an attempt, unless something was written while it was interrupted.
        let showsBefore = shownVersion != version
        shownVersion = version
        return [.merge(attempt, showsBefore: showsBefore)]
    }

    /// The merge is committed.
    mutating func merged() -> [Action] {
        phase = .merged
        return [.deleteFresh]
    }

    /// The data do not allow the merge.
    mutating func mergeFailed(_ failure: ResetFailure) -> [Action] { [.endSession] + fail(failure) }

    /// This device's storage failed, or the session that did the reset's work ended for another reason of its own.
    /// - Parameter freshIsDamaged: whether it was the fresh copy's file, which trying again would not mend.
    mutating func interrupted(freshIsDamaged: Bool) -> [Action] {
        if let attempt { phase = .downloading(attempt) }
        return freshIsDamaged ? [.deleteFresh] : []
    }

    /// The wait after an interruption is over. The fresh copy is brought up to date even if it was complete, as on a new
    /// connection.
    mutating func resumed() -> [Action] {
        isUnderWay ? [.restoreRecord, .downloadFresh] : [.startSession(holdsIdent: false)]
    }

    /// The record is deleted: the server has taken up everything that followed the merge.
    mutating func acknowledged() { if phase == .merged { phase = .none } }

    /// The session ends, or is suspended. What is downloaded stays for the next attempt.
    mutating func dropped() -> [Action] {
        guard isUnderWay else { return [] }
        phase = .none
        return [.restoreRecord, .closeFresh]
    }

    private mutating func fail(_ failure: ResetFailure) -> [Action] {
        guard let attempt else { return [] }
        return leave(attempt, failure)
    }

    private mutating func leave(_ attempt: ResetAttempt, _ failure: ResetFailure?) -> [Action] {
        phase = .leftToApp
        return [.deleteFresh, .leaveToApp(attempt, failure)]
    }
}
