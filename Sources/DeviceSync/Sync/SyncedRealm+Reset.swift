internal import Foundation
internal import Logging
internal import RealmState
import SyncModel
internal import SyncProtocol

/// Carries out what the state machine of a realm's client resets asks for.
extension SyncedRealm {
    /// The server demands a client reset.
    /// - Parameters:
    ///   - integrated: everything up to this version of the realm's own is in the server's state; nil if the server does not
    ///     say.
    ///   - lostAfter: what is newer than this version of the realm's own is not in the server's state, though the server had
    ///     acknowledged it; nil if nothing was lost.
    func beginReset(
        _ action: PendingReset.Action, code: Int, message: String, logURL: String = "",
        integrated: ClientVersion? = nil, lostAfter: ClientVersion? = nil, on connection: isolated SyncConnection
    ) {
        end(.main, on: connection)
        if case .waitingToStart = activity { activity = .running }
        var mode = resetMode?.mode ?? .manual
        // No app can bring a file over to the other mode by itself.
        let isMove = action == .migrateToFLX || action == .revertToPBS
        if isMove, mode == .manual { mode = .recover }
        var attempt = ResetAttempt(
            action: action, mode: mode, errorCode: code, errorMessage: message, logURL: logURL,
            identOld: core.sync.ident?.ident ?? 0, integrated: integrated, lostAfter: lostAfter)
        attempt.realmOld = isMove ? resetFiles.realmBeforeMove : nil
        connection.logger.info(
            "client reset",
            metadata: ["mode": "\(attempt.mode.rawValue)", "code": "\(code)", "attempt": "\(attempt.id)"])
        perform(reset.demanded(attempt, isEmpty: core.snapshot.version <= 1 && !isMove), on: connection)
    }

    func perform(_ actions: [ResetMachine.Action], on connection: isolated SyncConnection) {
        for action in actions {
            switch action {
            case .note(let attempt): resetFiles.note(attempt)
            case .startOver(let attempt): startOver(attempt, on: connection)
            case .downloadFresh: downloadFresh(on: connection)
            case .endFreshSession: end(.fresh, on: connection)
            case .deleteFresh: resetFiles.deleteFresh()
            case .closeFresh: resetFiles.closeFresh()
            case .startSession(let holdsIdent): open(.main, core, holdsIdent: holdsIdent, on: connection)
            case .endSession: end(.main, on: connection)
            case .merge(let attempt, let showsBefore): merge(attempt, showsBefore: showsBefore, on: connection)
            case .restoreRecord: resetFiles.restoreRecord()
            case .leaveToApp(let attempt, let failure):
                let error = resetFiles.leaveToApp(attempt, failure)
                connection.app.core?.deliver(error, session, handler: resetMode?.manualHandler)
                stop(error, on: connection)
            }
        }
    }

    private func startOver(_ attempt: ResetAttempt, on connection: isolated SyncConnection) {
        do {
            try resetFiles.startOver()
        } catch {
            // Nothing was tried yet: the next session gets the same error.
            return startLater(error, .startOver, on: connection)
        }
        succeeded(at: .startOver)
        resetFiles.report(resetFiles.outcome(attempt, .notNeeded, changesets: .init()))
        open(.main, core, on: connection)
    }

    private func downloadFresh(on connection: isolated SyncConnection) {
        do {
            let fresh = try resetFiles.openFresh()
            succeeded(at: .freshCopy)
            open(.fresh, fresh, on: connection)
        } catch let error as Realm.Error where error.mayPass {
            startLater(error, .freshCopy, on: connection)
        } catch {
            perform(reset.freshIsUnusable("\(error)"), on: connection)
        }
    }

    /// The fresh copy's own session got an error.
    func freshFailed(_ code: ErrorCode, _ body: JSONErrorBody, on connection: isolated SyncConnection) {
        switch reset.freshFailed(body) {
        case .retry: retry(code, body, on: connection)
        case .refreshUser: connection.refreshToken()
        case .actions(let actions): perform(actions, on: connection)
        }
    }

    /// BIND of the realm's own session is on the wire. In a reset the merge comes now, before IDENT.
    func bindSent(on connection: isolated SyncConnection) {
        guard sessions[.main]?.machine.isHoldingIdent == true else { return }
        perform(reset.bindSent(version: core.snapshot.version), on: connection)
    }

    private func merge(_ attempt: ResetAttempt, showsBefore: Bool, on connection: isolated SyncConnection) {
        guard sessions[.main] != nil else { return }
        let mode = resetMode
        let frozen = handle(at: core.snapshot)
        if showsBefore { mode?.beforeReset?(frozen) }
        let result: ResetMergeResult
        do {
            result = try resetFiles.merge(attempt)
        } catch let failure as ResetFailure {
            return perform(reset.mergeFailed(failure), on: connection)
        } catch {
            return interrupt(.main, error, .merge, on: connection)
        }
        succeeded(at: .merge)
        connection.logger.info(
            "client reset merged",
            metadata: [
                "mode": "\(result.mode.rawValue)", "recovered": "\(result.changesets.recovered)",
                "discarded": "\(result.changesets.discarded)", "lists_copied": "\(result.replay.listsCopied)",
            ])
        perform(reset.merged(), on: connection)
        resetFiles.deliverStoredOutcome()
        resetFiles.forgetFileActions()
        if let fileIdent = result.sync.ident {
            sessions[.main]?.machine.release(
                fileIdent: fileIdent, progress: result.sync.progress, newestVersion: result.version)
        }
        subscriptionsMoved(of: core, .main)
        mode?.afterReset?(frozen, handle(at: nil))
        sessions[.main]?.machine.localVersion(core.snapshot.version)
    }

    private func handle(at snapshot: RealmSnapshot?) -> Realm {
        Realm(instance: RealmInstance(core: core, configuration: configuration, session: session, snapshot: snapshot))
    }

    /// The server has taken everything up that followed the reset: the reset is over.
    func resetMaybeAcknowledged() {
        guard reset.awaitsAcknowledgement, sessions[.main]?.machine.isMarkOpen == false, isUploaded,
            resetFiles.clearRecord()
        else { return }
        reset.acknowledged()
    }
}
