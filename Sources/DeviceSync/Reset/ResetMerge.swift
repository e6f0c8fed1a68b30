internal import Changesets
internal import Foundation
internal import RealmState
import SyncModel

/// Why an automatic reset cannot be finished: the data do not allow it. The realm is as before, but for the record.
struct ResetFailure: Error, Sendable, Equatable, CustomStringConvertible {
    var description: String
    /// What was being tried.
    var modeUsed: ResetMode?
    var changesets = OutcomeReport.Changesets()

    init(_ description: String, _ modeUsed: ResetMode? = nil, unsynced: Int = 0) {
        self.description = description
        self.modeUsed = modeUsed
        changesets.unsynced = unsynced
    }
}

/// What a merge did.
struct ResetMergeResult: Sendable {
    /// Discard or recover.
    var mode: ResetMode
    var changesets: OutcomeReport.Changesets
    var replay = ReplayStatistics()
    var sync: SyncFileState
    var version: ClientVersion = 0
}

/// Brings the fresh copy's state, and if wanted the unsynced changes, into the realm in one transaction
/// (docs/resets.md, "Merge" and "History afterwards").
struct ResetMerge {
    let core: RealmCore
    let fresh: RealmCore
    let attempt: ResetAttempt
    let record: ResetRecord
    /// Reports the outcome; it is stored with the commit, so that it is not lost with the process.
    let describe: (ResetMergeResult) -> ResetOutcome

    /// Called after the before block, without the write lock.
    /// - Throws: `ResetFailure`, after which nothing but the app can help. Anything else is this device's storage: a full
    ///   disk says nothing about whether the changes can be replayed, and everything is as before, the record too.
    func run() throws -> ResetMergeResult {
        try core.writing { try record.merging(into: core, merge) }
    }

    private func merge(_ stored: PendingReset?) throws -> ResetMergeResult {
        let tries = 1 + (stored?.action == attempt.action ? stored?.cutOff ?? 0 : 0)
        switch ResetDecision.merge(attempt.mode, attempt.action, stored: stored) {
        case .cycle(let reason): throw ResetFailure("a cycle was detected: \(reason)")
        case .discard: return try discard(tries: tries)
        case .recover:
            try keep(newRecord(.recover, cutOff: tries))
            do {
                return try recover()
            } catch let failure as ResetFailure {
                guard attempt.mode == .recoverOrDiscard else {
                    try? keep(newRecord(.recover, cutOff: 0))
                    throw failure
                }
                // In the same attempt, from the same fresh copy.
                return try discard(tries: tries)
            }
        }
    }

    private func discard(tries: Int) throws -> ResetMergeResult {
        try keep(newRecord(.discard, cutOff: tries))
        let unsynced = try unsynced().count
        var result = ResetMergeResult(
            mode: .discard, changesets: .init(unsynced: unsynced, discarded: unsynced), sync: core.sync)
        do {
            try commit(&result, freshState: fresh.snapshot.state, recovered: [:])
        } catch let failure as ResetFailure {
            try? keep(newRecord(.discard, cutOff: 0))
            throw failure
        }
        return result
    }

    private func recover() throws -> ResetMergeResult {
        let entries = try unsynced()
        var replay = ChangesetReplay(onto: fresh.snapshot.state, local: core.snapshot.state)
        var recovered: [ClientVersion: [UInt8]] = [:]
        do {
            for entry in entries {
                recovered[entry.version] = try replay.replay(try Changeset(parsing: entry.merged))
            }
        } catch {
            throw ResetFailure("\(error)", .recover, unsynced: entries.count)
        }
        let emptied = recovered.values.count(where: \.isEmpty)
        var result = ResetMergeResult(
            mode: .recover,
            changesets: .init(unsynced: entries.count, recovered: entries.count - emptied, emptied: emptied),
            replay: replay.statistics, sync: core.sync)
        try commit(&result, freshState: replay.fresh, recovered: recovered)
        return result
    }

    /// What the server has not integrated, or has lost, as later downloads have left it.
    private func unsynced() throws -> [HistoryEntry] {
        let newest = core.snapshot.version
        // A server that names a version which is not there means another file.
        let integrated = attempt.integrated.flatMap { $0 <= newest ? $0 : nil } ?? 0
        let known = max(core.sync.progress.upload.clientVersion, integrated)
        return try core.file.read { database in
            let rows = HistoryRows(database)
            guard let lost = attempt.lostAfter else { return try rows.localEntries(after: known, upTo: newest) }
            return try rows.acknowledgedEntries(after: lost) + rows.localEntries(after: lost, upTo: newest)
        }
    }

    private func newRecord(_ mode: PendingReset.Mode, cutOff: Int) -> PendingReset {
        PendingReset(
            mode: mode, action: attempt.action, time: Int64(Date().timeIntervalSince1970 * 1000),
            errorCode: attempt.errorCode, errorMessage: attempt.errorMessage, attempt: attempt.id, cutOff: cutOff)
    }

    /// Stores the record on its own, outside the merge: it has to survive a failure of the merge and the death of the process.
    private func keep(_ record: PendingReset) throws {
        try core.setSync(core.sync, pendingReset: .set(record))
    }

    private func commit(
        _ result: inout ResetMergeResult, freshState: RealmState, recovered: [ClientVersion: [UInt8]]
    ) throws {
        let snapshot = core.snapshot
        let source = fresh.sync
        func failure(_ reason: String) -> ResetFailure {
            ResetFailure(reason, result.mode, unsynced: result.changesets.unsynced)
        }
        guard let ident = source.ident else { throw failure("the fresh copy has no identity") }
        var state = snapshot.state
        do {
            _ = try StateTransfer.transfer(from: freshState, to: &state)
        } catch {
            throw failure("\(error)")
        }

        let latest = source.progress.latest
        var sync = core.sync
        sync.ident = ident
        sync.compatibility = source.compatibility
        sync.progress.latest = latest
        sync.progress.download = DownloadCursor(serverVersion: latest.version, clientVersion: 0)
        sync.progress.upload = UploadCursor(clientVersion: 0, serverVersion: latest.version)

        let move = sync.move?.pending?.action
        if move == .migrateToFLX { sync.move?.pending = nil } else if move == .revertToPBS { sync.move = nil }
        result.version = snapshot.version + 1
        result.sync = sync
        var commit = FileCommit(version: result.version, taking: &state)
        commit.sync = sync
        if let move {
            // What the fresh copy has subscribed to, as the realm's first set; or none any more.
            let subscribed = move == .migrateToFLX ? fresh.subscriptions.active?.subscriptions : nil
            let sets = subscribed.map {
                SubscriptionSets(stored: [SubscriptionSet(version: 1, state: .complete, snapshot: 0, subscriptions: $0)]
                )
            }
            commit.subscriptions = SubscriptionChange(from: core.subscriptions, to: sets ?? SubscriptionSets())
            commit.endsBootstrap = true
        } else if sync.partition == SyncTarget.flexible.claim || sync.move != nil {
            commit.subscriptions = SubscriptionChange(of: core.subscriptions) {
                $0.reset(discarding: result.mode == .discard)
            }
            commit.endsBootstrap = true
        }
        commit.history = try history(recovered, latest: latest.version)
        commit.entry = HistoryEntry(
            version: result.version, originTimestamp: core.nextTimestamp(), originFile: 0,
            remoteVersion: latest.version, changeset: [])
        commit.pendingReset = .set(newRecord(result.mode == .recover ? .recover : .discard, cutOff: 0))
        commit.resetOutcome = describe(result)
        try core.commit(commit, state: commit.changes?.isEmpty == true ? nil : state)
    }

    /// What is kept: from the first recovered entry on, with the original numbers and times.
    private func history(_ recovered: [ClientVersion: [UInt8]], latest: ServerVersion) throws -> [HistoryEntry] {
        guard let first = recovered.filter({ !$0.value.isEmpty }).keys.min() else { return [] }
        let kept = try core.file.read { database in
            let rows = HistoryRows(database)
            return try rows.acknowledgedEntries(after: ClientVersion(first.rawValue - 1)) + rows.entries(from: first)
        }
        return kept.map { entry in
            var entry = entry
            entry.changeset = recovered[entry.version] ?? []
            entry.reciprocal = nil
            entry.remoteVersion = latest
            return entry
        }
    }
}
