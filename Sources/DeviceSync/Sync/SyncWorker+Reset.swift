internal import Foundation
internal import Logging
internal import RealmState
import SyncModel
internal import SyncProtocol

/// Carries out what the state machine of a realm's client resets asks for.
extension SyncWorker {
    /// The server demands a client reset.
    /// - Parameter integrated: everything up to this version of the realm's own is in the server's state; nil if the server
    ///   does not say.
    func beginReset(
        _ driver: SessionDriver, _ action: PendingReset.Action, code: Int, message: String, logURL: String = "",
        integrated: ClientVersion? = nil
    ) {
        endMain(driver)
        driver.waitsToStart = false
        let attempt = ResetAttempt(
            action: action, mode: driver.configuration.syncConfiguration?.clientResetMode.mode ?? .manual,
            errorCode: code, errorMessage: message, logURL: logURL,
            identOld: driver.core.sync.ident?.ident.rawValue ?? 0, integrated: integrated?.rawValue)
        logger.info(
            "client reset",
            metadata: ["mode": "\(attempt.mode.rawValue)", "code": "\(code)", "attempt": "\(attempt.id)"])
        perform(driver.reset.demanded(attempt, isEmpty: driver.core.snapshot.version <= 1), driver)
    }

    func perform(_ actions: [ResetMachine.Action], _ driver: SessionDriver) {
        for action in actions {
            switch action {
            case .note(let attempt): driver.resetFiles.note(attempt)
            case .startOver(let attempt): startOver(driver, attempt)
            case .downloadFresh: downloadFresh(driver)
            case .endFreshSession: endFresh(driver)
            case .deleteFresh: driver.resetFiles.deleteFresh()
            case .closeFresh: driver.resetFiles.closeFresh()
            case .startSession(let holdsIdent): start(driver, holdsIdent: holdsIdent)
            case .endSession: endMain(driver)
            case .merge(let attempt, let showsBefore): merge(driver, attempt, showsBefore: showsBefore)
            case .restoreRecord: driver.resetFiles.restoreRecord()
            case .leaveToApp(let attempt, let failure):
                let error = driver.resetFiles.leaveToApp(attempt, failure)
                let handler = driver.configuration.syncConfiguration?.clientResetMode.manualHandler
                app.core?.deliver(error, driver.session, handler: handler)
                stop(driver, error)
            }
        }
    }

    private func startOver(_ driver: SessionDriver, _ attempt: ResetAttempt) {
        do {
            try driver.resetFiles.startOver()
        } catch {
            // Nothing was tried yet: the next session gets the same error.
            return startLater(driver, error, .startOver)
        }
        driver.succeeded(at: .startOver)
        driver.resetFiles.report(driver.resetFiles.outcome(attempt, .notNeeded, changesets: .init()))
        start(driver, holdsIdent: false)
    }

    private func downloadFresh(_ driver: SessionDriver) {
        guard let app = app.core else { return }
        let fresh: RealmCore
        do {
            fresh = try driver.resetFiles.openFresh()
        } catch let error as Realm.Error where error.mayPass {
            return startLater(driver, error, .freshCopy)
        } catch {
            return perform(driver.reset.freshIsUnusable("\(error)"), driver)
        }
        driver.succeeded(at: .freshCopy)
        let sync = fresh.sync
        add(
            ClientSession(
                ident: app.sync.nextSessionIdent(), partitionPath: driver.partitionPath, fileIdent: sync.ident,
                progress: sync.progress, newestVersion: ClientVersion(fresh.snapshot.version), uploads: false,
                lastMark: driver.lastMark),
            driver, .fresh)
    }

    /// The fresh copy's own session got an error.
    func freshFailed(_ driver: SessionDriver, _ code: ErrorCode, _ body: JSONErrorBody) {
        guard driver.freshIdent != nil else { return }
        switch driver.reset.freshFailed(body) {
        case .retry: scheduleResume(driver, code, body)
        case .refreshUser: refreshToken()
        case .actions(let actions): perform(actions, driver)
        }
    }

    /// BIND of a session is on the wire. In a reset the merge comes now, before IDENT.
    func bindSent(_ ident: SessionIdent) {
        guard let slot = slots[ident], slot.role == .main, slot.machine.isHoldingIdent else { return }
        perform(slot.driver.reset.bindSent(version: slot.driver.core.snapshot.version), slot.driver)
    }

    private func merge(_ driver: SessionDriver, _ attempt: ResetAttempt, showsBefore: Bool) {
        guard let ident = driver.mainIdent else { return }
        let mode = driver.configuration.syncConfiguration?.clientResetMode
        let before = driver.core.snapshot
        let frozen = realm(driver, at: before)
        if showsBefore { mode?.beforeReset?(frozen) }
        let result: ResetMergeResult
        do {
            result = try driver.resetFiles.merge(attempt, before: before)
        } catch let failure as ResetFailure {
            return perform(driver.reset.mergeFailed(failure), driver)
        } catch {
            return interrupt(ident, error, .merge)
        }
        driver.succeeded(at: .merge)
        logger.info(
            "client reset merged",
            metadata: [
                "mode": "\(result.mode.rawValue)", "recovered": "\(result.changesets.recovered)",
                "discarded": "\(result.changesets.discarded)", "lists_copied": "\(result.replay.listsCopied)",
            ])
        perform(driver.reset.merged(), driver)
        driver.resetFiles.deliverStoredOutcome()
        driver.resetFiles.forgetFileActions()
        if let fileIdent = result.sync.ident {
            slots[ident]?.machine.release(
                fileIdent: fileIdent, progress: result.sync.progress, newestVersion: ClientVersion(result.version))
        }
        mode?.afterReset?(frozen, realm(driver, at: nil))
        slots[ident]?.machine.localVersion(ClientVersion(driver.core.snapshot.version))
    }

    private func realm(_ driver: SessionDriver, at snapshot: RealmSnapshot?) -> Realm {
        Realm(
            instance: RealmInstance(
                core: driver.core, configuration: driver.configuration, session: driver.session, snapshot: snapshot))
    }

    /// The server has taken everything up that followed the reset: it is over.
    func resetMaybeAcknowledged(_ driver: SessionDriver, _ ident: SessionIdent) {
        guard driver.reset.awaitsAcknowledgement, driver.mainIdent == ident, let machine = slots[ident]?.machine,
            machine.markReceived >= machine.markTarget, driver.isUploaded, driver.resetFiles.clearRecord()
        else { return }
        driver.reset.acknowledged()
    }
}
