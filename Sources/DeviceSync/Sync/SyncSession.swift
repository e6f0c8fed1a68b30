public import Dispatch
internal import Foundation
internal import Synchronization

/// The syncing of one realm of one user.
///
/// Opening a synced realm starts its session; it ends some time after the last instance of the realm is gone, when
/// everything has been uploaded.
public final class SyncSession: Sendable, Equatable {
    /// Whether the session tries to sync.
    @frozen public enum State: Sendable {
        /// Talking to the server, or trying to.
        case active
        /// Suspended, logged out, or stopped by an error.
        case inactive
        /// Dead: the realm is closed, or the user removed.
        case invalid
    }

    /// Whether the session's connection is up.
    @frozen public enum ConnectionState: Sendable {
        /// No connection, or waiting to try again.
        case disconnected
        /// The connection is being made.
        case connecting
        /// Up.
        case connected
    }

    /// The direction that a wait waits for.
    @frozen public enum ProgressDirection: Sendable {
        /// The server has what was committed here.
        case upload
        /// Everything that the server had is here.
        case download
    }

    private struct Contents {
        var state: State = .active
        var connection: ConnectionState = .disconnected
        var instances = 0
        /// Called with each change of the connection's state, and with nil when the session is dead.
        var observers: [UInt64: @Sendable (ConnectionState?) -> Void] = [:]
        var next: UInt64 = 0
        var syncConfiguration: SyncConfiguration?

        /// - Returns: the number to remove the observer by.
        mutating func add(_ observer: @escaping @Sendable (ConnectionState?) -> Void) -> UInt64 {
            next += 1
            observers[next] = observer
            return next
        }
    }

    let path: String
    let userID: String
    /// The connection of the sync mode that the realm is in; another one once the app has moved to the other mode.
    private let home: Mutex<SyncConnection>
    private let app: AppReference
    private let contents: Mutex<Contents>

    init(path: String, configuration: SyncConfiguration, connection: SyncConnection) {
        self.path = path
        userID = configuration.user.id
        app = AppReference(configuration.user.core)
        home = Mutex(connection)
        contents = Mutex(Contents(syncConfiguration: configuration))
    }

    var connection: SyncConnection { home.withLock { $0 } }

    func move(to connection: SyncConnection) { home.withLock { $0 = connection } }

    /// The same session.
    public static func == (left: SyncSession, right: SyncSession) -> Bool { left === right }

    // MARK: What the app sees

    /// Whether the session tries to sync.
    public var state: State { contents.withLock { $0.state } }
    /// Whether its connection is up.
    public var connectionState: ConnectionState { contents.withLock { $0.connection } }
    /// The user whose realm it is; nil once the session is dead.
    public func parentUser() -> User? { configuration()?.user }
    /// How the realm is synced; nil once the session is dead.
    public func configuration() -> SyncConfiguration? { contents.withLock { $0.syncConfiguration } }

    /// Stops both directions, for this realm only.
    ///
    /// Returns at once; `state` is `.inactive` as soon as the session rests. Waits under way fail, later ones wait for `resume()`. Not kept: the
    /// next launch begins active, and an opening that downloads resumes.
    public func suspend() { connection.perform(for: self) { $0.suspend(on: $1) } }

    /// Goes on, at once: a wait for the next attempt to connect is cut short. Does nothing to an active session that is connected or connecting.
    ///
    /// After an error that stopped the session this tries once more, but for a client reset that is left to the app: that ends with
    /// `immediatelyHandleError(_:)` or at the next launch.
    public func resume() { connection.perform(for: self) { $0.resume(on: $1) } }

    /// Makes all of the app's sessions that wait for the next attempt to connect try now; their waits begin again at one second.
    ///
    /// No promise, and no effect on sessions that are connected, connecting, suspended or stopped by an error. A connection that is silent but not yet
    /// known to be dead is kept until `SyncTimeoutOptions.pongKeepaliveTimeout` is over.
    public func reconnect() { app.core?.sync.reconnectAll() }

    /// Calls `block` once, when the direction has caught up or cannot any more; see `wait(for:)`.
    /// - Parameters:
    ///   - direction: upload or download.
    ///   - queue: where `block` is called; nil for `SyncManager.callbackQueue`, which is the main queue unless set.
    ///   - block: gets nil, or what ended the session.
    public func wait(
        for direction: ProgressDirection, queue: DispatchQueue? = nil, block: @Sendable @escaping ((any Error)?) -> Void
    ) {
        let queue = queue ?? app.core?.syncManager.callbackQueue ?? .main
        begin(
            SyncWait(direction: direction, failsOnConnectionErrors: false) { error in queue.async { block(error) } })
    }

    /// Returns once the direction has caught up: everything committed here before the call is with the server, or
    /// everything the server had at the call is here.
    /// - Throws: what ended the session, or `CancellationError`.
    public func wait(for direction: ProgressDirection) async throws {
        try await wait(for: direction, failingOnConnectionErrors: false)
    }

    /// - Parameter resuming: whether a session that rests goes on, in one step with the beginning of the wait.
    func wait(
        for direction: ProgressDirection, failingOnConnectionErrors: Bool, resuming: Bool = false
    ) async throws {
        try await waiting { id, completion in
            let wait = SyncWait(
                id: id, direction: direction, failsOnConnectionErrors: failingOnConnectionErrors, completion: completion
            )
            begin(wait, resuming: resuming)
        }
    }

    /// Waits for what `begin` begins, under an identifier by which the end of the task cancels it.
    func waiting(_ begin: (UUID, @escaping @Sendable ((any Error)?) -> Void) -> Void) async throws {
        let id = UUID()
        let cancel: @Sendable () -> Void = { self.connection.perform(for: self) { realm, _ in realm.cancelWait(id) } }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                begin(id) { error in
                    if let error { continuation.resume(throwing: error) } else { continuation.resume() }
                }
                if Task.isCancelled { cancel() }
            }
        } onCancel: {
            cancel()
        }
    }

    private func begin(_ wait: SyncWait, resuming: Bool = false) {
        connection.perform { connection in
            if resuming { connection.realm(of: self)?.resume(on: connection) }
            connection.wait(self, wait)
        }
    }

    /// Each change of the connection's state, the present one first. Ends with the session. (Not upstream.)
    public var connectionStates: AsyncStream<ConnectionState> {
        AsyncStream(bufferingPolicy: .bufferingNewest(16)) { continuation in
            let number = contents.withLock { contents -> UInt64? in
                continuation.yield(contents.connection)
                guard contents.state != .invalid else { return nil }
                return contents.add { if let state = $0 { continuation.yield(state) } else { continuation.finish() } }
            }
            guard let number else { return continuation.finish() }
            continuation.onTermination = { [weak self] _ in self?.contents.withLock { $0.observers[number] = nil } }
        }
    }

    /// Calls `block` with each change of the connection's state, on the callback queue. (Not upstream.)
    public func observeConnectionState(_ block: @escaping @Sendable (ConnectionState) -> Void) -> NotificationToken {
        let queue = app.core?.syncManager.callbackQueue ?? .main
        let number = contents.withLock { $0.add { state in if let state { queue.async { block(state) } } } }
        return NotificationToken { [weak self] in self?.contents.withLock { $0.observers[number] = nil } }
    }

    /// Carries out the file action of an error now: for a client reset, backs the realm's file up and deletes it.
    ///
    /// Release every realm, object, collection and notification token of the file first. The call then waits until the
    /// file is really closed, which takes as long as the session and handles on their way out need, and at most ten
    /// seconds. If the file is still open then, the log says what holds it, and the action stays for the next launch. A
    /// block of a client reset (`beforeReset`, `afterReset`) holds the realm itself: there the call does not wait.
    ///
    /// A second call for the same error does nothing. The call blocks its thread; `performFileAction(_:)` does not.
    public static func immediatelyHandleError(_ token: SyncError.ActionToken) {
        guard let action = PendingFileAction(token) else { return }
        action.logging { try action.perform(within: PendingFileAction.patience) }
    }

    /// Carries out the file action of an error now.
    @available(*, deprecated, message: "Use immediatelyHandleError(_:)")
    public static func immediatelyHandleError(_ token: SyncError.ActionToken, syncManager: SyncManager) {
        immediatelyHandleError(token)
    }

    /// Does the same as `immediatelyHandleError(_:)`, and suspends the task where that blocks the thread. (Not upstream.)
    /// - Throws: `Realm.Error` with code `alreadyOpen`, which says what still holds the file after ten seconds;
    ///   `CancellationError`; or what kept the file from being backed up or deleted. The action stays for the next launch.
    public static func performFileAction(_ token: SyncError.ActionToken) async throws {
        try await PendingFileAction(token)?.perform(within: PendingFileAction.patience)
    }

    // MARK: What the connection says

    func set(state: State) {
        let left = contents.withLock { contents -> [@Sendable (ConnectionState?) -> Void] in
            guard contents.state != .invalid else { return [] }
            contents.state = state
            guard state == .invalid else { return [] }
            contents.syncConfiguration = nil
            defer { contents.observers = [:] }
            return Array(contents.observers.values)
        }
        for observer in left { observer(nil) }
    }

    func set(connection: ConnectionState) {
        let observers = contents.withLock { contents -> [@Sendable (ConnectionState?) -> Void] in
            guard contents.connection != connection else { return [] }
            contents.connection = connection
            return Array(contents.observers.values)
        }
        for observer in observers { observer(connection) }
    }

    func set(configuration: SyncConfiguration) { contents.withLock { $0.syncConfiguration = configuration } }

    func subscriptionsChanged() { connection.perform(for: self) { $0.subscriptionsChanged(on: $1) } }

    func localVersion() { connection.perform(for: self) { $0.localVersion(on: $1) } }

    // MARK: Instances

    func retainInstance() { contents.withLock { $0.instances += 1 } }

    func releaseInstance(of core: RealmCore) {
        let isLast = contents.withLock { contents -> Bool in
            contents.instances -= 1
            return contents.instances == 0
        }
        guard isLast else { return }
        if core.url == nil { app.core?.sync.remove(self, dropping: core) }
        connection.perform(for: self) { $0.instancesGone(on: $1) }
    }

    var hasInstances: Bool { instanceCount > 0 }
    /// How many handles of the realm there are.
    var instanceCount: Int { contents.withLock { $0.instances } }
}
