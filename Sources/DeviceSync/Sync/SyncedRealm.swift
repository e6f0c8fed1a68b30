internal import Foundation
internal import Logging
import SyncModel
internal import SyncProtocol

/// A realm that syncs over a connection: its sessions, its client resets, and what the app waits for. Confined to the
/// connection's queue.
final class SyncedRealm {
    /// Whether the realm syncs.
    enum Activity {
        case running
        /// This device's storage failed: without a session until `retryTimer` fires.
        case waitingToStart
        /// The app asked for silence, or nobody has resumed the realm yet.
        case suspended
        /// An error or a logout ended syncing until the app, or a login, does something about it.
        case stopped(any Error)
    }

    let session: SyncSession
    let core: RealmCore
    private(set) var configuration: Realm.Configuration
    let target: SyncTarget
    let retries = SyncRetries()
    private(set) lazy var reset = RealmReset(of: self, resetFiles)
    private let resetFiles: ResetFiles

    private(set) var activity: Activity
    private(set) var sessions: [OpenSession.Role: OpenSession] = [:]
    var waits: SyncWaits
    var compensations = Compensations()
    var schemaChange = SchemaVersionChange()
    /// The number of the timer that counts; an earlier one that fires does nothing.
    private var retryTimer: UInt64 = 0

    /// - Parameters:
    ///   - waits: what was waited for on another connection.
    ///   - resting: whether the realm syncs only once it is resumed.
    init(
        session: SyncSession, core: RealmCore, configuration: Realm.Configuration, app: AppReference,
        waits: SyncWaits, resting: Bool, logger: Logging.Logger
    ) {
        self.session = session
        self.core = core
        self.configuration = configuration
        self.waits = waits
        activity = resting ? .suspended : .running
        target = core.sync.target(configuration.syncConfiguration?.target ?? .partition(.null))
        resetFiles = ResetFiles(core: core, target: target, app: app, userID: session.userID, logger: logger)
    }

    /// Whether the realm syncs, or will when a wait is over.
    var isSyncing: Bool {
        switch activity {
        case .running, .waitingToStart: true
        case .suspended, .stopped: false
        }
    }
    var isStopped: Bool { if case .stopped = activity { true } else { false } }
    var isFlexible: Bool { target.mode == .flexible }
    var isUploaded: Bool { (try? core.isUploaded(upTo: core.snapshot.version)) ?? false }

    // MARK: Coming and going

    /// Starts syncing from what the file says.
    func activate(on connection: isolated SyncConnection) {
        guard !connection.isAbandoned, let app = connection.app.core else { return }
        retries.started()
        guard app.users.record(session.userID)?.state == .loggedIn else {
            return stop(.userIsNotLoggedIn(session.userID), on: connection)
        }
        activity = .running
        schemaChange.started()
        session.set(state: .active)
        reset.started()
        if let pending = core.sync.move?.pending { return reset.begin(ResetDemand(pending), on: connection) }
        open(.main, core, on: connection)
    }

    /// Another instance of the realm was opened: its blocks count from now on.
    func reopened(_ configuration: Realm.Configuration, on connection: isolated SyncConnection) {
        guard let sync = configuration.syncConfiguration else { return }
        self.configuration = configuration
        session.set(configuration: sync)
        if case .suspended = activity { resume(on: connection) }
    }

    func suspend(on connection: isolated SyncConnection) {
        guard isSyncing else { return }
        end(.suspended, SyncError(.clientSessionError, "operation aborted: the session was suspended"), on: connection)
    }

    /// Ends syncing until the app does something about it.
    func stop(_ error: SyncError, on connection: isolated SyncConnection) {
        end(.stopped(error), error, on: connection)
        if !session.hasInstances { finish(on: connection) }
    }

    private func end(_ activity: Activity, _ error: SyncError, on connection: isolated SyncConnection) {
        self.activity = activity
        reset.dropped(on: connection)
        endSessions(on: connection)
        session.set(state: .inactive)
        session.set(connection: .disconnected)
        waits.fail(error)
    }

    func resume(on connection: isolated SyncConnection) {
        if !isSyncing {
            guard !reset.isLeftToApp else { return }
            activate(on: connection)
        }
        connection.retryNow()
    }

    func userLoggedIn(on connection: isolated SyncConnection) {
        if case .stopped = activity { resume(on: connection) }
    }

    func userEnded(on connection: isolated SyncConnection) {
        stop(.userIsNotLoggedIn(session.userID), on: connection)
    }

    /// The last instance of the realm is gone. Syncing ends once everything is uploaded; that of a realm in memory at once.
    func instancesGone(on connection: isolated SyncConnection) {
        guard !session.hasInstances else { return }
        if core.isDropped || !isSyncing || connection.isAbandoned || isUploaded { finish(on: connection) }
    }

    private func finish(on connection: isolated SyncConnection) {
        guard core.isDropped || connection.app.core?.sync.remove(session) ?? true else { return }
        endSessions(on: connection)
        reset.dropped(on: connection)
        waits.fail(SyncError(.clientSessionError, "operation aborted: the realm was closed"))
        connection.remove(self)
    }

    /// Goes on over the connection of the sync mode that the realm's app has moved to.
    func leave(_ connection: isolated SyncConnection, for sync: SyncClient) {
        // What an earlier reset has downloaded is of the old mode.
        reset.dropped(on: connection)
        reset.deleteFresh()
        endSessions(on: connection)
        let waits = waits
        self.waits = SyncWaits()
        connection.remove(self)
        sync.move(session, core, configuration, waits)
    }

    /// Leaves everything as the end of the process would.
    func abandon() {
        reset.abandon()
        waits.fail(SyncError(.clientSessionError, "operation aborted"))
    }

    // MARK: Sessions

    /// Starts a session on the connection.
    func open(
        _ role: OpenSession.Role, _ core: RealmCore, holdsIdent: Bool = false, on connection: isolated SyncConnection
    ) {
        guard let app = connection.app.core else { return }
        var logger = connection.logger
        logger[metadataKey: "realm"] = "\(self.session.path)"
        let session = OpenSession(
            role, core, ident: app.sync.nextSessionIdent(),
            target: bindTarget(role, isReset: role == .fresh || holdsIdent), isFlexible: isFlexible,
            holdsIdent: holdsIdent, lastMark: waits.lastMark, retries: retries, logger: logger)
        if role == .main { waits.askForMark(on: &session.machine) }
        if connection.lifecycle.isConnected { session.machine.connected(fastReconnect: false) }
        sessions[role] = session
        connection.add(session, of: self)
    }

    private func bindTarget(_ role: OpenSession.Role, isReset: Bool) -> String {
        switch target {
        case .partition(let partition): partition.path
        case .flexible:
            FlexibleTarget(
                reason: isReset ? .clientReset : .normal,
                // What is recovered was written under the schema of the copy.
                schemaVersion: role == .fresh
                    ? schemaChange.copiedVersion ?? configuration.schemaVersion : configuration.schemaVersion,
                // The fresh copy is made as a new realm in flexible mode is.
                migratedPartition: role == .main ? core.sync.move?.partition : nil
            ).text
        }
    }

    func endSessions(on connection: isolated SyncConnection) {
        end(.main, on: connection)
        end(.fresh, on: connection)
    }

    /// Takes a session off the connection, saying goodbye where that is due.
    func end(_ role: OpenSession.Role, on connection: isolated SyncConnection) {
        guard var machine = sessions.removeValue(forKey: role)?.machine else { return }
        switch role {
        case .main: waits.sessionEnded(machine)
        case .fresh: waits.countMarks(of: machine)
        }
        machine.end()
        // What the server has still on its way may acknowledge everything that was written up to now.
        let newest = role == .main ? core.snapshot.version : nil
        connection.sayGoodbye(machine, newestVersion: newest)
    }

    /// Starts a new session in place of the present one.
    func restart(on connection: isolated SyncConnection) {
        // A reset goes on from its fresh copy, as on a new connection.
        guard !reset.isUnderWay else { return reset.connected(on: connection) }
        end(.main, on: connection)
        open(.main, core, on: connection)
    }

    /// A new connection is up, and nothing has been sent on it.
    func connected(on connection: isolated SyncConnection) { reset.connected(on: connection) }

    /// BIND of the realm's own session is on the wire.
    func bindSent(on connection: isolated SyncConnection) { reset.bindSent(on: connection) }

    private func enlist(_ role: OpenSession.Role, on connection: isolated SyncConnection) {
        if let ident = sessions[role]?.machine.ident { connection.enlist(ident) }
    }

    // MARK: Trying again

    /// Goes on with `resumeAfterError` after a while, unless that happens for another reason before.
    /// - Parameter withoutSession: whether the session is only opened then.
    func retry(after delay: Duration, withoutSession: Bool = false, on connection: isolated SyncConnection) {
        if withoutSession { activity = .waitingToStart }
        retryTimer = connection.schedule(after: delay) { [session] connection, timer in
            guard let realm = connection.realm(of: session), realm.retryTimer == timer else { return }
            realm.resumeAfterError(on: connection)
        }
    }

    /// Something else than a timer opens the next session.
    func stopWaitingToStart() {
        if case .waitingToStart = activity { activity = .running }
    }

    /// The app wants no waiting for what has failed so far.
    func retryNow(on connection: isolated SyncConnection) {
        retries.forget()
        resumeAfterError(on: connection)
    }

    func resumeAfterError(on connection: isolated SyncConnection) {
        if case .waitingToStart = activity {
            activity = .running
            if sessions.isEmpty { reset.resumed(on: connection) }
        }
        for role in [OpenSession.Role.main, .fresh] where sessions[role]?.machine.phase == .suspended {
            // UNBIND first.
            connection.flush()
            sessions[role]?.machine.resume()
            enlist(role, on: connection)
        }
        connection.updateConnection()
    }

    // MARK: What the app waits for

    func add(_ wait: SyncWait, on connection: isolated SyncConnection) {
        if case .stopped(let error) = activity { return wait.completion(error) }
        waits.add(wait, version: core.snapshot.version)
        if wait.direction == .download, let session = sessions[.main] {
            waits.askForMark(on: &session.machine)
            connection.enlist(session.machine.ident)
        }
        checkUploadWaits()
    }

    func add(_ wait: SubscriptionWait, on connection: isolated SyncConnection) {
        if case .stopped(let error) = activity { return wait.completion(error) }
        waits.add(wait, core.subscriptions)
    }

    func add(_ observer: ProgressObserver, on connection: isolated SyncConnection) {
        var observer = observer
        if observer.direction == .download { observer.mark = sessions[.main]?.machine.openMark() }
        waits.add(observer, version: core.snapshot.version)
        if observer.direction == .upload { reportUploads() } else { enlist(.main, on: connection) }
    }

    func cancelWait(_ id: UUID) { waits.cancel(id) }
    func removeObserver(_ id: UUID) { waits.removeObserver(id) }

    /// A connection error came that will be retried.
    func connectionFailed(_ error: any Error) { waits.connectionFailed(error) }

    /// A local write was committed.
    func localVersion(on connection: isolated SyncConnection) {
        sessions[.main]?.machine.localVersion(core.snapshot.version)
        reportUploads()
        enlist(.main, on: connection)
    }

    func checkUploadWaits() {
        guard !reset.isUnderWay else { return }
        waits.reportUploads(of: core)
        waits.finishUploads(of: core)
    }

    private func reportUploads() {
        if !reset.isUnderWay { waits.reportUploads(of: core) }
    }
}
