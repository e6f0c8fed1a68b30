import Changesets
import Merge
import RealmState
import SyncModel
import SyncProtocol

/// Why a DOWNLOAD could not be integrated, in the words for the server.
struct IntegrationError: Error, Sendable, CustomStringConvertible {
    var code: ErrorCode
    var message: String
    var description: String { "\(code): \(message)" }
}

/// Brings what the server sent into a realm: state, history and cursors in one commit, as `DownloadIntegration` says. Lives as
/// long as a session.
struct DownloadIntegrator {
    let core: RealmCore
    private var window = LocalWindow()

    init(core: RealmCore) { self.core = core }

    /// - Parameter compatibility: by which rules the app's copies are made; kept with this one from now on.
    /// - Returns: the new progress and the local version it made.
    mutating func integrate(
        _ download: Download, _ compatibility: PeerCompatibility
    ) throws -> (progress: SyncProgress, version: ClientVersion) {
        var integration = DownloadIntegration(download.progress, changesets: try parse(download))
        core.lock.lock()
        defer { core.lock.unlock() }
        do {
            return try integrate(&integration, compatibility)
        } catch {
            // What is stored counts.
            window = LocalWindow()
            throw error
        }
    }

    private mutating func integrate(
        _ integration: inout DownloadIntegration, _ compatibility: PeerCompatibility
    ) throws -> (progress: SyncProgress, version: ClientVersion) {
        let snapshot = core.snapshot
        var sync = core.sync
        guard let ident = sync.ident else {
            throw IntegrationError(code: .otherSessionError, message: "no identity yet")
        }
        try merge(&integration, own: ident.ident, upTo: snapshot.version)
        let outcome = integration.outcome(after: sync.progress)

        sync.compatibility = compatibility
        sync.progress = outcome.progress
        var state = snapshot.state
        state.compatibility = compatibility
        do {
            for changeset in integration.changesets { try state.apply(changeset.changeset) }
        } catch {
            throw IntegrationError(code: .badChangeset, message: "Failed to apply received changeset: \(error)")
        }
        var commit = RealmFile.Commit(version: snapshot.version + 1, taking: &state)
        commit.reciprocals = outcome.reciprocals.map { (ClientVersion($0.version), $0.changeset.encoded()) }
        commit.entry = HistoryEntry(
            version: commit.version, originTimestamp: outcome.originTimestamp, originFile: outcome.originFile,
            remoteVersion: outcome.progress.download.serverVersion, changeset: [])
        commit.sync = sync
        commit.trimsHistory = true
        try core.commit(commit, state: state)
        window.replace(outcome.reciprocals)
        return (sync.progress, commit.version)
    }

    private func parse(_ download: Download) throws -> [IncomingChangeset] {
        do {
            return try download.entries.map { try IncomingChangeset($0) }
        } catch {
            throw IntegrationError(code: .badChangeset, message: "Failed to parse received changeset: \(error)")
        }
    }

    private mutating func merge(
        _ integration: inout DownloadIntegration, own: FileIdent, upTo version: ClientVersion
    ) throws {
        guard let base = integration.base else { return }
        let known = window.begin(after: base, through: version)
        for entry in try core.file.localEntries(after: known, upTo: version) {
            window.append(
                LocalChangeset(
                    version: entry.version.rawValue, originTimestamp: entry.originTimestamp.rawValue,
                    originFileIdent: own.rawValue, changeset: try Changeset(parsing: entry.merged)),
                size: entry.merged.count)
        }
        do {
            try integration.merge(over: window.entries, through: version, using: MergeEngine())
        } catch {
            throw IntegrationError(code: .badChangeset, message: "Failed to transform received changeset: \(error)")
        }
    }
}
