/// One row of the error table.
package struct ErrorCodeEntry: Hashable, Sendable {
    package let code: ErrorCode
    /// The protocol's own name.
    package let name: String
    package let scope: ErrorScope
    /// The action to send with it unless there is a better reason.
    package let action: ErrorAction
    /// The `tryAgain` to send with it.
    package let tryAgain: Bool
    /// A stock client that reads this code terminates its process.
    package let abortsStockClient: Bool
    /// The client keeps the session bound (231 and 236 only).
    package let sessionContinues: Bool
    /// Only clients send it.
    package let clientOnly: Bool
}

/// The protocol's error codes (docs/protocol.md, "Error codes"). Where the client acts "by action", the action here is
/// ours.
package enum ErrorCodeTable {
    package static func entry(for code: ErrorCode) -> ErrorCodeEntry? { byCode[code] }

    private static let byCode = Dictionary(entries.map { ($0.code, $0) }, uniquingKeysWith: { first, _ in first })

    private enum Mark { case plain, aborts, continues, clientOnly }

    private static func row(
        _ code: ErrorCode, _ name: String, _ action: ErrorAction, retry: Bool = false, _ mark: Mark = .plain
    ) -> ErrorCodeEntry {
        ErrorCodeEntry(
            code: code, name: name, scope: code.scope ?? .connection, action: action, tryAgain: retry,
            abortsStockClient: mark == .aborts, sessionContinues: mark == .continues, clientOnly: mark == .clientOnly)
    }

    package static let entries = [
        row(.connectionClosed, "connection_closed", .transient, retry: true),
        row(.otherError, "other_error", .transient, retry: true),
        row(.unknownMessage, "unknown_message", .protocolViolation),
        row(.badSyntax, "bad_syntax", .protocolViolation),
        row(.limitsExceeded, "limits_exceeded", .protocolViolation, .aborts),
        row(.wrongProtocolVersion, "wrong_protocol_version", .protocolViolation),
        row(.badSessionIdent, "bad_session_ident", .protocolViolation),
        row(.reuseOfSessionIdent, "reuse_of_session_ident", .protocolViolation),
        row(.boundInOtherSession, "bound_in_other_session", .protocolViolation),
        row(.badMessageOrder, "bad_message_order", .protocolViolation),
        row(.badDecompression, "bad_decompression", .protocolViolation),
        row(.badChangesetHeaderSyntax, "bad_changeset_header_syntax", .protocolViolation),
        row(.badChangesetSize, "bad_changeset_size", .protocolViolation),
        row(.switchToFLXSync, "switch_to_flx_sync", .applicationBug),
        row(.switchToPBS, "switch_to_pbs", .applicationBug),

        row(.sessionClosed, "session_closed", .transient, retry: true),
        row(.otherSessionError, "other_session_error", .transient, retry: true),
        row(.tokenExpired, "token_expired", .refreshUser, retry: true, .aborts),
        row(.badAuthentication, "bad_authentication", .logOutUser, .aborts),
        row(.illegalRealmPath, "illegal_realm_path", .applicationBug),
        row(.noSuchRealm, "no_such_realm", .applicationBug, .aborts),
        row(.permissionDenied, "permission_denied", .applicationBug),
        row(.badServerFileIdent, "bad_server_file_ident", .applicationBug, .aborts),
        row(.badClientFileIdent, "bad_client_file_ident", .clientReset),
        row(.badServerVersion, "bad_server_version", .clientReset),
        row(.badClientVersion, "bad_client_version", .clientReset),
        row(.divergingHistories, "diverging_histories", .clientReset),
        row(.badChangeset, "bad_changeset", .clientReset),
        row(.partialSyncDisabled, "partial_sync_disabled", .applicationBug, .aborts),
        row(.unsupportedSessionFeature, "unsupported_session_feature", .applicationBug, .aborts),
        row(.badOriginFileIdent, "bad_origin_file_ident", .protocolViolation),
        row(.badClientFile, "bad_client_file", .clientReset),
        row(.serverFileDeleted, "server_file_deleted", .applicationBug, .aborts),
        row(.clientFileBlacklisted, "client_file_blacklisted", .applicationBug, .aborts),
        row(.userBlacklisted, "user_blacklisted", .applicationBug, .aborts),
        row(.transactBeforeUpload, "transact_before_upload", .applicationBug, .aborts),
        row(.clientFileExpired, "client_file_expired", .clientReset),
        row(.userMismatch, "user_mismatch", .applicationBug),
        row(.tooManySessions, "too_many_sessions", .transient, .aborts),
        row(.invalidSchemaChange, "invalid_schema_change", .applicationBug),
        row(.badQuery, "bad_query", .applicationBug),
        row(.objectAlreadyExists, "object_already_exists", .applicationBug),
        row(.serverPermissionsChanged, "server_permissions_changed", .clientReset),
        row(.initialSyncNotCompleted, "initial_sync_not_completed", .transient, retry: true),
        row(.writeNotAllowed, "write_not_allowed", .applicationBug),
        row(.compensatingWrite, "compensating_write", .warning, retry: true, .continues),
        row(.migrateToFLX, "migrate_to_flx", .migrateToFLX),
        row(.badProgress, "bad_progress", .clientReset, .clientOnly),
        row(.revertToPBS, "revert_to_pbs", .revertToPBS),
        row(.badSchemaVersion, "bad_schema_version", .applicationBug),
        row(.schemaVersionChanged, "schema_version_changed", .migrateSchema, retry: true, .continues),
    ]
}
