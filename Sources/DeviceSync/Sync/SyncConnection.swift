internal import Changesets
internal import Dispatch
internal import Foundation
internal import Logging
import SyncModel
internal import SyncProtocol

/// A client's connection to the server and the realms that sync over it: those of one user in one mode, or one realm without
/// multiplexing.
///
/// All of it runs on one queue, integration of downloads and the app's client reset blocks included: what blocks it
/// holds up this user's syncing and nothing else.
actor SyncConnection {
    nonisolated let executor: QueueExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    let userID: String
    let mode: SyncMode
    let app: AppReference
    let connector: any WebSocketConnecting
    let timeouts: SyncTimeoutOptions
    let logger: Logging.Logger

    private(set) var realms: [ObjectIdentifier: SyncedRealm] = [:]
    /// The sessions on the connection, and the realms that they are for.
    private(set) var owners: [SessionIdent: (realm: SyncedRealm, session: OpenSession)] = [:]
    /// Sessions that have only to say goodbye on this connection. They hold no realm, so that its file can be closed.
    var farewells: [SessionIdent: ClientSession] = [:]
    var sendQueue = SendQueue()

    var lifecycle = ConnectionMachine()
    var keepalive: Keepalive
    var channel: (any WebSocketChannel)?
    /// The rules by which the app's copies are made; nil until the server names them, which only Sluice does.
    var compatibility: PeerCompatibility?
    /// The largest upload that was sent on the connection: its session and the bytes of its changesets.
    var largestUpload: (session: SessionIdent, bytes: Int)?
    var random = SystemRandomNumberGenerator()
    private(set) var isAbandoned = false
    var isFlushing = false
    private var timers: UInt64 = 0
    /// The number of the timer that closes an idle connection; 0 for none.
    var lingerTimer: UInt64 = 0

    var checker: ClientConnectionChecker
    var encoder: MessageEncoder
    var parser: ServerMessageParser

    init(
        userID: String, mode: SyncMode, app: AppReference, connector: any WebSocketConnecting,
        timeouts: SyncTimeoutOptions, logger: Logging.Logger
    ) {
        self.userID = userID
        self.mode = mode
        checker = ClientConnectionChecker(mode: mode)
        encoder = MessageEncoder(mode: mode)
        parser = ServerMessageParser(mode: mode)
        self.app = app
        self.connector = connector
        self.timeouts = timeouts
        keepalive = Keepalive(
            period: .milliseconds(timeouts.pingKeepalivePeriod), timeout: .milliseconds(timeouts.pongKeepaliveTimeout))
        var logger = logger
        logger[metadataKey: "user"] = "\(userID)"
        self.logger = logger
        executor = QueueExecutor(label: "DeviceSync.connection.\(userID)")
    }

    /// The app has let go of everything before the connection had lingered for long enough.
    deinit { channel?.close() }

    /// Runs `body` after everything that was asked for before.
    nonisolated func perform(_ body: @escaping @Sendable (isolated SyncConnection) -> Void) {
        executor.queue.async { self.assumeIsolated { body($0) } }
    }

    /// Runs `body` with a session's realm, unless the session has ended by then.
    nonisolated func perform(
        for session: SyncSession, _ body: @escaping @Sendable (SyncedRealm, isolated SyncConnection) -> Void
    ) {
        perform { connection in
            if let realm = connection.realm(of: session) {
                body(realm, connection)
            } else if session.connection !== connection {
                // The realm has moved to the other sync mode meanwhile.
                session.connection.perform(for: session, body)
            }
        }
    }

    /// Runs `body` later; the number tells whether the timer is still the one wanted.
    func schedule(
        after delay: Duration, _ body: @escaping @Sendable (isolated SyncConnection, UInt64) -> Void
    ) -> UInt64 {
        timers += 1
        let number = timers
        executor.queue.asyncAfter(deadline: .now() + delay.seconds) { [weak self] in
            self?.assumeIsolated { body($0, number) }
        }
        return number
    }

    // MARK: Realms

    /// - Parameters:
    ///   - waits: what was waited for on another connection.
    ///   - resting: whether the realm syncs only once it is resumed.
    func add(
        _ session: SyncSession, _ core: RealmCore, _ configuration: Realm.Configuration,
        waits: SyncWaits = SyncWaits(), resting: Bool = false
    ) {
        let realm = SyncedRealm(
            session: session, core: core, configuration: configuration, app: app, waits: waits, resting: resting,
            logger: logger)
        realms[ObjectIdentifier(session)] = realm
        if !resting { realm.activate(on: self) }
    }

    func realm(of session: SyncSession) -> SyncedRealm? { realms[ObjectIdentifier(session)] }

    func remove(_ realm: SyncedRealm) {
        realms[ObjectIdentifier(realm.session)] = nil
        updateConnection()
    }

    func wait(_ session: SyncSession, _ wait: SyncWait) {
        guard let realm = realm(of: session) else {
            let home = session.connection
            return home === self ? wait.completion(Self.isClosed) : home.perform { $0.wait(session, wait) }
        }
        realm.add(wait, on: self)
    }

    func wait(_ session: SyncSession, _ wait: SubscriptionWait) {
        guard let realm = realm(of: session) else {
            let home = session.connection
            return home === self ? wait.completion(Self.isClosed) : home.perform { $0.wait(session, wait) }
        }
        realm.add(wait, on: self)
    }

    private static var isClosed: SyncError {
        SyncError(.clientSessionError, "operation aborted: the realm is closed")
    }

    /// Stops everything at once, as the end of the process would; for tests.
    func abandon() {
        isAbandoned = true
        channel?.close()
        channel = nil
        lifecycle.closed()
        owners = [:]
        farewells = [:]
        for realm in realms.values { realm.abandon() }
        realms = [:]
    }

    // MARK: Sessions

    func add(_ session: OpenSession, of realm: SyncedRealm) {
        owners[session.machine.ident] = (realm, session)
        enlist(session.machine.ident)
        updateConnection()
    }

    /// Takes a session that has ended off the connection.
    /// - Parameter newestVersion: up to which the server may acknowledge the realm's writes; nil if it has none.
    func sayGoodbye(_ machine: ClientSession, newestVersion: ClientVersion?) {
        owners[machine.ident] = nil
        if lifecycle.isConnected, !machine.hasLeft {
            if let newestVersion { checker.setNewestClientVersion(newestVersion, for: machine.ident) }
            farewells[machine.ident] = machine
            enlist(machine.ident)
        }
        updateConnection()
    }

    /// Notes that a session may have something to send.
    func enlist(_ ident: SessionIdent) {
        guard lifecycle.isConnected, owners[ident] != nil || farewells[ident] != nil else { return }
        sendQueue.append(ident)
        flush()
    }
}

extension Duration {
    var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
