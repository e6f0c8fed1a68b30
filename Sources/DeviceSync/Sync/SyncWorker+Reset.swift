internal import Foundation
internal import Logging
internal import RealmState
import SyncModel
internal import SyncProtocol

/// The steps of a client reset (docs/resets.md, "Steps"): fresh copy, merge, new identity; or the app does it.
extension SyncWorker {
    func beginReset(
        _ driver: SessionDriver, action: PendingReset.Action, code: Int, message: String, logURL: String = "",
        integrated: ClientVersion? = nil
    ) {
        if let ident = driver.mainIdent, let machine = slots[ident]?.machine {
            driver.resetMarks(after: machine)
            // A suspended one stays for its UNBIND alone.
            if machine.phase != .suspended { endSlot(ident) }
        }
        driver.mainIdent = nil
        driver.waitsToStart = false
        let attempt = ResetAttempt(
            action: action, mode: driver.configuration.syncConfiguration?.clientResetMode.mode ?? .manual,
            errorCode: code,
            errorMessage: message, logURL: logURL, identOld: driver.core.sync.ident?.ident.rawValue ?? 0)
        attempt.integrated = integrated?.rawValue
        logger.info(
            "client reset",
            metadata: ["mode": "\(attempt.mode.rawValue)", "code": "\(code)", "attempt": "\(attempt.id)"])
        switch ResetDecision.start(attempt.mode, action) {
        case .manual: return failReset(driver, attempt, nil)
        case .fail(let reason): return failReset(driver, attempt, ResetFailure(description: reason))
        case .download: break
        }
        guard driver.core.snapshot.version > 1 else { return startOver(driver, attempt) }
        reportInterruption(driver)
        keepAttempt(attempt, driver)
        driver.reset = attempt
        downloadFresh(driver, attempt)
    }

    /// Keeps what to report if this attempt is cut off, by the end of the process or by the app.
    private func keepAttempt(_ attempt: ResetAttempt, _ driver: SessionDriver) {
        let report = Self.outcome(
            attempt, driver, app: app.core?.id ?? "", .interrupted, modeUsed: nil, changesets: nil)
        try? driver.core.file.setResetAttempt(report.text)
    }

    /// An attempt that is still noted when the next one could begin was cut off.
    func reportInterruption(_ driver: SessionDriver) {
        guard let app = app.core, let text = try? driver.core.file.resetAttempt() else { return }
        let attempt = (try? JSONParser.parse(text))?.objectValue?["attempt"]?.stringValue ?? ""
        if let report = ResetOutcome.updated(text, to: .interrupted) {
            guard app.outcomes.report(report, attempt: attempt, user: userID) else { return }
        }
        try? driver.core.file.setResetAttempt(nil)
    }

    /// Nothing was ever in the file: nothing to merge, only a new identity to get.
    private func startOver(_ driver: SessionDriver, _ attempt: ResetAttempt) {
        do {
            driver.core.lock.lock()
            defer { driver.core.lock.unlock() }
            var sync = driver.core.sync
            sync.ident = nil
            sync.progress = SyncProgress()
            try driver.core.setSync(sync)
        } catch {
            // Nothing was tried yet: the next session gets the same error.
            return startLater(driver, error, .startOver)
        }
        driver.succeeded(at: .startOver)
        if let url = driver.core.url { RealmFileSet.deleteDatabase(RealmFileSet(main: url).fresh) }
        report(attempt, driver, .notNeeded, modeUsed: nil, changesets: .init())
        start(driver, holdsIdent: false)
    }

    // MARK: The fresh copy

    func downloadFresh(_ driver: SessionDriver, _ attempt: ResetAttempt) {
        do {
            // Still open after an interruption.
            if attempt.fresh == nil { attempt.fresh = try openFresh(driver) }
            driver.succeeded(at: .freshCopy)
        } catch let error as Realm.Error where error.mayPass {
            return startLater(driver, error, .freshCopy)
        } catch {
            return failReset(driver, attempt, ResetFailure(description: "the fresh copy cannot be opened: \(error)"))
        }
        guard let app = app.core, let fresh = attempt.fresh else { return }
        let sync = fresh.sync
        add(
            ClientSession(
                ident: app.sync.nextSessionIdent(), partitionPath: driver.partitionPath, fileIdent: sync.ident,
                progress: sync.progress, newestVersion: ClientVersion(fresh.snapshot.version), uploads: false,
                lastMark: driver.lastMark),
            driver, .fresh)
    }

    /// Goes on with what an interrupted reset left; what cannot be opened is thrown away.
    private func openFresh(_ driver: SessionDriver) throws -> RealmCore {
        guard let url = driver.core.url else {
            return try RealmCore(location: .memory(UUID().uuidString), isSynced: true)
        }
        let file = RealmFileSet(main: url).fresh
        func open() throws -> RealmCore {
            let core = try RealmCore(location: .file(file), isSynced: true, isAlone: false)
            var sync = core.sync
            // One that a finished merge left behind. The server sends nobody's own writes back, so with the realm's own
            // identity the copy would never hear of them, and the merge would take them for deleted.
            guard sync.ident == nil || sync.ident != driver.core.sync.ident else {
                throw Realm.Error(.incompatibleHistories, "it has the realm's own identity")
            }
            guard sync.partition != driver.partitionPath || sync.userID != userID else { return core }
            guard sync.partition == nil else { throw Realm.Error(.incompatibleHistories, "of another partition") }
            sync.partition = driver.partitionPath
            sync.userID = userID
            try core.setSync(sync)
            return core
        }
        do {
            return try open()
        } catch {
            logger.info("the fresh copy is replaced", metadata: ["error": "\(error)"])
            for suffix in ["-wal", "-shm", "-journal", ""] {
                try RealmFileSet.remove(URL(fileURLWithPath: file.path + suffix))
            }
            return try open()
        }
    }

    func closeFresh(_ driver: SessionDriver, delete: Bool) {
        guard let fresh = driver.reset?.fresh else { return }
        driver.reset?.fresh = nil
        guard let url = fresh.url, delete else { return }
        try? fresh.file.close()
        RealmFileSet.deleteDatabase(url)
    }

    /// The fresh copy has what the server had: on with the merge.
    func freshDownloaded(_ driver: SessionDriver) {
        guard let ident = driver.freshIdent, let attempt = driver.reset else { return }
        attempt.hasRetried = false
        if let machine = slots[ident]?.machine { driver.lastMark = max(driver.lastMark, machine.markTarget) }
        endSlot(ident)
        driver.freshIdent = nil
        start(driver, holdsIdent: true)
    }

    /// On a new connection, before anything is sent: a fresh copy that was complete on the last one is brought up to date
    /// first. The server may have terminated sync once more since, and what is recovered under an identity that is dead is
    /// lost to the next reset.
    func restartHeldMerges() {
        for driver in drivers.values {
            guard let attempt = driver.reset, let ident = driver.mainIdent, let machine = slots[ident]?.machine,
                machine.isHoldingIdent
            else { continue }
            driver.resetMarks(after: machine)
            driver.mainIdent = nil
            endSlot(ident)
            downloadFresh(driver, attempt)
        }
    }

    /// The fresh copy's own session got an error.
    func freshFailed(_ driver: SessionDriver, _ code: ErrorCode, _ body: JSONErrorBody) {
        guard let attempt = driver.reset, let ident = driver.freshIdent else { return }
        switch body.action.effective {
        case .transient where body.tryAgain, .warning where body.tryAgain:
            return scheduleResume(driver, code, body)
        case .refreshUser: return refreshToken(thenReconnect: true)
        case .clientReset, .clientResetNoRecovery:
            guard !attempt.hasRetried else { break }
            attempt.hasRetried = true
            // Perhaps the server's state is no longer the one that the number was about.
            attempt.integrated = nil
            driver.freshIdent = nil
            removeIfEnded(ident)
            closeFresh(driver, delete: true)
            return downloadFresh(driver, attempt)
        default: break
        }
        driver.freshIdent = nil
        removeIfEnded(ident)
        failReset(driver, attempt, ResetFailure(description: "the fresh copy could not be downloaded: \(body.message)"))
    }

    // MARK: The merge

    /// BIND of the reset session is on the wire: merge before IDENT.
    func bindSent(_ ident: SessionIdent) {
        guard let slot = slots[ident], slot.role == .main, slot.machine.isHoldingIdent, let attempt = slot.driver.reset,
            let fresh = attempt.fresh
        else { return }
        let driver = slot.driver
        let mode = driver.configuration.syncConfiguration?.clientResetMode
        let before = driver.core.snapshot
        let frozen = Realm(
            instance: RealmInstance(
                core: driver.core, configuration: driver.configuration, session: driver.session, snapshot: before))
        // Once an attempt, unless something was written while it was interrupted.
        if attempt.shown?.version != before.version { mode?.beforeReset?(frozen) }
        attempt.shown = before
        let userID = userID
        let appID = app.core?.id ?? ""
        let merge = ResetMerge(core: driver.core, fresh: fresh, attempt: attempt) { result in
            var outcome = Self.outcome(
                attempt, driver, app: appID, result.mode == .recover ? .recovered : .discarded, modeUsed: result.mode,
                changesets: result.changesets)
            outcome.identNew = result.sync.ident?.ident.rawValue
            return outcome.text
        }
        do {
            let result = try merge.run(before: before)
            driver.succeeded(at: .merge)
            logger.info(
                "client reset merged",
                metadata: [
                    "mode": "\(result.mode.rawValue)", "recovered": "\(result.changesets.recovered)",
                    "discarded": "\(result.changesets.discarded)", "lists_copied": "\(result.replay.listsCopied)",
                ])
            closeFresh(driver, delete: true)
            deliverStoredOutcome(driver, userID)
            if let url = driver.core.url { try? app.core?.store.removeFileActions(path: url.path) }
            driver.reset = nil
            if let fileIdent = result.sync.ident {
                slots[ident]?.machine.release(
                    fileIdent: fileIdent, progress: result.sync.progress, newestVersion: ClientVersion(result.version))
            }
            mode?.afterReset?(
                frozen,
                Realm(
                    instance: RealmInstance(
                        core: driver.core, configuration: driver.configuration, session: driver.session)))
            slots[ident]?.machine.localVersion(ClientVersion(driver.core.snapshot.version))
            driver.awaitsAcknowledgement = true
        } catch let failure as ResetFailure {
            slots[ident]?.machine.end()
            driver.mainIdent = nil
            failReset(driver, attempt, failure)
        } catch {
            interrupt(ident, error, .merge)
        }
    }

    /// What was committed with a merge, or could not be queued, goes to the queue of reports; also after a crash in between,
    /// which may have left the fresh copy as well.
    func deliverStoredOutcome(_ driver: SessionDriver, _ userID: String) {
        guard let app = app.core, let text = try? driver.core.file.resetOutcome() else { return }
        if let url = driver.core.url { RealmFileSet.deleteDatabase(RealmFileSet(main: url).fresh) }
        let attempt = (try? JSONParser.parse(text))?.objectValue?["attempt"]?.stringValue ?? ""
        guard app.outcomes.report(text, attempt: attempt, user: userID) else { return }
        try? driver.core.file.setResetOutcome(nil)
    }

    /// The server has taken everything up that followed the reset: it is over.
    func resetMaybeAcknowledged(_ driver: SessionDriver, _ ident: SessionIdent) {
        guard driver.awaitsAcknowledgement, driver.mainIdent == ident, let machine = slots[ident]?.machine,
            machine.markReceived >= machine.markTarget, driver.isUploaded
        else { return }
        driver.core.lock.lock()
        defer { driver.core.lock.unlock() }
        guard (try? driver.core.setSync(driver.core.sync, pendingReset: .clear)) != nil else { return }
        driver.awaitsAcknowledgement = false
    }

    // MARK: Left to the app

    /// - Parameter failure: why an automatic mode failed; nil for the manual mode.
    private func failReset(_ driver: SessionDriver, _ attempt: ResetAttempt, _ failure: ResetFailure?) {
        closeFresh(driver, delete: true)
        driver.reset = nil
        try? driver.core.file.setResetAttempt(nil)
        guard let app = app.core else { return }
        var backup: String?
        var token: SyncError.ActionToken?
        var result = ResetOutcome.Result.manualPending
        if let url = driver.core.url {
            do {
                let path = try app.layout.reserveBackup().path
                let action = FileAction(
                    id: UUID().uuidString, kind: .backUpThenDelete, originalPath: url.path, backupPath: path,
                    userID: userID, attempt: attempt.id, file: driver.core.sync.identity)
                try app.store.addFileAction(action)
                backup = path
                token = SyncError.ActionToken(
                    core: AppReference(app), originalPath: url.path, actionID: action.id)
            } catch {
                logger.error("cannot register the backup of a client reset", metadata: ["error": "\(error)"])
                result = .failed
            }
        }
        let message =
            failure.map {
                "A fatal error occurred during '\(attempt.action)' client reset handling: '\($0)'. "
                    + "The error that caused it: '\(attempt.errorMessage)'"
            } ?? attempt.errorMessage
        let error = SyncError(
            .clientResetError, message, name: failure == nil ? nil : "AutoClientResetFailed", logURL: attempt.logURL,
            wireCode: attempt.errorCode, backupPath: backup, actionToken: token)
        var outcome = Self.outcome(
            attempt, driver, app: app.id, result, modeUsed: failure == nil ? .manual : failure?.modeUsed,
            changesets: failure?.changesets)
        outcome.backupFile = backup.map { URL(fileURLWithPath: $0).lastPathComponent }
        outcome.errorName = failure == nil ? nil : "AutoClientResetFailed"
        outcome.errorMessage = failure?.description
        report(outcome, driver)
        driver.failedReset = error
        let handler = driver.configuration.syncConfiguration?.clientResetMode.manualHandler
        app.deliver(error, driver.session, handler: handler)
        stop(driver, error)
    }

    private func report(
        _ attempt: ResetAttempt, _ driver: SessionDriver, _ result: ResetOutcome.Result, modeUsed: ResetMode?,
        changesets: ResetOutcome.Changesets
    ) {
        guard let app = app.core else { return }
        report(
            Self.outcome(attempt, driver, app: app.id, result, modeUsed: modeUsed, changesets: changesets), driver)
    }

    /// While the metadata file cannot be written, the realm's own keeps the report for the next start of the session.
    private func report(_ outcome: ResetOutcome, _ driver: SessionDriver) {
        guard app.core?.outcomes.report(outcome.text, attempt: outcome.attempt, user: userID) == false else { return }
        try? driver.core.file.setResetOutcome(outcome.text)
    }

    private static func outcome(
        _ attempt: ResetAttempt, _ driver: SessionDriver, app: String, _ result: ResetOutcome.Result,
        modeUsed: ResetMode?, changesets: ResetOutcome.Changesets?
    ) -> ResetOutcome {
        ResetOutcome(
            attempt: attempt.id, app: app,
            partition: driver.configuration.syncConfiguration?.partition.canonicalText ?? "null",
            identOld: attempt.identOld, modeRequested: attempt.mode.rawValue, modeUsed: modeUsed?.rawValue,
            result: result, changesets: changesets)
    }
}
