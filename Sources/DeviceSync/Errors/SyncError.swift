public import Foundation
internal import SyncProtocol

/// One write that the server undid.
public struct CompensatingWriteInfo: Sendable {
    /// The class.
    public let objectType: String
    /// The object's key.
    public var primaryKey: AnyRealmValue { AnyRealmValue(key) }
    /// The server's reason.
    public let reason: String

    let key: RejectedUpdate.PrimaryKey
}

/// An error in syncing one realm.
public struct SyncError: Error, CustomNSError, LocalizedError, Sendable, CustomStringConvertible {
    /// The kind of error, with Realm's numbers.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The number.
        public let rawValue: Int
        /// A code by its number.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Any other session error that the app must see.
        public static let clientSessionError = Code(rawValue: 4)
        /// Authentication failed, or the user is gone.
        public static let clientUserError = Code(rawValue: 5)
        /// A mistake of the client, or against the protocol.
        public static let clientInternalError = Code(rawValue: 6)
        /// The realm needs a client reset that only the app can finish.
        public static let clientResetError = Code(rawValue: 7)
        /// Unused.
        public static let underlyingAuthError = Code(rawValue: 8)
        /// The user may not sync this partition.
        public static let permissionDeniedError = Code(rawValue: 9)
        /// The server refused a query.
        public static let invalidFlexibleSyncSubscriptions = Code(rawValue: 10)
        /// The server undid a write.
        public static let writeRejected = Code(rawValue: 11)
        /// The connection failed for good.
        public static let connectionFailed = Code(rawValue: 12)
        /// The server's certificate was not accepted.
        public static let tlsHandshakeFailed = Code(rawValue: 13)
        /// The server warns.
        public static let serverWarning = Code(rawValue: 14)
    }

    /// Names a pending file action; see `SyncSession.immediatelyHandleError(_:)`.
    public struct ActionToken: Hashable, Sendable {
        let core: AppReference
        let originalPath: String
        let actionID: String

        /// Equality of the action.
        public static func == (left: ActionToken, right: ActionToken) -> Bool { left.actionID == right.actionID }
        /// Feeds the action's identity to a hasher.
        public func hash(into hasher: inout Hasher) { hasher.combine(actionID) }
    }

    /// The kind of error.
    public let code: Code
    /// The sentence, never empty.
    public let message: String
    /// The server's name for the error, where it has one.
    public let serverErrorName: String?
    /// The server's log.
    public let serverLogURL: URL?
    /// The writes that were undone; with `writeRejected`.
    public let compensatingWriteInfo: [CompensatingWriteInfo]?
    let backupPath: String?
    let actionToken: ActionToken?
    /// The number on the wire, nil for an error of the client's own.
    package let wireCode: Int?
    /// Whether it lasts until somebody does something: the session has stopped, or the server refuses the connection. If
    /// not, syncing goes on or is tried again by itself. `userInfo["Is Fatal"]` is the same.
    public let isFatal: Bool

    init(
        _ code: Code, _ message: String, name: String? = nil, logURL: String = "", wireCode: Int? = nil,
        isFatal: Bool = true, backupPath: String? = nil, actionToken: ActionToken? = nil,
        compensatingWrites: [CompensatingWriteInfo]? = nil
    ) {
        self.code = code
        self.message = message.isEmpty ? "sync error \(code.rawValue)" : message
        serverErrorName = name
        serverLogURL = logURL.isEmpty ? nil : URL(string: logURL)
        self.wireCode = wireCode
        self.isFatal = isFatal
        self.backupPath = backupPath
        self.actionToken = actionToken
        compensatingWriteInfo = compensatingWrites
    }

    /// Why nothing syncs for a user without tokens.
    static func userIsNotLoggedIn(_ userID: String) -> SyncError {
        SyncError(.clientUserError, "the user \(userID) is logged out or removed; log in to sync its realms")
    }

    /// `io.realm.sync`.
    public static var errorDomain: String { "io.realm.sync" }
    /// The code's number.
    public var errorCode: Int { code.rawValue }
    /// The same as `errorUserInfo`.
    public var userInfo: [String: Any] { errorUserInfo }
    /// Sentence, backup path, token, log address, undone writes, the server's name, whether it is fatal.
    public var errorUserInfo: [String: Any] {
        var info: [String: Any] = [NSLocalizedDescriptionKey: message]
        info["recovered_realm_location_path"] = backupPath
        info["error_action_token"] = actionToken
        info["Server Log URL"] = serverLogURL
        info["Compensating Write Info"] = compensatingWriteInfo
        info["Error Name"] = serverErrorName
        info["Is Fatal"] = isFatal
        return info
    }
    /// The sentence.
    public var errorDescription: String? { message }
    /// Code and sentence.
    public var description: String { "sync error \(code.rawValue): \(message)" }

    /// Where the realm's file will be backed up, and the token to do so now; nil unless this is a client reset.
    public func clientResetInfo() -> (String, SyncError.ActionToken)? {
        guard code == .clientResetError, let backupPath, let actionToken else { return nil }
        return (backupPath, actionToken)
    }

    /// The token that deletes the realm's file; nil unless the error asks for it.
    public func deleteRealmUserInfo() -> SyncError.ActionToken? {
        code == .clientResetError || code == .permissionDeniedError ? actionToken : nil
    }
}
