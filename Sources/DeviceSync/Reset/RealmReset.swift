internal import Foundation
internal import Logging
internal import RealmState
import SyncModel
internal import SyncProtocol

/// A realm's client resets: carries out what their state machine asks for. Confined to the connection's queue.
final class RealmReset {
    /// The owner, which outlives every call: all of them come from methods of its own.
    private unowned let realm: SyncedRealm
    private let core: RealmCore
    private let files: ResetFiles
    private var machine = ResetMachine()

    init(of realm: SyncedRealm, _ files: ResetFiles) {
        self.realm = realm
        self.files = files
        core = realm.core
    }

    var isUnderWay: Bool { machine.isUnderWay }
    var isLeftToApp: Bool { machine.isLeftToApp }
    private var mode: ClientResetMode? { realm.configuration.syncConfiguration?.clientResetMode }

    // MARK: Coming and going

    /// The realm starts syncing from what its file says.
    func started() {
        files.deliverStoredOutcome()
        files.reportInterruption()
        machine.started(hasRecord: files.hasRecord)
    }

    /// A new connection is up, or is treated so, and nothing has been sent on it.
    func connected(on connection: isolated SyncConnection) { perform(machine.connected(), on: connection) }

    /// Starts a session once the wait after an interruption is over.
    func resumed(on connection: isolated SyncConnection) { perform(machine.resumed(), on: connection) }

    /// This device's storage failed.
    /// - Parameter role: that of the session that was at work.
    func interrupted(_ role: OpenSession.Role, _ error: any Error, on connection: isolated SyncConnection) {
        // Trying again would not help a damaged copy, and what is in it can be downloaded again.
        let isDamage = (error as? Realm.Error)?.code == .invalidDatabase || FileFailure.isDamage(error)
        perform(machine.interrupted(freshIsDamaged: role == .fresh && isDamage), on: connection)
    }

    /// Syncing ends, or is suspended. A reset that was under way begins again with the next error of the server; what is downloaded stays.
    func dropped(on connection: isolated SyncConnection) { perform(machine.dropped(), on: connection) }

    /// Deletes the fresh copy, which nothing needs any more.
    func deleteFresh() { files.deleteFresh() }

    /// Leaves everything as the end of the process would.
    func abandon() { files.closeFresh() }

    // MARK: Steps of a reset

    /// The server demands a client reset.
    func begin(_ demand: ResetDemand, on connection: isolated SyncConnection) {
        realm.end(.main, on: connection)
        realm.stopWaitingToStart()
        var attempt = ResetAttempt(demand, configured: mode?.mode, identOld: core.sync.ident?.ident ?? 0)
        if demand.isMove { attempt.realmOld = files.realmBeforeMove }
        connection.logger.info(
            "client reset",
            metadata: [
                "mode": "\(attempt.mode.rawValue)", "code": "\(demand.errorCode)", "attempt": "\(attempt.id)",
            ])
        perform(machine.demanded(attempt, isEmpty: core.snapshot.version <= 1 && !demand.isMove), on: connection)
    }

    private func perform(_ actions: [ResetMachine.Action], on connection: isolated SyncConnection) {
        for action in actions {
            switch action {
            case .note(let attempt): files.note(attempt)
            case .startOver(let attempt): startOver(attempt, on: connection)
            case .downloadFresh: downloadFresh(on: connection)
            case .endFreshSession: realm.end(.fresh, on: connection)
            case .deleteFresh: files.deleteFresh()
            case .closeFresh: files.closeFresh()
            case .startSession(let holdsIdent): realm.open(.main, core, holdsIdent: holdsIdent, on: connection)
            case .endSession: realm.end(.main, on: connection)
            case .merge(let attempt, let showsBefore): merge(attempt, showsBefore: showsBefore, on: connection)
            case .restoreRecord: files.restoreRecord()
            case .leaveToApp(let attempt, let failure):
                let error = files.leaveToApp(attempt, failure)
                connection.app.core?.deliver(error, realm.session, handler: mode?.manualHandler)
                realm.stop(error, on: connection)
            }
        }
    }

    private func startOver(_ attempt: ResetAttempt, on connection: isolated SyncConnection) {
        do {
            try files.startOver()
        } catch {
            // Nothing was tried yet: the next session gets the same error.
            return realm.startLater(error, .startOver, on: connection)
        }
        realm.retries.succeeded(at: .startOver)
        files.report(files.outcome(attempt, .notNeeded, changesets: .init()))
        realm.open(.main, core, on: connection)
    }

    private func downloadFresh(on connection: isolated SyncConnection) {
        do {
            let fresh = try files.openFresh()
            realm.retries.succeeded(at: .freshCopy)
            realm.open(.fresh, fresh, on: connection)
        } catch let error as Realm.Error where error.mayPass {
            realm.startLater(error, .freshCopy, on: connection)
        } catch {
            perform(machine.freshIsUnusable("\(error)"), on: connection)
        }
    }

    /// The fresh copy has everything that the server had when it was asked.
    func freshReachedMark(_ session: OpenSession, on connection: isolated SyncConnection) throws(SessionFailure) {
        if realm.isFlexible {
            if try subscribeToPartition(session) { return }
            // In flexible mode the set in force comes after set 0.
            guard session.core.subscriptions.latest.state == .complete else { return }
        }
        perform(machine.freshDownloaded(), on: connection)
    }

    /// Subscribes the fresh copy of a realm that goes over to flexible sync to what was its partition, once the copy's classes are
    /// known.
    /// - Returns: whether the data is still to come.
    private func subscribeToPartition(_ session: OpenSession) throws(SessionFailure) -> Bool {
        let fresh = session.core
        guard let move = core.sync.move, move.pending?.action == .migrateToFLX,
            fresh.subscriptions.latest.version == 0
        else { return false }
        let snapshot = fresh.snapshot
        let wanted = move.subscriptions(in: snapshot.state.schema)
        guard !wanted.isEmpty else { return false }
        try session.changeSubscriptions { _ = $0.append(wanted, snapshot: snapshot.version) }
        return true
    }

    /// The fresh copy's own session got an error.
    func freshFailed(_ code: ErrorCode, _ body: JSONErrorBody, on connection: isolated SyncConnection) {
        switch machine.freshFailed(body) {
        case .retry: realm.retry(code, body, on: connection)
        case .refreshUser: connection.refreshToken()
        case .actions(let actions): perform(actions, on: connection)
        }
    }

    /// BIND of the realm's own session is on the wire. In a reset the merge comes now, before IDENT.
    func bindSent(on connection: isolated SyncConnection) {
        guard realm.sessions[.main]?.machine.isHoldingIdent == true else { return }
        perform(machine.bindSent(version: core.snapshot.version), on: connection)
    }

    private func merge(_ attempt: ResetAttempt, showsBefore: Bool, on connection: isolated SyncConnection) {
        guard realm.sessions[.main] != nil else { return }
        let mode = mode
        let frozen = handle(at: core.snapshot)
        if showsBefore { mode?.beforeReset?(frozen) }
        let result: ResetMergeResult
        do {
            result = try files.merge(attempt)
        } catch let failure as ResetFailure {
            return perform(machine.mergeFailed(failure), on: connection)
        } catch {
            return realm.interrupt(.merge, error, on: connection)
        }
        realm.retries.succeeded(at: .merge)
        connection.logger.info(
            "client reset merged",
            metadata: [
                "mode": "\(result.mode.rawValue)", "recovered": "\(result.changesets.recovered)",
                "discarded": "\(result.changesets.discarded)", "lists_copied": "\(result.replay.listsCopied)",
            ])
        perform(machine.merged(), on: connection)
        files.deliverStoredOutcome()
        files.forgetFileActions()
        if let fileIdent = result.sync.ident {
            realm.sessions[.main]?.machine.release(
                fileIdent: fileIdent, progress: result.sync.progress, newestVersion: result.version)
        }
        realm.subscriptionsMoved()
        mode?.afterReset?(frozen, handle(at: nil))
        realm.sessions[.main]?.machine.localVersion(core.snapshot.version)
    }

    private func handle(at snapshot: RealmSnapshot?) -> Realm {
        Realm(
            instance: RealmInstance(
                core: core, configuration: realm.configuration, session: realm.session, snapshot: snapshot))
    }

    /// The server has taken everything up that followed the reset: the reset is over.
    func maybeAcknowledged() {
        guard machine.awaitsAcknowledgement, realm.sessions[.main]?.machine.isMarkOpen == false, realm.isUploaded,
            files.clearRecord()
        else { return }
        machine.acknowledged()
    }
}
