internal import Foundation
internal import Logging
internal import Synchronization

/// A reference that does not keep the app alive.
final class AppReference: Sendable {
    weak let core: AppCore?
    init(_ core: AppCore) { self.core = core }
}

/// What all `App` handles of one id share.
final class AppCore: Sendable {
    let id: String
    let configuration: AppConfiguration
    let layout: FileLayout
    let store: MetadataStore
    let http: AppServicesClient
    let users: UserCache
    let syncManager: SyncManager
    let outcomes: OutcomeReporter
    let logger: Logging.Logger
    let sync: SyncClient
    /// The blocks to be called when something about the users has changed.
    let userListeners = Listeners()
    /// Refreshes under way, so that many sessions share one.
    private let refreshes = Mutex<[String: Task<String, any Error>]>([:])
    /// The anonymous login under way: programs that log in in several places at once mean one user.
    private let anonymousLogin = Mutex<Task<String, any Error>?>(nil)
    private let handles = Mutex<[String: WeakUser]>([:])
    private let clock = Mutex(ServerClock())

    private struct WeakUser { weak var user: User? }

    // MARK: Registry

    private struct Key: Hashable {
        var id: String
        var base: URL
    }
    private static let registry = Mutex<[Key: AppReference]>([:])

    static func shared(id: String, configuration: AppConfiguration) -> AppCore {
        let key = Key(id: id, base: Realm.Configuration.baseDirectory)
        return registry.withLock { registry in
            if let core = registry[key]?.core { return core }
            registry = registry.filter { $0.value.core != nil }
            let core = AppCore(id: id, configuration: configuration, base: key.base)
            registry[key] = AppReference(core)
            return core
        }
    }

    /// The next handle of this id gets a new core, as after a launch; for tests.
    static func forget(_ core: AppCore) {
        registry.withLock { registry in registry = registry.filter { $0.value.core !== core } }
    }

    private init(id: String, configuration: AppConfiguration, base: URL) {
        var logger = SharedLogHandler.logger(.app)
        logger[metadataKey: "app"] = "\(id)"
        var syncLogger = SharedLogHandler.logger(.sync)
        syncLogger[metadataKey: "app"] = "\(id)"
        self.id = id
        self.configuration = configuration
        self.logger = logger
        layout = FileLayout(base: base, appID: id)
        store = MetadataStore(file: layout.metadataFile)
        users = UserCache(store: store, logger: logger)
        syncManager = SyncManager(timeoutOptions: configuration.syncTimeouts)
        http = AppServicesClient(appID: id, configuration: configuration, settings: syncManager)
        outcomes = OutcomeReporter(store: store, logger: logger)
        sync = SyncClient(
            trusting: configuration.authoritiesFile, over: { configuration.proxy(for: $0) }, logger: syncLogger)
        prepareIfPossible()
        syncManager.attach(self)
        outcomes.attach(self)
    }

    /// Loads the cached users and does what was left to this launch. Nothing of the app works before that, so every call that
    /// needs a user tries again.
    func prepare() throws(AppError) {
        do {
            if try users.load() { runFileActionsAtLaunch() }
        } catch {
            throw metadataError(error)
        }
    }

    private func metadataError(_ error: any Error) -> AppError {
        AppError(
            .unknown,
            "the file of users and tokens cannot be used: \(error); make room or set its permissions right, and try again: "
                + layout.metadataFile.path)
    }

    func prepareIfPossible() {
        do {
            try prepare()
        } catch {
            logger.error("no users until the metadata file can be read", metadata: ["error": "\(error)"])
        }
    }

    /// The handle of a cached user: the same one for as long as it is referenced.
    func user(_ id: String) -> User {
        handles.withLock { handles in
            if let user = handles[id]?.user { return user }
            let user = User(core: self, id: id)
            handles[id] = WeakUser(user: user)
            return user
        }
    }

    // MARK: Logging in and out

    func login(_ credentials: Credentials) async throws -> User {
        try await withMetadata { try self.prepare() }
        guard case .anonymous = credentials else { return user(try await logInAnew(credentials)) }
        let task = anonymousLogin.withLock { running in
            if let running { return running }
            // Shared by several callers, so no single one of them owns it; it ends with the requests.
            let task = Task {
                defer { self.anonymousLogin.withLock { $0 = nil } }
                return try await self.anonymousUser()
            }
            running = task
            return task
        }
        return user(try await task.value)
    }

    /// The id of the anonymous user who is logged in, or else of a new one.
    private func anonymousUser() async throws -> String {
        let known = users.all.first { $0.state == .loggedIn && $0.profile.isAnonymous }
        guard let known else { return try await logInAnew(.anonymous) }
        try await withMetadata { self.users.setCurrent(known.id) }
        return known.id
    }

    private func logInAnew(_ credentials: Credentials) async throws -> String {
        var record = try await http.login(credentials)
        clock.withLock { $0.received(record.accessToken) }
        record.profile = try await http.profile(accessToken: record.accessToken)
        try await withMetadata { [record] in try self.users.loggedIn(record) }
        sync.userChanged(record.id)
        userListeners.call()
        outcomes.flush()
        return record.id
    }

    /// Uses the metadata file; a failure becomes an error for the app.
    private func withMetadata(_ body: @Sendable @escaping () throws -> Void) async throws(AppError) {
        do {
            try await FileQueue.run(body)
        } catch {
            throw error as? AppError ?? metadataError(error)
        }
    }

    /// Clears the tokens and stops the sessions; nothing goes to the server.
    /// - Parameter state: nil for that of a user who is logged out: an anonymous one is removed.
    func endLocally(_ userID: String, as state: UserState? = nil) {
        let isAnonymous = users.record(userID)?.profile.isAnonymous == true
        users.end(userID, as: state ?? (isAnonymous ? .removed : .loggedOut))
        sync.userEnded(userID)
        userListeners.call()
    }

    /// Whether a user has an access token that need not be renewed before use, by the server's clock.
    func hasValidToken(_ user: UserRecord) -> Bool {
        let now = clock.withLock { $0.now() }
        return !(AccessToken(user.accessToken)?.isExpired(at: now) ?? true)
    }

    /// Calls the server with a user's access token; once more with a new token if the server refuses it.
    /// - Parameter isRefusal: whether an error may be for the token; of most calls, whether it is one with status 401.
    func withAccessToken<Answer>(
        of userID: String, isRefusal: (AppError) -> Bool = { $0.httpStatusCode == 401 },
        _ call: (String) async throws -> Answer
    ) async throws -> Answer {
        let token = try users.token(\.accessToken, of: userID)
        do {
            return try await call(token)
        } catch let error as AppError where isRefusal(error) {
            return try await call(try await refreshAccessToken(userID: userID))
        }
    }

    /// Renews a user's access token; calls at the same time share one request.
    func refreshAccessToken(userID: String) async throws -> String {
        let task = refreshes.withLock { refreshes in
            if let running = refreshes[userID] { return running }
            // Shared by several callers, so no single one of them owns it; it ends with the request.
            let task = Task { [http, users, weak self] () async throws -> String in
                let refresh = try users.token(\.refreshToken, of: userID)
                let token = try await http.refreshAccessToken(refreshToken: refresh)
                self?.clock.withLock { $0.received(token) }
                try await FileQueue.run { users.renew(userID, accessToken: token) }
                return token
            }
            refreshes[userID] = task
            return task
        }
        defer { refreshes.withLock { if $0[userID] == task { $0[userID] = nil } } }
        return try await task.value
    }
}
