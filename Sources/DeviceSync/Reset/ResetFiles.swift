internal import Foundation
internal import Logging
internal import SyncModel
internal import SyncProtocol

/// What one realm's client resets keep on this device: the fresh copy, the notes and reports on attempts, and the backup
/// that is left to the app. Confined to the queue of the connection.
final class ResetFiles {
    private let core: RealmCore
    private let app: AppReference
    private let userID: String
    private let target: SyncTarget
    private let logger: Logging.Logger
    /// The fresh copy, while it is open.
    private(set) var fresh: RealmCore?
    private(set) var record = ResetRecord()

    init(core: RealmCore, target: SyncTarget, app: AppReference, userID: String, logger: Logging.Logger) {
        self.core = core
        self.target = target
        self.app = app
        self.userID = userID
        self.logger = logger
    }

    // MARK: The fresh copy

    /// Opens the fresh copy unless it is open, and goes on with what an interrupted reset left; what cannot be opened is
    /// thrown away.
    func openFresh() throws -> RealmCore {
        if let fresh { return fresh }
        let opened: RealmCore
        if let url = core.url {
            let file = RealmFileSet(main: url).fresh
            do {
                opened = try openFresh(file)
            } catch {
                logger.info("the fresh copy is replaced", metadata: ["error": "\(error)"])
                for part in RealmFileSet.files(of: file) { try RealmFileSet.remove(part) }
                opened = try openFresh(file)
            }
        } else {
            opened = try RealmCore(location: .memory(UUID().uuidString), isSynced: true)
        }
        try subscribe(opened)
        fresh = opened
        return opened
    }

    private func openFresh(_ file: URL) throws -> RealmCore {
        let copy = try RealmCore(location: .file(file), isSynced: true, isAlone: false, key: core.file.encryption?.key)
        var sync = copy.sync
        // A copy that a finished merge left behind. The server sends no client its own writes back, so with the realm's own
        // identity the copy would never get them, and the merge would take them for deleted.
        guard sync.ident == nil || sync.ident != core.sync.ident else {
            throw Realm.Error(.incompatibleHistories, "it has the realm's own identity")
        }
        guard sync.partition != target.claim || sync.userID != userID else { return copy }
        guard sync.partition == nil else { throw Realm.Error(.incompatibleHistories, "of another partition") }
        sync.partition = target.claim
        sync.userID = userID
        try copy.setSync(sync)
        return copy
    }

    /// Subscribes the fresh copy of a flexible realm to what the realm has: the set in force, not those that are pending.
    private func subscribe(_ copy: RealmCore) throws {
        guard target.mode == .flexible, core.sync.move?.pending == nil else { return }
        let wanted = core.subscriptions.active?.subscriptions ?? []
        copy.lock.lock()
        defer { copy.lock.unlock() }
        let latest = copy.subscriptions.latest
        guard latest.subscriptions != wanted || latest.state == .error else { return }
        let snapshot = copy.snapshot.version
        try copy.setSubscriptions { _ = $0.append(wanted, snapshot: snapshot) }
    }

    func closeFresh() { fresh = nil }

    func deleteFresh() {
        guard let fresh else { return }
        self.fresh = nil
        guard let url = fresh.url else { return }
        try? fresh.file.close()
        RealmFileSet.deleteDatabase(url)
    }

    // MARK: The realm's own file

    /// Nothing was ever in the file: nothing to merge, only a new identity to get.
    func startOver() throws {
        try forgetIdentity()
        if let url = core.url { RealmFileSet.deleteDatabase(RealmFileSet(main: url).fresh) }
    }

    private func forgetIdentity() throws {
        core.lock.lock()
        defer { core.lock.unlock() }
        var sync = core.sync
        sync.ident = nil
        sync.progress = SyncProgress()
        try core.setSync(sync)
        if target.mode == .flexible { try core.setSubscriptions { $0.startOver() } }
    }

    /// Whether the file has the record of a merge that the server has not acknowledged. Should the file not say it now:
    /// clearing what is not there does no harm.
    var hasRecord: Bool { (try? core.file.read { ResetRows($0).pending() } != nil) ?? true }

    func restoreRecord() { record.restore(into: core) }

    /// - Returns: whether the record is gone.
    func clearRecord() -> Bool {
        core.lock.lock()
        defer { core.lock.unlock() }
        return (try? core.setSync(core.sync, pendingReset: .clear)) != nil
    }

    /// The realm that the file was of before its app moved to the other sync mode; nil if it does not move.
    var realmBeforeMove: RealmName? {
        guard let app = app.core?.id, let move = core.sync.move, let pending = move.pending else { return nil }
        guard pending.action == .migrateToFLX else { return RealmName(flexible: app) }
        return (try? PartitionValue.parse(path: move.partition)).map {
            RealmName(app: app, partition: $0.canonicalText)
        }
    }

    // MARK: Reports

    func outcome(
        _ attempt: ResetAttempt, _ result: OutcomeReport.Result, modeUsed: ResetMode? = nil,
        changesets: OutcomeReport.Changesets? = nil
    ) -> ResetOutcome {
        ResetOutcome(
            attempt: attempt.id, realm: attempt.realmOld ?? target.realmName(app: app.core?.id ?? ""),
            identOld: attempt.identOld, modeRequested: attempt.mode, modeUsed: modeUsed, result: result,
            changesets: changesets)
    }

    /// Notes what to report if this attempt is cut off, by the end of the process or by the app.
    func note(_ attempt: ResetAttempt) {
        reportInterruption()
        record = ResetRecord()
        setReport(.attempt, outcome(attempt, .interrupted))
    }

    /// Reports the attempt that is still noted when the next one could begin: it was cut off.
    func reportInterruption() { deliver(.attempt) { $0.updated(to: .interrupted) } }

    /// Queues a report. While the metadata file cannot be written, the realm's own keeps it for the next start of the session.
    func report(_ outcome: ResetOutcome) {
        guard app.core?.outcomes.report(outcome, user: userID) == false else { return }
        setReport(.outcome, outcome)
    }

    /// Queues the report that was committed with a merge, or could not be queued; also after a crash in between, which may
    /// have left the fresh copy as well.
    func deliverStoredOutcome() { deliver(.outcome) { $0 } }

    private func deliver(_ name: ResetRows.ReportName, _ report: (ResetOutcome) -> ResetOutcome) {
        guard let app = app.core, let stored = try? core.file.read({ try ResetRows($0).report(name) }),
            app.outcomes.report(report(stored), user: userID)
        else { return }
        setReport(name, nil)
    }

    private func setReport(_ name: ResetRows.ReportName, _ report: ResetOutcome?) {
        try? core.file.write { try ResetRows($0).setReport(name, report) }
    }

    // MARK: The merge

    /// - Throws: as `ResetMerge.run`.
    func merge(_ attempt: ResetAttempt) throws -> ResetMergeResult {
        guard let fresh else { throw ResetFailure("the fresh copy is closed") }
        let merge = ResetMerge(core: core, fresh: fresh, attempt: attempt, record: record) { result in
            var outcome = self.outcome(
                attempt, result.mode == .recover ? .recovered : .discarded, modeUsed: result.mode,
                changesets: result.changesets)
            outcome.identNew = result.sync.ident?.ident
            return outcome
        }
        return try merge.run()
    }

    /// A merge is committed: what an earlier reset left to the app is over.
    func forgetFileActions() {
        if let url = core.url { try? app.core?.store.removeFileActions(path: url.path) }
    }

    // MARK: Left to the app

    /// Registers the backup and deletion of the realm's file, and reports that the app has to act.
    /// - Parameter failure: why an automatic mode failed; nil for the manual mode.
    /// - Returns: the error for the app.
    func leaveToApp(_ attempt: ResetAttempt, _ failure: ResetFailure?) -> SyncError {
        setReport(.attempt, nil)
        var outcome = outcome(
            attempt, .manualPending, modeUsed: failure == nil ? .manual : failure?.modeUsed,
            changesets: failure?.changesets)
        outcome.error = failure.map { .init(name: "AutoClientResetFailed", message: $0.description) }
        var action: FileAction?
        do {
            action = try registerBackup(attempt)
        } catch {
            logger.error("cannot register the backup of a client reset", metadata: ["error": "\(error)"])
            outcome.result = .failed
        }
        outcome.backupFile = action?.backupPath.map { URL(fileURLWithPath: $0).lastPathComponent }
        report(outcome)
        let message =
            failure.map {
                "A fatal error occurred during '\(attempt.action)' client reset handling: '\($0)'. "
                    + "The error that caused it: '\(attempt.errorMessage)'"
            } ?? attempt.errorMessage
        return SyncError(
            .clientResetError, message, name: outcome.error?.name, logURL: attempt.logURL, wireCode: attempt.errorCode,
            backupPath: action?.backupPath,
            actionToken: action.map {
                SyncError.ActionToken(core: app, originalPath: $0.originalPath, actionID: $0.id)
            })
    }

    /// - Returns: nil for a realm in memory.
    private func registerBackup(_ attempt: ResetAttempt) throws -> FileAction? {
        guard let app = app.core, let url = core.url else { return nil }
        let action = FileAction(
            kind: .backUpThenDelete, originalPath: url.path,
            backupPath: try app.layout.reserveBackup().path, userID: userID, attempt: attempt.id,
            file: core.sync.identity, salt: core.file.encryption?.cipher.header.salt)
        try app.store.addFileAction(action)
        return action
    }
}
