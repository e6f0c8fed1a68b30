/// What to do about a client reset, by mode, action and what happened before (docs/resets.md, "Decision table" and "Cycle detection").
enum ResetDecision {
    /// The decision at the moment when the server asks for the reset.
    enum Start: Equatable {
        /// The app does it.
        case manual
        /// An automatic mode that is not allowed; nothing is downloaded.
        case fail(String)
        case download
    }

    static func start(_ mode: ResetMode, _ action: PendingReset.Action) -> Start {
        switch (mode, action) {
        case (.manual, _): .manual
        case (.recover, .clientResetNoRecovery): .fail("the server does not allow recovery")
        default: .download
        }
    }

    /// What to do before the merge, decided by the record of a reset that was not acknowledged.
    enum Merge: Equatable {
        case recover, discard
        /// The same was tried before: no endless loop.
        case cycle(String)
    }

    /// So many merges may be cut off by the death of the process. A process that was killed in a reset has not failed at it;
    /// a merge that takes the process with it, every time, did.
    static let maxCutOff = 3

    static func merge(_ mode: ResetMode, _ action: PendingReset.Action, stored: PendingReset?) -> Merge {
        // A record of another action is of another reset and says nothing about this one.
        let previous = stored.flatMap { record -> PendingReset.Mode? in
            let ended = record.cutOff == 0 || record.cutOff >= maxCutOff
            return record.action == action && ended ? record.mode : nil
        }
        switch (mode, previous) {
        case (_, .discard): return .cycle("a reset in discard mode was tried before and not acknowledged")
        case (.recover, .recover): return .cycle("a reset in recover mode was tried before and not acknowledged")
        case (.recoverOrDiscard, .recover): return .discard
        case (.discard, _): return .discard
        case (.recover, nil): return .recover
        case (.recoverOrDiscard, nil): return action == .clientResetNoRecovery ? .discard : .recover
        case (.manual, _): return .cycle("a manual reset is never merged")
        }
    }
}
