/// A Device Sync application. Handles with one id share their users and sessions.
public final class App: Sendable {
    let core: AppCore

    /// The app with this id.
    ///
    /// Runs file actions that a client reset left for this launch and loads the cached users; needs no network. While
    /// some handle with this id is alive, `configuration` is ignored: the first one counts. If the metadata file cannot be
    /// read now (a full disk, say), there are no users yet, and `currentUser`, `allUsers` and `login` try again.
    public init(id: String, configuration: AppConfiguration? = nil) {
        core = AppCore.shared(id: id, configuration: configuration?.copy ?? AppConfiguration())
    }

    /// The app with this id, on the default server.
    public convenience init(id: String) { self.init(id: id, configuration: nil) }

    /// The id.
    public var appId: String { core.id }
    /// A copy of the configuration in effect.
    public var configuration: AppConfiguration { core.configuration.copy }
    /// The origin of the server: the configuration's, or that of the last `updateBaseUrl(to:)`.
    public var baseURL: String { core.http.baseURL }
    /// Settings and errors of syncing.
    public var syncManager: SyncManager { core.syncManager }
    /// Accounts with email and password.
    public var emailPasswordAuth: EmailPasswordAuth { EmailPasswordAuth(core: core) }
    /// The user that logged in or was switched to last, from the cache: also offline.
    public var currentUser: User? {
        core.prepareIfPossible()
        return core.users.currentID.map(core.user)
    }
    /// The known users by id, logged-out ones too.
    public var allUsers: [String: User] {
        core.prepareIfPossible()
        return Dictionary(core.users.all.map { ($0.id, core.user($0.id)) }, uniquingKeysWith: { first, _ in first })
    }

    /// Logs a user in, caches its tokens and makes it the current user. Needs the network, except that `.anonymous`
    /// returns an anonymous user that is still logged in.
    /// - Throws: `AppError`.
    public func login(credentials: Credentials) async throws -> User { try await core.login(credentials) }

    /// Logs a user in; see `login(credentials:)`.
    public func login(credentials: Credentials, _ completion: @Sendable @escaping (Result<User, any Error>) -> Void) {
        core.syncManager.callbackQueue.complete(completion) { [core] in try await core.login(credentials) }
    }

    /// Goes over to another server, once it has answered there; with nil to the default one. The next launch begins with the configuration's again.
    ///
    /// Sessions connect to the new server. One that does not know their files, as it is of another deployment, has each realm do a client reset; one that
    /// does not know the users' tokens logs them out.
    /// - Throws: `AppError` if the server does not answer or does not know the app; everything is as before then.
    public func updateBaseUrl(to url: String?) async throws {
        try await core.http.move(to: AppConfiguration.origin(url))
        core.sync.serverChanged()
    }

    /// Makes a logged-in user the current one.
    @discardableResult
    public func `switch`(to user: User) -> User {
        precondition(user.isLoggedIn, "switch(to:) needs a user that is logged in")
        core.users.setCurrent(user.id)
        core.userListeners.call()
        return user
    }
}
