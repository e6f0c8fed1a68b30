internal import Foundation
internal import Logging
internal import RealmState
import SyncModel
internal import SyncProtocol

/// Carries out what the state machine of a realm's client resets asks for.
extension SyncConnection {
    /// The server demands a client reset.
    /// - Parameter integrated: everything up to this version of the realm's own is in the server's state; nil if the server
    ///   does not say.
    func beginReset(
        _ realm: SyncedRealm, _ action: PendingReset.Action, code: Int, message: String, logURL: String = "",
        integrated: ClientVersion? = nil
    ) {
        endMain(realm)
        realm.waitsToStart = false
        let attempt = ResetAttempt(
            action: action, mode: realm.configuration.syncConfiguration?.clientResetMode.mode ?? .manual,
            errorCode: code, errorMessage: message, logURL: logURL,
            identOld: realm.core.sync.ident?.ident.rawValue ?? 0, integrated: integrated?.rawValue)
        logger.info(
            "client reset",
            metadata: ["mode": "\(attempt.mode.rawValue)", "code": "\(code)", "attempt": "\(attempt.id)"])
        perform(realm.reset.demanded(attempt, isEmpty: realm.core.snapshot.version <= 1), realm)
    }

    func perform(_ actions: [ResetMachine.Action], _ realm: SyncedRealm) {
        for action in actions {
            switch action {
            case .note(let attempt): realm.resetFiles.note(attempt)
            case .startOver(let attempt): startOver(realm, attempt)
            case .downloadFresh: downloadFresh(realm)
            case .endFreshSession: endFresh(realm)
            case .deleteFresh: realm.resetFiles.deleteFresh()
            case .closeFresh: realm.resetFiles.closeFresh()
            case .startSession(let holdsIdent): start(realm, holdsIdent: holdsIdent)
            case .endSession: endMain(realm)
            case .merge(let attempt, let showsBefore): merge(realm, attempt, showsBefore: showsBefore)
            case .restoreRecord: realm.resetFiles.restoreRecord()
            case .leaveToApp(let attempt, let failure):
                let error = realm.resetFiles.leaveToApp(attempt, failure)
                let handler = realm.configuration.syncConfiguration?.clientResetMode.manualHandler
                app.core?.deliver(error, realm.session, handler: handler)
                stop(realm, error)
            }
        }
    }

    private func startOver(_ realm: SyncedRealm, _ attempt: ResetAttempt) {
        do {
            try realm.resetFiles.startOver()
        } catch {
            // Nothing was tried yet: the next session gets the same error.
            return startLater(realm, error, .startOver)
        }
        realm.succeeded(at: .startOver)
        realm.resetFiles.report(realm.resetFiles.outcome(attempt, .notNeeded, changesets: .init()))
        start(realm, holdsIdent: false)
    }

    private func downloadFresh(_ realm: SyncedRealm) {
        guard let app = app.core else { return }
        let fresh: RealmCore
        do {
            fresh = try realm.resetFiles.openFresh()
        } catch let error as Realm.Error where error.mayPass {
            return startLater(realm, error, .freshCopy)
        } catch {
            return perform(realm.reset.freshIsUnusable("\(error)"), realm)
        }
        realm.succeeded(at: .freshCopy)
        let sync = fresh.sync
        add(
            ClientSession(
                ident: app.sync.nextSessionIdent(), partitionPath: realm.partitionPath, fileIdent: sync.ident,
                progress: sync.progress, newestVersion: ClientVersion(fresh.snapshot.version), uploads: false,
                lastMark: realm.lastMark),
            realm, .fresh)
    }

    /// The fresh copy's own session got an error.
    func freshFailed(_ realm: SyncedRealm, _ code: ErrorCode, _ body: JSONErrorBody) {
        guard realm.freshIdent != nil else { return }
        switch realm.reset.freshFailed(body) {
        case .retry: scheduleResume(realm, code, body)
        case .refreshUser: refreshToken()
        case .actions(let actions): perform(actions, realm)
        }
    }

    /// BIND of a session is on the wire. In a reset the merge comes now, before IDENT.
    func bindSent(_ ident: SessionIdent) {
        guard let slot = slots[ident], slot.role == .main, slot.machine.isHoldingIdent else { return }
        perform(slot.realm.reset.bindSent(version: slot.realm.core.snapshot.version), slot.realm)
    }

    private func merge(_ realm: SyncedRealm, _ attempt: ResetAttempt, showsBefore: Bool) {
        guard let ident = realm.mainIdent else { return }
        let mode = realm.configuration.syncConfiguration?.clientResetMode
        let before = realm.core.snapshot
        let frozen = handle(of: realm, at: before)
        if showsBefore { mode?.beforeReset?(frozen) }
        let result: ResetMergeResult
        do {
            result = try realm.resetFiles.merge(attempt, before: before)
        } catch let failure as ResetFailure {
            return perform(realm.reset.mergeFailed(failure), realm)
        } catch {
            return interrupt(ident, error, .merge)
        }
        realm.succeeded(at: .merge)
        logger.info(
            "client reset merged",
            metadata: [
                "mode": "\(result.mode.rawValue)", "recovered": "\(result.changesets.recovered)",
                "discarded": "\(result.changesets.discarded)", "lists_copied": "\(result.replay.listsCopied)",
            ])
        perform(realm.reset.merged(), realm)
        realm.resetFiles.deliverStoredOutcome()
        realm.resetFiles.forgetFileActions()
        if let fileIdent = result.sync.ident {
            slots[ident]?.machine.release(
                fileIdent: fileIdent, progress: result.sync.progress, newestVersion: ClientVersion(result.version))
        }
        mode?.afterReset?(frozen, handle(of: realm, at: nil))
        slots[ident]?.machine.localVersion(ClientVersion(realm.core.snapshot.version))
    }

    private func handle(of realm: SyncedRealm, at snapshot: RealmSnapshot?) -> Realm {
        Realm(
            instance: RealmInstance(
                core: realm.core, configuration: realm.configuration, session: realm.session, snapshot: snapshot))
    }

    /// The server has taken everything up that followed the reset: it is over.
    func resetMaybeAcknowledged(_ realm: SyncedRealm, _ ident: SessionIdent) {
        guard realm.reset.awaitsAcknowledgement, realm.mainIdent == ident, let machine = slots[ident]?.machine,
            machine.markReceived >= machine.markTarget, realm.isUploaded, realm.resetFiles.clearRecord()
        else { return }
        realm.reset.acknowledged()
    }
}
