/// One row of the error table.
package struct ErrorCodeEntry: Hashable, Sendable {
    package let code: ErrorCode
    /// The protocol's own name.
    package let name: String
    package let scope: ErrorScope
    /// What raises it.
    package let raisedBy: String
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
    package static let entries: [ErrorCodeEntry] = connectionEntries + sessionEntries

    package static func entry(for code: ErrorCode) -> ErrorCodeEntry? { byCode[code] }

    private static let byCode = Dictionary(entries.map { ($0.code, $0) }, uniquingKeysWith: { first, _ in first })

    private enum Mark { case plain, aborts, continues, clientOnly }

    private static func row(
        _ code: ErrorCode, _ name: String, _ raisedBy: String, _ action: ErrorAction, retry: Bool = false,
        _ mark: Mark = .plain
    ) -> ErrorCodeEntry {
        ErrorCodeEntry(
            code: code, name: name, scope: code.scope ?? .connection, raisedBy: raisedBy, action: action,
            tryAgain: retry, abortsStockClient: mark == .aborts, sessionContinues: mark == .continues,
            clientOnly: mark == .clientOnly)
    }

    private static let connectionEntries = [
        row(.connectionClosed, "connection_closed", "shutdown or drain", .transient, retry: true),
        row(.otherError, "other_error", "any failure without a better code", .transient, retry: true),
        row(.unknownMessage, "unknown_message", "a message of unknown type", .protocolViolation),
        row(.badSyntax, "bad_syntax", "head syntax or sizes", .protocolViolation),
        row(.limitsExceeded, "limits_exceeded", "never sent: 101 in its place", .protocolViolation, .aborts),
        row(.wrongProtocolVersion, "wrong_protocol_version", "obsolete", .protocolViolation),
        row(.badSessionIdent, "bad_session_ident", "a session that is not bound", .protocolViolation),
        row(.reuseOfSessionIdent, "reuse_of_session_ident", "BIND of a bound session", .protocolViolation),
        row(.boundInOtherSession, "bound_in_other_session", "IDENT of a file bound twice", .protocolViolation),
        row(.badMessageOrder, "bad_message_order", "a message out of turn", .protocolViolation),
        row(.badDecompression, "bad_decompression", "a body that does not inflate", .protocolViolation),
        row(
            .badChangesetHeaderSyntax, "bad_changeset_header_syntax", "an UPLOAD entry's header", .protocolViolation),
        row(.badChangesetSize, "bad_changeset_size", "an entry larger than its body", .protocolViolation),
        row(.switchToFLXSync, "switch_to_flx_sync", "partition client, flexible app", .applicationBug),
        row(.switchToPBS, "switch_to_pbs", "flexible client, partition app", .applicationBug),
    ]

    private static let sessionEntries = [
        row(.sessionClosed, "session_closed", "restart of one session", .transient, retry: true),
        row(.otherSessionError, "other_session_error", "any failure of one session", .transient, retry: true),
        row(.tokenExpired, "token_expired", "never sent: close code 4001", .refreshUser, retry: true, .aborts),
        row(.badAuthentication, "bad_authentication", "never sent: close 4001 or 4002", .logOutUser, .aborts),
        row(.illegalRealmPath, "illegal_realm_path", "BIND of a bad partition or body", .applicationBug),
        row(.noSuchRealm, "no_such_realm", "never sent", .applicationBug, .aborts),
        row(.permissionDenied, "permission_denied", "BIND without permission", .applicationBug),
        row(.badServerFileIdent, "bad_server_file_ident", "obsolete", .applicationBug, .aborts),
        row(.badClientFileIdent, "bad_client_file_ident", "IDENT of an unknown or reset file", .clientReset),
        row(.badServerVersion, "bad_server_version", "a server version out of range", .clientReset),
        row(.badClientVersion, "bad_client_version", "a client version out of range", .clientReset),
        row(.divergingHistories, "diverging_histories", "a salt that does not match", .clientReset),
        row(.badChangeset, "bad_changeset", "a changeset that does not parse or apply", .clientReset),
        row(.partialSyncDisabled, "partial_sync_disabled", "never sent", .applicationBug, .aborts),
        row(.unsupportedSessionFeature, "unsupported_session_feature", "never sent", .applicationBug, .aborts),
        row(.badOriginFileIdent, "bad_origin_file_ident", "an UPLOAD entry of another file", .protocolViolation),
        row(.badClientFile, "bad_client_file", "a client realm that cannot go on", .clientReset),
        row(.serverFileDeleted, "server_file_deleted", "never sent", .applicationBug, .aborts),
        row(.clientFileBlacklisted, "client_file_blacklisted", "never sent", .applicationBug, .aborts),
        row(.userBlacklisted, "user_blacklisted", "never sent", .applicationBug, .aborts),
        row(.transactBeforeUpload, "transact_before_upload", "obsolete", .applicationBug, .aborts),
        row(.clientFileExpired, "client_file_expired", "history compacted beyond the client", .clientReset),
        row(.userMismatch, "user_mismatch", "IDENT of another user's file", .applicationBug),
        row(.tooManySessions, "too_many_sessions", "never sent: 201 in its place", .transient, .aborts),
        row(.invalidSchemaChange, "invalid_schema_change", "an UPLOAD against the schema", .applicationBug),
        row(.badQuery, "bad_query", "IDENT or QUERY with a bad query", .applicationBug),
        row(.objectAlreadyExists, "object_already_exists", "an UPLOAD creating twice", .applicationBug),
        row(.serverPermissionsChanged, "server_permissions_changed", "role change below 14", .clientReset),
        row(
            .initialSyncNotCompleted, "initial_sync_not_completed", "a realm still in preparation", .transient,
            retry: true),
        row(.writeNotAllowed, "write_not_allowed", "an UPLOAD that cannot be undone", .applicationBug),
        row(
            .compensatingWrite, "compensating_write", "an UPLOAD undone", .warning, retry: true,
            .continues),
        row(.migrateToFLX, "migrate_to_flx", "partition BIND after a migration", .migrateToFLX),
        row(.badProgress, "bad_progress", "a client's refusal of progress", .clientReset, .clientOnly),
        row(.revertToPBS, "revert_to_pbs", "migrated BIND after a rollback", .revertToPBS),
        row(.badSchemaVersion, "bad_schema_version", "BIND of an unknown schema version", .applicationBug),
        row(
            .schemaVersionChanged, "schema_version_changed", "BIND of another schema version", .migrateSchema,
            retry: true, .continues),
    ]
}
