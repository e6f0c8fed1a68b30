internal import Changesets
internal import Dispatch
internal import Foundation
internal import Logging
import SyncModel
internal import SyncProtocol

/// A client's connection to the server and the realms that sync over it: those of one user, or one realm without multiplexing.
///
/// All of it runs on one queue, integration of downloads and the app's client reset blocks included: what blocks it
/// holds up this user's syncing and nothing else.
actor SyncConnection {
    nonisolated let executor: QueueExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// One session on the connection: its state machine and the realm that it is for.
    struct Slot {
        var machine: ClientSession
        var realm: SyncedRealm
        var role: Role
        /// Nil until the first download.
        var integrator: DownloadIntegrator?
    }
    enum Role: Sendable {
        case main
        /// Downloads the fresh copy of a client reset.
        case fresh
    }

    let userID: String
    let app: AppReference
    let connector: any WebSocketConnecting
    let timeouts: SyncTimeoutOptions
    let logger: Logger

    var realms: [ObjectIdentifier: SyncedRealm] = [:]
    var slots: [SessionIdent: Slot] = [:]
    /// Sessions that have only to say goodbye on this lifecycle. They hold no realm, so that its file can be closed.
    var farewells: [SessionIdent: ClientSession] = [:]
    var sendQueue: [SessionIdent] = []
    /// What is in `sendQueue`.
    var queued: Set<SessionIdent> = []

    var lifecycle = ConnectionMachine()
    var channel: (any WebSocketChannel)?
    /// By which rules the app's copies are made; nil until the server says it, which only Sluice does.
    var compatibility: PeerCompatibility?
    var random = SystemRandomNumberGenerator()
    var isAbandoned = false
    var isFlushing = false
    private var timers: UInt64 = 0

    var checker = ClientConnectionChecker(mode: .partition)
    var encoder = MessageEncoder(mode: .partition)
    var parser = ServerMessageParser(mode: .partition)
    var pingSent: DispatchTime?
    var roundTripMS: UInt64 = 0
    var pingTimer: UInt64 = 0
    var lingerTimer: UInt64 = 0

    init(
        userID: String, app: AppReference, connector: any WebSocketConnecting, timeouts: SyncTimeoutOptions,
        logger: Logger
    ) {
        self.userID = userID
        self.app = app
        self.connector = connector
        self.timeouts = timeouts
        var logger = logger
        logger[metadataKey: "user"] = "\(userID)"
        self.logger = logger
        executor = QueueExecutor(label: "DeviceSync.connection.\(userID)")
    }

    /// Runs `body` after everything that was asked for before.
    nonisolated func perform(_ body: @escaping @Sendable (isolated SyncConnection) -> Void) {
        executor.queue.async { self.assumeIsolated { body($0) } }
    }

    /// Runs `body` later; the number tells whether the timer is still the one wanted.
    func schedule(after seconds: Double, _ body: @escaping @Sendable (isolated SyncConnection, UInt64) -> Void) -> UInt64 {
        timers += 1
        let number = timers
        executor.queue.asyncAfter(deadline: .now() + seconds) { [weak self] in
            self?.assumeIsolated { body($0, number) }
        }
        return number
    }

    // MARK: Sessions come and go

    func add(_ session: SyncSession, _ core: RealmCore, _ configuration: Realm.Configuration) {
        let realm = SyncedRealm(
            session: session, core: core, configuration: configuration, app: app, logger: logger)
        realms[ObjectIdentifier(session)] = realm
        activate(realm)
    }

    /// Another instance of the realm was opened: its blocks count from now on.
    func reopened(_ session: SyncSession, _ configuration: Realm.Configuration) {
        guard let realm = realm(of: session), let sync = configuration.syncConfiguration else { return }
        realm.configuration = configuration
        session.set(configuration: sync)
        if realm.isSuspended { resume(session) }
    }

    func realm(of session: SyncSession) -> SyncedRealm? { realms[ObjectIdentifier(session)] }

    /// Starts a session from what its file says.
    func activate(_ realm: SyncedRealm) {
        guard !isAbandoned, let app = app.core else { return }
        realm.isSuspended = false
        realm.isStopped = false
        realm.waitsToStart = false
        realm.interrupted = []
        guard app.users.record(userID)?.state == .loggedIn else {
            return stop(realm, .userIsNotLoggedIn(userID))
        }
        realm.stopError = nil
        realm.session.set(state: .active)
        realm.resetFiles.deliverStoredOutcome()
        realm.resetFiles.reportInterruption()
        realm.reset.started(hasRecord: realm.resetFiles.hasRecord)
        start(realm, holdsIdent: false)
    }

    /// Gives a realm a session of its own on the lifecycle.
    func start(_ realm: SyncedRealm, holdsIdent: Bool) {
        guard let app = app.core else { return }
        let sync = realm.core.sync
        var machine = ClientSession(
            ident: app.sync.nextSessionIdent(), partitionPath: realm.partitionPath, fileIdent: sync.ident,
            progress: sync.progress, newestVersion: ClientVersion(realm.core.snapshot.version),
            holdsIdent: holdsIdent, lastMark: realm.lastMark)
        realm.adoptWaits(&machine)
        add(machine, realm, .main)
    }

    func add(_ machine: ClientSession, _ realm: SyncedRealm, _ role: Role) {
        let ident = machine.ident
        if role == .main { realm.mainIdent = ident } else { realm.freshIdent = ident }
        slots[ident] = Slot(machine: machine, realm: realm, role: role)
        if lifecycle.isConnected { slots[ident]?.machine.connected(fastReconnect: false) }
        enlist(ident)
        updateConnection()
    }

    /// Takes a realm's sessions off the connection, saying goodbye where that is due.
    func endSlots(of realm: SyncedRealm) {
        endMain(realm)
        endFresh(realm)
    }

    /// Ends the realm's own session; what waits asks the next one for its marks.
    func endMain(_ realm: SyncedRealm) {
        guard let ident = realm.mainIdent.take() else { return }
        if let machine = slots[ident]?.machine { realm.resetMarks(after: machine) }
        endSlot(ident)
    }

    /// Ends the session of a client reset's fresh copy.
    func endFresh(_ realm: SyncedRealm) {
        guard let ident = realm.freshIdent.take() else { return }
        if let machine = slots[ident]?.machine { realm.lastMark = max(realm.lastMark, machine.markTarget) }
        endSlot(ident)
    }

    private func endSlot(_ ident: SessionIdent) {
        guard let slot = slots.removeValue(forKey: ident) else { return }
        var machine = slot.machine
        machine.end()
        if lifecycle.isConnected, !machine.hasLeft {
            // What the server has still on its way may acknowledge everything that was written up to now.
            if slot.role == .main {
                checker.setNewestClientVersion(ClientVersion(slot.realm.core.snapshot.version), for: ident)
            }
            farewells[ident] = machine
            enlist(ident)
        }
        updateConnection()
    }

    func suspend(_ session: SyncSession) {
        guard let realm = realm(of: session), !realm.isSuspended else { return }
        realm.isSuspended = true
        // A reset that is under way starts over with the server's next error; what is downloaded stays.
        perform(realm.reset.dropped(), realm)
        endSlots(of: realm)
        session.set(state: .inactive)
        realm.failWaits(SyncError(.clientSessionError, "operation aborted: the session was suspended"))
        session.set(connection: .disconnected)
    }

    func resume(_ session: SyncSession) {
        guard let realm = realm(of: session) else { return }
        if realm.isSuspended || realm.isStopped {
            guard !realm.reset.isLeftToApp else { return }
            activate(realm)
        }
        retryNow()
    }

    func userLoggedIn(_ session: SyncSession) {
        guard let realm = realm(of: session), realm.isStopped, !realm.reset.isLeftToApp else { return }
        activate(realm)
        retryNow()
    }

    func userEnded(_ session: SyncSession) {
        guard let realm = realm(of: session) else { return }
        stop(realm, .userIsNotLoggedIn(userID))
        if !session.hasInstances { finish(realm) }
    }

    /// Ends a session until the app does something about it.
    func stop(_ realm: SyncedRealm, _ error: SyncError) {
        realm.isStopped = true
        perform(realm.reset.dropped(), realm)
        endSlots(of: realm)
        realm.session.set(state: .inactive)
        realm.session.set(connection: .disconnected)
        realm.failWaits(error)
        if !realm.session.hasInstances { finish(realm) }
    }

    // MARK: The last instance of a realm is gone

    func instancesGone(_ session: SyncSession) {
        guard let realm = realm(of: session), !session.hasInstances else { return }
        if realm.isSuspended || realm.isStopped || isAbandoned || realm.isUploaded { finish(realm) }
    }

    func finish(_ realm: SyncedRealm) {
        guard app.core?.sync.remove(realm.session, evenIfOpen: false) ?? true else { return }
        endSlots(of: realm)
        perform(realm.reset.dropped(), realm)
        realm.failWaits(SyncError(.clientSessionError, "operation aborted: the realm was closed"))
        realms[ObjectIdentifier(realm.session)] = nil
        updateConnection()
    }

    func abandon() {
        isAbandoned = true
        channel?.close()
        channel = nil
        lifecycle.closed()
        slots = [:]
        farewells = [:]
        for realm in realms.values {
            // As the end of the process would leave it.
            realm.resetFiles.closeFresh()
            realm.failWaits(SyncError(.clientSessionError, "operation aborted"))
        }
        realms = [:]
    }

    // MARK: Waits and local writes

    func wait(_ session: SyncSession, _ wait: SyncWait) {
        guard let realm = realm(of: session) else {
            return wait.completion(SyncError(.clientSessionError, "operation aborted: the realm is closed"))
        }
        if let error = realm.stopError { return wait.completion(error) }
        realm.add(wait, machine: realm.mainIdent.flatMap { slots[$0]?.machine })
        if wait.direction == .download, let ident = realm.mainIdent, var machine = slots[ident]?.machine {
            realm.adoptWaits(&machine)
            slots[ident]?.machine = machine
            enlist(ident)
        }
        realm.checkUploadWaits()
    }

    func cancelWait(_ id: UUID, _ session: SyncSession) { realm(of: session)?.cancelWait(id) }

    func localVersion(_ session: SyncSession) {
        guard let realm = realm(of: session), let ident = realm.mainIdent else { return }
        slots[ident]?.machine.localVersion(ClientVersion(realm.core.snapshot.version))
        realm.reportUploads()
        enlist(ident)
    }
}
