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

    /// What a session downloads into.
    enum Role: Sendable {
        /// The realm itself.
        case main
        /// The fresh copy of a client reset.
        case fresh
    }

    /// One session on the connection.
    struct OpenSession {
        var machine: ClientSession
        /// Nil until the first download.
        var integrator: DownloadIntegrator?
    }

    let session: SyncSession
    let core: RealmCore
    var configuration: Realm.Configuration
    let target: SyncTarget
    let resetFiles: ResetFiles

    var activity = Activity.running
    var sessions: [Role: OpenSession] = [:]
    var reset = ResetMachine()
    var waits = SyncWaits()
    var backoff = Backoff<RetryReason>()
    /// The number of the timer that counts; an earlier one that fires does nothing.
    var retryTimer: UInt64 = 0
    /// The work that this device's storage failed at and has not done since.
    var interrupted: Set<StorageWork> = []
    var compensations = Compensations()
    /// The server keeps the file for another schema version: what is not uploaded is to be, then the file begins anew.
    var schemaChange: SyncError?
    /// That schema version: a fresh copy, after a reset, is to be of it.
    var copiedSchemaVersion: UInt64?

    init(
        session: SyncSession, core: RealmCore, configuration: Realm.Configuration, app: AppReference,
        logger: Logging.Logger
    ) {
        self.session = session
        self.core = core
        self.configuration = configuration
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
    var resetMode: ClientResetMode? { configuration.syncConfiguration?.clientResetMode }

    // MARK: Coming and going

    /// Starts syncing from what the file says.
    func activate(on connection: isolated SyncConnection) {
        guard !connection.isAbandoned, let app = connection.app.core else { return }
        interrupted = []
        guard app.users.record(session.userID)?.state == .loggedIn else {
            return stop(.userIsNotLoggedIn(session.userID), on: connection)
        }
        activity = .running
        schemaChange = nil
        session.set(state: .active)
        resetFiles.deliverStoredOutcome()
        resetFiles.reportInterruption()
        reset.started(hasRecord: resetFiles.hasRecord)
        if let pending = core.sync.move?.pending {
            return beginReset(pending.action, code: pending.errorCode, message: pending.message, on: connection)
        }
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
        // A reset that was under way begins again with the next error of the server; what is downloaded stays.
        perform(reset.dropped(), on: connection)
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
        perform(reset.dropped(), on: connection)
        waits.fail(SyncError(.clientSessionError, "operation aborted: the realm was closed"))
        connection.remove(self)
    }

    /// Leaves everything as the end of the process would.
    func abandon() {
        resetFiles.closeFresh()
        waits.fail(SyncError(.clientSessionError, "operation aborted"))
    }

    // MARK: Sessions

    /// Starts a session on the connection.
    func open(
        _ role: Role, _ core: RealmCore, holdsIdent: Bool = false, on connection: isolated SyncConnection
    ) {
        guard let app = connection.app.core else { return }
        let sync = core.sync
        var machine = ClientSession(
            ident: app.sync.nextSessionIdent(), target: bindTarget(role, isReset: role == .fresh || holdsIdent),
            fileIdent: sync.ident, progress: sync.progress, newestVersion: core.snapshot.version,
            subscriptions: isFlexible ? core.subscriptions : nil, uploads: role == .main, holdsIdent: holdsIdent,
            lastMark: waits.lastMark)
        if role == .main { waits.askForMark(on: &machine) }
        if connection.lifecycle.isConnected { machine.connected(fastReconnect: false) }
        sessions[role] = OpenSession(machine: machine)
        connection.add(machine.ident, self, role)
    }

    private func bindTarget(_ role: Role, isReset: Bool) -> String {
        switch target {
        case .partition(let partition): partition.path
        case .flexible:
            FlexibleTarget(
                reason: isReset ? .clientReset : .normal,
                // What is recovered was written under the schema of the copy.
                schemaVersion: role == .fresh
                    ? copiedSchemaVersion ?? configuration.schemaVersion : configuration.schemaVersion,
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
    func end(_ role: Role, on connection: isolated SyncConnection) {
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
        guard !reset.isUnderWay else { return perform(reset.connected(), on: connection) }
        end(.main, on: connection)
        open(.main, core, on: connection)
    }

    private func enlist(_ role: Role, on connection: isolated SyncConnection) {
        if let ident = sessions[role]?.machine.ident { connection.enlist(ident) }
    }

    // MARK: Trying again

    /// Goes on with `resumeAfterError` after a while, unless that happens for another reason before.
    func retry(after delay: Duration, on connection: isolated SyncConnection) {
        retryTimer = connection.schedule(after: delay) { [session] connection, timer in
            guard let realm = connection.realm(of: session), realm.retryTimer == timer else { return }
            realm.resumeAfterError(on: connection)
        }
    }

    func resumeAfterError(on connection: isolated SyncConnection) {
        if case .waitingToStart = activity {
            activity = .running
            if sessions.isEmpty { perform(reset.resumed(), on: connection) }
        }
        for role in [Role.main, .fresh] where sessions[role]?.machine.phase == .suspended {
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
        if wait.direction == .download, var machine = sessions[.main]?.machine {
            waits.askForMark(on: &machine)
            sessions[.main]?.machine = machine
            connection.enlist(machine.ident)
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

    /// A local write was committed.
    func localVersion(on connection: isolated SyncConnection) {
        sessions[.main]?.machine.localVersion(core.snapshot.version)
        reportUploads()
        enlist(.main, on: connection)
    }

    func checkUploadWaits() {
        reportUploads()
        guard waits.hasUploads, !reset.isUnderWay else { return }
        waits.finishUploads(isUploaded(upTo:))
    }

    private func reportUploads() {
        guard !reset.isUnderWay else { return }
        let cursor = core.sync.progress.upload.clientVersion
        waits.uploaded { [core] version in
            try? core.file.read { try HistoryRows($0).uploadableBytes(after: cursor, upTo: version) }
        }
    }

    var isUploaded: Bool { isUploaded(upTo: core.snapshot.version) }

    private func isUploaded(upTo version: ClientVersion) -> Bool {
        (try? core.isUploaded(upTo: version)) ?? false
    }
}
