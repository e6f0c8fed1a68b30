package import SyncModel

/// The body of a server's JSON_ERROR (docs/protocol.md, "Errors").
package struct JSONErrorBody: Hashable, Sendable {
    package var message: String
    package var logURL: String
    /// False makes the error fatal: the client sets no retry timer.
    package var tryAgain: Bool
    /// Ignored by clients; kept consistent with `action`.
    package var shouldClientReset: Bool
    /// Ignored by clients, who go by `action`.
    package var isRecoveryModeDisabled: Bool
    package var action: ErrorAction
    package var backoff: BackoffPolicy?
    /// The old partition as a query; with code 232.
    package var partitionQuery: String?
    /// The schema version of the client's file; with code 236.
    package var previousSchemaVersion: UInt64?
    /// Writes that were undone; with codes 231 and 230.
    package var rejectedUpdates: [RejectedUpdate]?
    package var rejectedClientVersion: ClientVersion?
    /// The server version that undoes them; with code 231.
    package var compensatingWriteServerVersion: ServerVersion?
    /// The version of the client's own history up to which the fresh copy has everything that the client has written;
    /// with a client reset. A key of ours, which stock clients skip.
    package var integratedClientVersion: ClientVersion?
    /// The version of the client's own history after which nothing that the client has written is in the fresh copy,
    /// though it was acknowledged: the server has lost it. With a client reset; a key of ours, too.
    package var lostAfterClientVersion: ClientVersion?

    package init(
        message: String, action: ErrorAction, tryAgain: Bool, logURL: String = "", shouldClientReset: Bool? = nil,
        isRecoveryModeDisabled: Bool? = nil, backoff: BackoffPolicy? = nil
    ) {
        self.message = message
        self.logURL = logURL
        self.tryAgain = tryAgain
        self.shouldClientReset = shouldClientReset ?? action.isClientReset
        self.isRecoveryModeDisabled = isRecoveryModeDisabled ?? (action == .clientResetNoRecovery)
        self.action = action
        self.backoff = backoff
    }

    /// The table's action and retry for a code, unless told otherwise.
    package init(
        code: ErrorCode, message: String, action: ErrorAction? = nil, tryAgain: Bool? = nil,
        backoff: BackoffPolicy? = nil
    ) {
        let entry = code.entry
        self.init(
            message: message, action: action ?? entry?.action ?? .applicationBug,
            tryAgain: tryAgain ?? entry?.tryAgain ?? false, backoff: backoff)
    }
}
