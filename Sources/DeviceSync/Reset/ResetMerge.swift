internal import Changesets
internal import Foundation
internal import RealmState
import SyncModel
internal import SyncProtocol

/// Why an automatic reset cannot be finished: the data do not allow it. The realm is as before, but for the record.
struct ResetFailure: Error, Sendable, Equatable, CustomStringConvertible {
    var description: String
    /// What was being tried.
    var modeUsed: ResetMode?
    var changesets = ResetOutcome.Changesets()
}

/// What a merge did.
struct ResetMergeResult: Sendable {
    /// Discard or recover.
    var mode: ResetMode
    var changesets: ResetOutcome.Changesets
    var replay: ReplayStatistics
    var transfer: StateTransfer.Statistics
    var sync: SyncFileState
    var version: UInt64
    /// The frozen realm that the before block got.
    var before: RealmSnapshot
}

/// Brings the fresh copy's state, and if wanted the unsynced changes, into the realm in one transaction
/// (docs/resets.md, "Merge" and "History afterwards").
struct ResetMerge {
    let core: RealmCore
    let fresh: RealmCore
    let attempt: ResetAttempt
    let record: ResetRecord
    /// Reports the outcome; it is stored with the commit, so that it is not lost with the process.
    let describe: (ResetMergeResult) -> String

    /// The before block has run; nobody holds the write lock.
    /// - Throws: `ResetFailure`, after which nothing but the app can help. Anything else is this device's storage: a full
    ///   disk says nothing about whether the changes can be replayed, and everything is as before, the record too.
    func run(before: RealmSnapshot) throws -> ResetMergeResult {
        core.lock.lock()
        defer { core.lock.unlock() }
        return try record.merging(into: core) { try merge(before, $0) }
    }

    private func merge(_ before: RealmSnapshot, _ stored: PendingReset?) throws -> ResetMergeResult {
        let tries = 1 + (stored?.action == attempt.action ? stored?.cutOff ?? 0 : 0)
        switch ResetDecision.merge(attempt.mode, attempt.action, stored: stored) {
        case .cycle(let reason): throw ResetFailure(description: "a cycle was detected: \(reason)")
        case .discard: return try discard(before, tries: tries)
        case .recover:
            try keep(newRecord(.recover, cutOff: tries))
            do {
                return try recover(before)
            } catch let failure as ResetFailure {
                guard attempt.mode == .recoverOrDiscard else {
                    try? keep(newRecord(.recover, cutOff: 0))
                    throw failure
                }
                // In the same attempt, from the same fresh copy.
                return try discard(before, tries: tries)
            }
        }
    }

    private func discard(_ before: RealmSnapshot, tries: Int) throws -> ResetMergeResult {
        try keep(newRecord(.discard, cutOff: tries))
        let unsynced = try unsynced().count
        let counts = ResetOutcome.Changesets(unsynced: unsynced, discarded: unsynced)
        do {
            var result = ResetMergeResult(
                mode: .discard, changesets: counts, replay: ReplayStatistics(), transfer: .init(), sync: core.sync,
                version: 0, before: before)
            try commit(&result, freshState: fresh.snapshot.state, recovered: [:])
            return result
        } catch var failure as ResetFailure {
            try? keep(newRecord(.discard, cutOff: 0))
            failure.modeUsed = .discard
            failure.changesets = ResetOutcome.Changesets(unsynced: unsynced)
            throw failure
        }
    }

    private func recover(_ before: RealmSnapshot) throws -> ResetMergeResult {
        let entries = try unsynced()
        var replay = ChangesetReplay(onto: fresh.snapshot.state, local: core.snapshot.state)
        var recovered: [UInt64: [UInt8]] = [:]
        var counts = ResetOutcome.Changesets(unsynced: entries.count)
        let unsynced = ResetOutcome.Changesets(unsynced: entries.count)
        do {
            for entry in entries {
                let changeset = try Changeset(parsing: entry.reciprocal ?? entry.changeset)
                let bytes = try replay.replay(changeset)
                recovered[entry.version] = bytes
                if bytes.isEmpty { counts.emptied += 1 } else { counts.recovered += 1 }
            }
        } catch {
            throw ResetFailure(description: "\(error)", modeUsed: .recover, changesets: unsynced)
        }
        var result = ResetMergeResult(
            mode: .recover, changesets: counts, replay: replay.statistics, transfer: .init(), sync: core.sync,
            version: 0,
            before: before)
        do {
            try commit(&result, freshState: replay.fresh, recovered: recovered)
        } catch var failure as ResetFailure {
            failure.modeUsed = .recover
            failure.changesets = unsynced
            throw failure
        }
        return result
    }

    /// What the server has not integrated, as later downloads have left it.
    private func unsynced() throws -> [HistoryEntry] {
        let newest = core.snapshot.version
        // A server that names a version which is not there means another file.
        let integrated = attempt.integrated.flatMap { $0 <= newest ? $0 : nil } ?? 0
        return try core.file.localEntries(
            after: max(core.sync.progress.upload.clientVersion.rawValue, integrated), upTo: newest)
    }

    private func newRecord(_ mode: PendingReset.Mode, cutOff: Int) -> PendingReset {
        PendingReset(
            mode: mode, action: attempt.action, time: Int64(Date().timeIntervalSince1970 * 1000),
            errorCode: attempt.errorCode, errorMessage: attempt.errorMessage, attempt: attempt.id, cutOff: cutOff)
    }

    /// On its own, outside the merge: it has to survive a failure of the merge and the death of the process.
    private func keep(_ record: PendingReset) throws {
        try core.setSync(core.sync, pendingReset: .set(record))
    }

    private func commit(
        _ result: inout ResetMergeResult, freshState: RealmState, recovered: [UInt64: [UInt8]]
    ) throws {
        let snapshot = core.snapshot
        let source = fresh.sync
        guard let ident = source.ident else { throw ResetFailure(description: "the fresh copy has no identity") }
        var state = snapshot.state
        do {
            result.transfer = try StateTransfer.transfer(from: freshState, to: &state)
        } catch {
            throw ResetFailure(description: "\(error)")
        }

        let latest = source.progress.latest
        var sync = core.sync
        sync.ident = ident
        sync.compatibility = source.compatibility
        sync.progress.latest = latest
        sync.progress.download = DownloadCursor(serverVersion: latest.version, clientVersion: 0)
        sync.progress.upload = UploadCursor(clientVersion: 0, serverVersion: latest.version)

        result.version = snapshot.version + 1
        result.sync = sync
        var commit = RealmFile.Commit(version: result.version)
        let changes = state.takeChanges()
        if changes.schemaChanged { commit.schema = state.schema }
        commit.changes = changes
        commit.sync = sync
        commit.history = try history(recovered, latest: latest.version.rawValue)
        commit.entry = HistoryEntry(
            version: result.version, originTimestamp: core.nextTimestamp(), originFile: 0,
            remoteVersion: latest.version.rawValue, changeset: [], reciprocal: nil)
        commit.pendingReset = .set(newRecord(result.mode == .recover ? .recover : .discard, cutOff: 0))
        commit.resetOutcome = describe(result)
        try core.commit(commit, changes: changes, state: changes.isEmpty ? nil : state)
    }

    /// What is kept: from the first recovered entry on, with the original numbers and times.
    private func history(_ recovered: [UInt64: [UInt8]], latest: UInt64) throws -> [HistoryEntry] {
        guard let first = recovered.filter({ !$0.value.isEmpty }).keys.min() else { return [] }
        return try core.file.entries(from: first).map { entry in
            var entry = entry
            entry.changeset = recovered[entry.version] ?? []
            entry.reciprocal = nil
            entry.remoteVersion = latest
            return entry
        }
    }
}
