/// Receives errors of the sync client, with the session concerned.
public typealias ErrorReportingBlock = @Sendable (any Error, SyncSession?) -> Void
/// Receives the realm as it was before a client reset, frozen.
public typealias ClientResetBeforeBlock = @Sendable (Realm) -> Void
/// Receives the realm as it was before a client reset, frozen, and the live one after it.
public typealias ClientResetAfterBlock = @Sendable (Realm, Realm) -> Void

/// The way in which a realm goes on when the server no longer knows its copy (a client reset).
///
/// The blocks run on the thread of the connection, one at a time for a user, never on the main thread.
@frozen public enum ClientResetMode: Sendable {
    /// Drop the changes that were not yet uploaded.
    @available(*, deprecated, message: "Use discardUnsyncedChanges")
    @preconcurrency
    case discardLocal(
        beforeReset: (@Sendable (_ before: Realm) -> Void)? = nil,
        afterReset: (@Sendable (_ before: Realm, _ after: Realm) -> Void)? = nil)
    /// Drop the changes that were not yet uploaded.
    @preconcurrency
    case discardUnsyncedChanges(
        beforeReset: (@Sendable (_ before: Realm) -> Void)? = nil,
        afterReset: (@Sendable (_ before: Realm, _ after: Realm) -> Void)? = nil)
    /// Replay the changes that were not yet uploaded on what the server has; the default.
    @preconcurrency
    case recoverUnsyncedChanges(
        beforeReset: (@Sendable (_ before: Realm) -> Void)? = nil,
        afterReset: (@Sendable (_ before: Realm, _ after: Realm) -> Void)? = nil)
    /// Replay them; if that is impossible, drop them.
    @preconcurrency
    case recoverOrDiscardUnsyncedChanges(
        beforeReset: (@Sendable (_ before: Realm) -> Void)? = nil,
        afterReset: (@Sendable (_ before: Realm, _ after: Realm) -> Void)? = nil)
    /// Leave it to the app: `errorHandler`, or the sync manager's handler if it is nil.
    @preconcurrency
    case manual(errorHandler: ErrorReportingBlock? = nil)
}

/// A mode without its blocks.
enum ResetMode: String, Sendable, Codable {
    case manual, discard, recover, recoverOrDiscard
}

extension ClientResetMode {
    var mode: ResetMode {
        switch self {
        case .discardLocal, .discardUnsyncedChanges: .discard
        case .recoverUnsyncedChanges: .recover
        case .recoverOrDiscardUnsyncedChanges: .recoverOrDiscard
        case .manual: .manual
        }
    }

    var beforeReset: ClientResetBeforeBlock? { blocks.before }
    var afterReset: ClientResetAfterBlock? { blocks.after }

    private var blocks: (before: ClientResetBeforeBlock?, after: ClientResetAfterBlock?) {
        switch self {
        case .discardLocal(let before, let after), .discardUnsyncedChanges(let before, let after),
            .recoverUnsyncedChanges(let before, let after), .recoverOrDiscardUnsyncedChanges(let before, let after):
            (before, after)
        case .manual: (nil, nil)
        }
    }

    var manualHandler: ErrorReportingBlock? {
        if case .manual(let handler) = self { handler } else { nil }
    }

    /// The mode as a configuration reads it back: `.discardLocal` has become its successor.
    var current: ClientResetMode {
        guard mode == .discard else { return self }
        return .discardUnsyncedChanges(beforeReset: beforeReset, afterReset: afterReset)
    }
}
