internal import Changesets
internal import Merge
internal import RealmState
import SyncModel
internal import SyncProtocol

/// Why a DOWNLOAD could not be integrated, in the words for the server.
struct IntegrationError: Error, Sendable, CustomStringConvertible {
    var code: ErrorCode
    var message: String
    var description: String { "\(code): \(message)" }
}

/// Brings what the server sent into a realm: merge, state, history and cursors in one transaction
/// (docs/merge.md, "Downloads at the client"). Lives as long as a session.
struct DownloadIntegrator {
    let core: RealmCore
    private var window = LocalWindow()

    init(core: RealmCore) { self.core = core }

    /// - Parameter compatibility: by which rules the app's copies are made; kept with this one from now on.
    /// - Returns: the new progress and the local version it made.
    mutating func integrate(
        _ download: Download, _ compatibility: PeerCompatibility
    ) throws -> (progress: SyncProgress, version: UInt64) {
        let changesets = try parse(download)
        core.lock.lock()
        defer { core.lock.unlock() }
        do {
            return try integrate(download, changesets, compatibility)
        } catch {
            // Whatever came of it, the file is right.
            window = LocalWindow()
            throw error
        }
    }

    private mutating func integrate(
        _ download: Download, _ changesets: [Changeset], _ compatibility: PeerCompatibility
    ) throws -> (progress: SyncProgress, version: UInt64) {
        let snapshot = core.snapshot
        var sync = core.sync
        guard let ident = sync.ident else {
            throw IntegrationError(code: .otherSessionError, message: "no identity yet")
        }
        let merged = try merge(download, changesets, own: ident.ident.rawValue, upTo: snapshot.version)

        sync.compatibility = compatibility
        var state = snapshot.state
        state.compatibility = compatibility
        var commit = RealmFile.Commit(version: snapshot.version + 1)
        if !merged.incoming.isEmpty {
            do {
                for changeset in merged.incoming { try state.apply(changeset) }
            } catch {
                throw IntegrationError(code: .badChangeset, message: "Failed to apply received changeset: \(error)")
            }
        }
        let changes = state.takeChanges()
        if changes.schemaChanged { commit.schema = state.schema }
        commit.changes = changes
        commit.reciprocals = merged.modifiedLocal.map { ($0.version, $0.changeset.encoded()) }
        commit.entry = Self.entry(for: download, version: commit.version)
        sync.progress = Self.advanced(sync.progress, by: download.progress)
        commit.sync = sync
        commit.trimsHistory = true
        try core.commit(commit, changes: changes, state: state)
        window.replace(merged.modifiedLocal)
        return (sync.progress, commit.version)
    }

    private func parse(_ download: Download) throws -> [Changeset] {
        do {
            return try download.entries.map { try Changeset(parsing: $0.changeset) }
        } catch {
            throw IntegrationError(code: .badChangeset, message: "Failed to parse received changeset: \(error)")
        }
    }

    private mutating func merge(
        _ download: Download, _ changesets: [Changeset], own: UInt64, upTo version: UInt64
    ) throws -> TransformResult {
        guard let base = download.entries.map(\.clientVersion.rawValue).min() else {
            return TransformResult(incoming: [], modifiedLocal: [])
        }
        // What the history no longer holds was empty or the server's own: clamping bases to it would change nothing.
        try window.advance(to: version, base: base, file: core.file, own: own)
        let incoming = zip(download.entries, changesets).map { entry, changeset in
            IncomingChangeset(
                version: entry.serverVersion.rawValue, lastIntegratedLocalVersion: entry.clientVersion.rawValue,
                originTimestamp: entry.timestamp.rawValue, originFileIdent: entry.originFile.rawValue,
                changeset: changeset)
        }
        do {
            return try MergeEngine().transform(
                incoming: incoming, over: window.entries, currentLocalVersion: version)
        } catch {
            throw IntegrationError(code: .badChangeset, message: "Failed to transform received changeset: \(error)")
        }
    }

    /// The one history entry for all that came. What came without changesets counts as an empty commit of ours.
    private static func entry(for download: Download, version: UInt64) -> HistoryEntry {
        let last = download.entries.last
        return HistoryEntry(
            version: version, originTimestamp: last?.timestamp.rawValue ?? 0,
            originFile: last?.originFile.rawValue ?? 0,
            remoteVersion: download.progress.download.serverVersion.rawValue, changeset: [], reciprocal: nil)
    }

    private static func advanced(
        _ old: SyncProgress, by new: SyncProgress
    ) -> SyncProgress {
        var progress = new
        if new.upload.serverVersion == 0 { progress.upload.serverVersion = old.upload.serverVersion }
        return progress
    }
}
