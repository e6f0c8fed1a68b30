// The names by which errors are caught, as in `catch SyncError.clientResetError`.

extension SyncError {
    /// Any other session error that the app must see.
    public static let clientSessionError = Code.clientSessionError
    /// Authentication failed, or the user is gone.
    public static let clientUserError = Code.clientUserError
    /// A mistake of the client, or against the protocol.
    public static let clientInternalError = Code.clientInternalError
    /// The realm needs a client reset that only the app can finish.
    public static let clientResetError = Code.clientResetError
    /// Unused.
    public static let underlyingAuthError = Code.underlyingAuthError
    /// The user may not sync this partition.
    public static let permissionDeniedError = Code.permissionDeniedError
    /// The server refused a query.
    public static let invalidFlexibleSyncSubscriptions = Code.invalidFlexibleSyncSubscriptions
    /// The server undid a write.
    public static let writeRejected = Code.writeRejected
    /// The connection failed for good.
    public static let connectionFailed = Code.connectionFailed
    /// The server's certificate was not accepted.
    public static let tlsHandshakeFailed = Code.tlsHandshakeFailed
    /// The server warns.
    public static let serverWarning = Code.serverWarning
}

/// Makes `catch SyncError.clientResetError` work.
public func ~= (pattern: SyncError.Code, error: any Error) -> Bool { (error as? SyncError)?.code == pattern }
