internal import Changesets
internal import Dispatch
internal import Foundation
internal import Logging
import SyncModel
internal import SyncProtocol

/// One connection and the sessions on it: those of one user, or of one realm without multiplexing.
///
/// All of it runs on one queue, integration of downloads and the app's client reset blocks included: what blocks it
/// holds up this user's syncing and nothing else.
actor SyncWorker {
    nonisolated let executor: WorkerExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// One session on the connection: a state machine and who feeds it.
    struct Slot {
        var machine: ClientSession
        var driver: SessionDriver
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

    var drivers: [ObjectIdentifier: SessionDriver] = [:]
    var slots: [SessionIdent: Slot] = [:]
    /// Sessions that have only to say goodbye on this connection. They hold no realm, so that its file can be closed.
    var farewells: [SessionIdent: ClientSession] = [:]
    var sendQueue: [SessionIdent] = []
    /// What is in `sendQueue`.
    var queued: Set<SessionIdent> = []

    var connection = ConnectionMachine()
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
        executor = WorkerExecutor(label: "DeviceSync.worker.\(userID)")
    }

    /// Runs `body` after everything that was asked for before.
    nonisolated func perform(_ body: @escaping @Sendable (isolated SyncWorker) -> Void) {
        executor.queue.async { self.assumeIsolated { body($0) } }
    }

    /// Runs `body` later; the number tells whether the timer is still the one wanted.
    func schedule(after seconds: Double, _ body: @escaping @Sendable (isolated SyncWorker, UInt64) -> Void) -> UInt64 {
        timers += 1
        let number = timers
        executor.queue.asyncAfter(deadline: .now() + seconds) { [weak self] in
            self?.assumeIsolated { body($0, number) }
        }
        return number
    }

    // MARK: Sessions come and go

    func add(_ session: SyncSession, _ core: RealmCore, _ configuration: Realm.Configuration) {
        let driver = SessionDriver(
            session: session, core: core, configuration: configuration, app: app, logger: logger)
        drivers[ObjectIdentifier(session)] = driver
        activate(driver)
    }

    /// Another instance of the realm was opened: its blocks count from now on.
    func reopened(_ session: SyncSession, _ configuration: Realm.Configuration) {
        guard let driver = driver(of: session), let sync = configuration.syncConfiguration else { return }
        driver.configuration = configuration
        session.set(configuration: sync)
        if driver.isSuspended { resume(session) }
    }

    func driver(of session: SyncSession) -> SessionDriver? { drivers[ObjectIdentifier(session)] }

    /// Starts a session from what its file says.
    func activate(_ driver: SessionDriver) {
        guard !isAbandoned, let app = app.core else { return }
        driver.isSuspended = false
        driver.isStopped = false
        driver.waitsToStart = false
        driver.interrupted = []
        guard app.users.record(userID)?.state == .loggedIn else {
            return stop(driver, .userIsNotLoggedIn(userID))
        }
        driver.stopError = nil
        driver.session.set(state: .active)
        driver.resetFiles.deliverStoredOutcome()
        driver.resetFiles.reportInterruption()
        driver.reset.started(hasRecord: driver.resetFiles.hasRecord)
        start(driver, holdsIdent: false)
    }

    /// Gives a driver a session of its own on the connection.
    func start(_ driver: SessionDriver, holdsIdent: Bool) {
        guard let app = app.core else { return }
        let sync = driver.core.sync
        var machine = ClientSession(
            ident: app.sync.nextSessionIdent(), partitionPath: driver.partitionPath, fileIdent: sync.ident,
            progress: sync.progress, newestVersion: ClientVersion(driver.core.snapshot.version),
            holdsIdent: holdsIdent, lastMark: driver.lastMark)
        driver.adoptWaits(&machine)
        add(machine, driver, .main)
    }

    func add(_ machine: ClientSession, _ driver: SessionDriver, _ role: Role) {
        let ident = machine.ident
        if role == .main { driver.mainIdent = ident } else { driver.freshIdent = ident }
        slots[ident] = Slot(machine: machine, driver: driver, role: role)
        if connection.isConnected { slots[ident]?.machine.connected(fastReconnect: false) }
        enlist(ident)
        updateConnection()
    }

    /// Takes a driver's sessions off the connection, saying goodbye where that is due.
    func endSlots(of driver: SessionDriver) {
        endMain(driver)
        endFresh(driver)
    }

    /// Ends the realm's own session; what waits asks the next one for its marks.
    func endMain(_ driver: SessionDriver) {
        guard let ident = driver.mainIdent.take() else { return }
        if let machine = slots[ident]?.machine { driver.resetMarks(after: machine) }
        endSlot(ident)
    }

    /// Ends the session of a client reset's fresh copy.
    func endFresh(_ driver: SessionDriver) {
        guard let ident = driver.freshIdent.take() else { return }
        if let machine = slots[ident]?.machine { driver.lastMark = max(driver.lastMark, machine.markTarget) }
        endSlot(ident)
    }

    private func endSlot(_ ident: SessionIdent) {
        guard let slot = slots.removeValue(forKey: ident) else { return }
        var machine = slot.machine
        machine.end()
        if connection.isConnected, !machine.hasLeft {
            // What the server has still on its way may acknowledge everything that was written up to now.
            if slot.role == .main {
                checker.setNewestClientVersion(ClientVersion(slot.driver.core.snapshot.version), for: ident)
            }
            farewells[ident] = machine
            enlist(ident)
        }
        updateConnection()
    }

    func suspend(_ session: SyncSession) {
        guard let driver = driver(of: session), !driver.isSuspended else { return }
        driver.isSuspended = true
        // A reset that is under way starts over with the server's next error; what is downloaded stays.
        perform(driver.reset.dropped(), driver)
        endSlots(of: driver)
        session.set(state: .inactive)
        driver.failWaits(SyncError(.clientSessionError, "operation aborted: the session was suspended"))
        session.set(connection: .disconnected)
    }

    func resume(_ session: SyncSession) {
        guard let driver = driver(of: session) else { return }
        if driver.isSuspended || driver.isStopped {
            guard !driver.reset.isLeftToApp else { return }
            activate(driver)
        }
        retryNow()
    }

    func userLoggedIn(_ session: SyncSession) {
        guard let driver = driver(of: session), driver.isStopped, !driver.reset.isLeftToApp else { return }
        activate(driver)
        retryNow()
    }

    func userEnded(_ session: SyncSession) {
        guard let driver = driver(of: session) else { return }
        stop(driver, .userIsNotLoggedIn(userID))
        if !session.hasInstances { finish(driver) }
    }

    /// Ends a session until the app does something about it.
    func stop(_ driver: SessionDriver, _ error: SyncError) {
        driver.isStopped = true
        perform(driver.reset.dropped(), driver)
        endSlots(of: driver)
        driver.session.set(state: .inactive)
        driver.session.set(connection: .disconnected)
        driver.failWaits(error)
        if !driver.session.hasInstances { finish(driver) }
    }

    // MARK: The last instance of a realm is gone

    func instancesGone(_ session: SyncSession) {
        guard let driver = driver(of: session), !session.hasInstances else { return }
        if driver.isSuspended || driver.isStopped || isAbandoned || driver.isUploaded { finish(driver) }
    }

    func finish(_ driver: SessionDriver) {
        guard app.core?.sync.remove(driver.session, evenIfOpen: false) ?? true else { return }
        endSlots(of: driver)
        perform(driver.reset.dropped(), driver)
        driver.failWaits(SyncError(.clientSessionError, "operation aborted: the realm was closed"))
        drivers[ObjectIdentifier(driver.session)] = nil
        updateConnection()
    }

    func abandon() {
        isAbandoned = true
        channel?.close()
        channel = nil
        connection.closed()
        slots = [:]
        farewells = [:]
        for driver in drivers.values {
            // As the end of the process would leave it.
            driver.resetFiles.closeFresh()
            driver.failWaits(SyncError(.clientSessionError, "operation aborted"))
        }
        drivers = [:]
    }

    // MARK: Waits and local writes

    func wait(_ session: SyncSession, _ wait: SyncWait) {
        guard let driver = driver(of: session) else {
            return wait.completion(SyncError(.clientSessionError, "operation aborted: the realm is closed"))
        }
        if let error = driver.stopError { return wait.completion(error) }
        driver.add(wait, machine: driver.mainIdent.flatMap { slots[$0]?.machine })
        if wait.direction == .download, let ident = driver.mainIdent, var machine = slots[ident]?.machine {
            driver.adoptWaits(&machine)
            slots[ident]?.machine = machine
            enlist(ident)
        }
        driver.checkUploadWaits()
    }

    func cancelWait(_ id: UUID, _ session: SyncSession) { driver(of: session)?.cancelWait(id) }

    func localVersion(_ session: SyncSession) {
        guard let driver = driver(of: session), let ident = driver.mainIdent else { return }
        slots[ident]?.machine.localVersion(ClientVersion(driver.core.snapshot.version))
        driver.reportUploads()
        enlist(ident)
    }
}
