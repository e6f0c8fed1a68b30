internal import Dispatch
internal import Foundation
internal import Logging
import SyncModel
internal import SyncProtocol
internal import Synchronization

/// All syncing of one app: its sessions and connections.
final class SyncClient: Sendable {
    private struct Contents {
        var connections: [ConnectionKey: SyncConnection] = [:]
        var sessions: [String: SyncSession] = [:]
        var lastIdent: UInt64 = 0
        /// The realms whose initial subscriptions have had their turn.
        var subscribed: Set<String> = []
        var connector: any WebSocketConnecting
        /// The observation of the network, which lasts from the first session on.
        var network: NotificationToken?
    }
    /// One connection per user and mode, or per realm without multiplexing.
    private struct ConnectionKey: Hashable {
        var userID: String
        var mode: SyncMode
        var path: String?
    }

    private let contents: Mutex<Contents>
    private let logger: Logging.Logger
    private let running = DispatchGroup()

    /// - Parameters:
    ///   - authorities: a PEM file of authorities that are trusted beside the system's.
    ///   - proxy: the proxy for an address.
    init(
        trusting authorities: String? = nil,
        over proxy: @escaping @Sendable (_ url: String) -> ProxyServer? = { _ in nil },
        logger: Logging.Logger
    ) {
        self.logger = logger
        contents = Mutex(Contents(connector: NIOWebSocketConnector(authorities: authorities, proxy: proxy)))
    }

    /// Replaces the connector, for tests.
    func setConnector(_ connector: any WebSocketConnecting) { contents.withLock { $0.connector = connector } }

    /// The session of a realm that is being opened, started if there is none. The caller owes a `releaseInstance(of:)`.
    /// - Parameter resting: whether a new session waits for `resume(on:)`.
    /// - Returns: nil if the realm was dropped.
    func session(
        for core: RealmCore, _ configuration: Realm.Configuration, _ sync: SyncConfiguration, resting: Bool
    ) -> SyncSession? {
        let path = Self.path(core)
        let found = contents.withLock { contents -> (session: SyncSession, isNew: Bool)? in
            guard !core.isDropped else { return nil }
            if let session = contents.sessions[path], session.state != .invalid {
                session.retainInstance()
                return (session, false)
            }
            let connection = connection(of: core.sync.target(sync.target).mode, for: sync.user, path, in: &contents)
            let session = SyncSession(path: path, configuration: sync, connection: connection)
            session.retainInstance()
            contents.sessions[path] = session
            contents.network = contents.network ?? NetworkMonitor.shared.listen { [weak self] in self?.reconnectAll() }
            running.enter()
            return (session, true)
        }
        guard let (session, isNew) = found else { return nil }
        if isNew {
            session.connection.perform { $0.add(session, core, configuration, resting: resting) }
        } else {
            session.connection.perform(for: session) { $0.reopened(configuration, on: $1) }
        }
        return session
    }

    private func connection(
        of mode: SyncMode, for user: User, _ path: String, in contents: inout Contents
    ) -> SyncConnection {
        let app = user.core
        let key = ConnectionKey(
            userID: user.id, mode: mode, path: app.configuration.enableSessionMultiplexing ? nil : path)
        let connection =
            contents.connections[key]
            ?? SyncConnection(
                userID: user.id, mode: mode, app: AppReference(app), connector: contents.connector,
                timeouts: app.syncManager.timeouts, logger: logger)
        contents.connections[key] = connection
        return connection
    }

    /// Goes on with a realm on the connection of the sync mode that its app has moved to.
    ///
    /// - Parameter waits: what was waited for on the connection before.
    func move(
        _ session: SyncSession, _ core: RealmCore, _ configuration: Realm.Configuration, _ waits: SyncWaits
    ) {
        guard let sync = configuration.syncConfiguration else { return }
        let connection = contents.withLock { contents in
            self.connection(of: core.sync.target(sync.target).mode, for: sync.user, Self.path(core), in: &contents)
        }
        session.move(to: connection)
        connection.perform { $0.add(session, core, configuration, waits: waits) }
    }

    private static func path(_ core: RealmCore) -> String {
        switch core.location {
        case .file(let url): url.path
        case .memory(let name): "memory:\(name)"
        }
    }

    /// Whether a realm's initial subscriptions are asked about for the first time since the app was launched.
    func isFirstSubscribing(to core: RealmCore) -> Bool {
        contents.withLock { $0.subscribed.insert(Self.path(core)).inserted }
    }

    /// Takes a session out, unless somebody opened its realm again meanwhile.
    /// - Parameter core: a realm in memory, to be dropped with the session: from then on its name is that of another realm.
    @discardableResult
    func remove(_ session: SyncSession, evenIfOpen: Bool = false, dropping core: RealmCore? = nil) -> Bool {
        let removed = contents.withLock { contents -> Bool in
            guard contents.sessions[session.path] === session, evenIfOpen || !session.hasInstances else { return false }
            contents.sessions[session.path] = nil
            session.set(state: .invalid)
            core?.drop()
            return true
        }
        if removed { running.leave() }
        return removed
    }

    func nextSessionIdent() -> SessionIdent {
        contents.withLock { contents in
            contents.lastIdent += 1
            return SessionIdent(contents.lastIdent)
        }
    }

    var allSessions: [SyncSession] { contents.withLock { Array($0.sessions.values) } }
    func sessions(userID: String) -> [SyncSession] { allSessions.filter { $0.userID == userID } }

    private var connections: [SyncConnection] { contents.withLock { Array($0.connections.values) } }

    // MARK: Events for all

    /// A user logged in (again).
    func userChanged(_ userID: String) {
        for session in sessions(userID: userID) { session.connection.perform(for: session) { $0.userLoggedIn(on: $1) } }
    }

    /// A user's tokens are gone.
    func userEnded(_ userID: String) {
        for session in sessions(userID: userID) { session.connection.perform(for: session) { $0.userEnded(on: $1) } }
    }

    func reconnectAll() { for connection in connections { connection.perform { $0.reconnect() } } }
    func serverChanged() { for connection in connections { connection.perform { $0.serverChanged() } } }
    func reconnectForNewHeaders() { for connection in connections { connection.perform { $0.dropConnection() } } }

    func waitForTermination() { running.wait() }

    /// Stops everything at once, as the end of the process would; for tests.
    func abandon() {
        for connection in connections {
            connection.executor.queue.sync { connection.assumeIsolated { $0.abandon() } }
        }
        for session in allSessions { remove(session, evenIfOpen: true) }
    }
}
