internal import SyncModel

/// Whether a user can sync.
@frozen public enum UserState: Int, Sendable {
    /// Known, without tokens; files are kept.
    case loggedOut = 0
    /// Has tokens.
    case loggedIn
    /// Gone; files are deleted at the next launch.
    case removed
}

/// A user of an app, as cached on this device: readable offline.
public final class User: Sendable {
    let core: AppCore
    /// The user's identifier on the server.
    public let id: String

    init(core: AppCore, id: String) {
        self.core = core
        self.id = id
    }

    private var record: UserRecord? { core.users.record(id) }

    /// Whether the user can sync.
    public var state: UserState { record?.state ?? .removed }
    /// Whether the user has tokens.
    public var isLoggedIn: Bool { state == .loggedIn }
    /// The ways in which the user can log in.
    public var identities: [UserIdentity] { record?.profile.identities ?? [] }
    /// The server's data about the user, as of the last login.
    public var profile: UserProfile { UserProfile(metadata: Document(extendedJSON: record?.profile.data ?? [:])) }
    /// The token of requests; renewed when needed. Nil when logged out.
    public var accessToken: String? { try? core.users.token(\.accessToken, of: id) }
    /// The token that renews the access token. Nil when logged out.
    public var refreshToken: String? { try? core.users.token(\.refreshToken, of: id) }
    /// The data that the app keeps about the user, as of the newest access token.
    public var customData: Document {
        accessToken.flatMap(AccessToken.init)?.userData?.objectValue.map { Document(extendedJSON: $0) } ?? [:]
    }

    /// The user's API keys.
    public var apiKeysAuth: APIKeyAuth { APIKeyAuth(core: core, userID: id) }

    /// The sessions of the user's open realms, suspended ones too.
    public var allSessions: [SyncSession] { core.sync.sessions(userID: id) }

    /// The session of an open realm, nil if that partition is not open.
    public func session(forPartitionValue partitionValue: AnyBSON) -> SyncSession? {
        allSessions.first { $0.configuration()?.partitionValue == partitionValue }
    }

    /// Ends the session with the server. An anonymous user is removed, its files deleted at the next launch; the
    /// files of others are kept. The local tokens are gone even if this throws.
    /// - Throws: `AppError` if the server could not be told.
    public func logOut() async throws {
        try await end()
    }

    /// Drops the local tokens, then ends the session with the server.
    private func end(as state: UserState? = nil) async throws {
        let token = refreshToken
        core.endLocally(id, as: state)
        if let token { try await core.http.endSession(refreshToken: token) }
    }

    /// Ends the session with the server; see `logOut()`.
    public func logOut(completion: @Sendable @escaping ((any Error)?) -> Void) {
        core.syncManager.callbackQueue.complete(completion) { try await self.logOut() }
    }

    /// Logs the user out and forgets it; its files are deleted at the next launch.
    /// - Throws: `AppError` if the server could not be told.
    public func remove() async throws {
        try await end(as: .removed)
    }

    /// Logs the user out and forgets it; see `remove()`.
    public func remove(completion: @Sendable @escaping ((any Error)?) -> Void) {
        core.syncManager.callbackQueue.complete(completion) { try await self.remove() }
    }

    /// Deletes the account on the server, then forgets the user. On failure nothing changes here.
    /// - Throws: `AppError`.
    public func delete() async throws {
        try await core.withAccessToken(of: id) { [core] in try await core.http.deleteUser(accessToken: $0) }
        core.endLocally(id, as: .removed)
    }

    /// Deletes the account on the server; see `delete()`.
    public func delete(completion: @Sendable @escaping ((any Error)?) -> Void) {
        core.syncManager.callbackQueue.complete(completion) { try await self.delete() }
    }

    /// Renews the access token, and with it `customData`.
    /// - Throws: `AppError`.
    public func refreshCustomData() async throws -> Document {
        _ = try await core.refreshAccessToken(userID: id)
        return customData
    }
}

extension User: Hashable {
    /// The same user of the same app.
    public static func == (left: User, right: User) -> Bool { left.core === right.core && left.id == right.id }
    /// Feeds the identifier to a hasher.
    public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}
