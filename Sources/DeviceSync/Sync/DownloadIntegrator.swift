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

    /// - Parameter compatibility: the rules by which the app's copies are made, which this copy keeps.
    /// - Returns: the new progress and the local version it made.
    mutating func integrate(
        _ download: Download, _ compatibility: PeerCompatibility
    ) throws -> (progress: SyncProgress, version: ClientVersion) {
        let changesets = try orBadChangeset("parse") { try download.entries.map { try IncomingChangeset($0) } }
        var integration = DownloadIntegration(download.progress, changesets: changesets)
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
        try orBadChangeset("apply") {
            for changeset in integration.changesets { try state.apply(changeset.changeset) }
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

    /// Runs `body`; an error is blamed on what the server sent.
    private func orBadChangeset<Result>(_ verb: String, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch {
            throw IntegrationError(code: .badChangeset, message: "Failed to \(verb) received changeset: \(error)")
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
        try orBadChangeset("transform") {
            try integration.merge(over: window.entries, through: version, using: MergeEngine())
        }
    }
}
