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

    /// Whether the server would send the same the next time too.
    var isTheServersFault: Bool { code == .badChangeset || code == .badProgress }
}

/// Brings what the server sent into a realm: state, history and cursors in one commit, as `DownloadIntegration` says. Lives as
/// long as a session.
struct DownloadIntegrator {
    /// The new progress, and the local version that has it.
    typealias Integrated = (progress: SyncProgress, version: ClientVersion)

    let core: RealmCore
    private var window = LocalWindow()

    init(core: RealmCore) { self.core = core }

    /// Brings one DOWNLOAD in.
    /// - Parameters:
    ///   - set: the subscription set whose data this is, as a whole; nil for other DOWNLOADs.
    ///   - compatibility: the rules by which the app's copies are made, which this copy keeps.
    mutating func integrate(
        _ download: Download, of set: QueryVersion? = nil, _ compatibility: PeerCompatibility
    ) throws -> Integrated {
        let changesets = try orBadChangeset("parse") { try download.entries.map { try IncomingChangeset($0) } }
        var integration = DownloadIntegration(download.progress, changesets: changesets)
        do {
            return try core.writing {
                let own = try ownIdent()
                let snapshot = core.snapshot
                try merge(&integration, own: own, upTo: snapshot.version)
                let outcome = integration.outcome(after: core.sync.progress)
                var state = snapshot.state
                state.compatibility = compatibility
                try apply(integration.changesets, to: &state)
                let result = try commit(outcome, &state, set, compatibility)
                window.replace(outcome.reciprocals)
                return result
            }
        } catch {
            // What is stored counts.
            window = LocalWindow()
            throw error
        }
    }

    /// Brings a bootstrap in that is stored whole, batch by batch, in one commit.
    mutating func integrate(_ bootstrap: PendingBootstrap, _ compatibility: PeerCompatibility) throws -> Integrated {
        guard let progress = bootstrap.progress else {
            throw IntegrationError(code: .otherSessionError, message: "the bootstrap's last batch is missing")
        }
        // What is merged here counts only with the commit, after which it is read again.
        window = LocalWindow()
        return try core.writing { try integrate(bootstrap, progress, compatibility) }
    }

    private func integrate(
        _ bootstrap: PendingBootstrap, _ progress: SyncProgress, _ compatibility: PeerCompatibility
    ) throws -> Integrated {
        let own = try ownIdent()
        let snapshot = core.snapshot
        var state = snapshot.state
        state.compatibility = compatibility
        var local = LocalWrites()
        var outcome = DownloadIntegration(progress, changesets: []).outcome(after: core.sync.progress)
        for batch in 0..<bootstrap.batches {
            let entries = try core.file.read { try BootstrapRows($0).entries(batch: batch) }
            let changesets = try orBadChangeset("parse") { try entries.map { try IncomingChangeset($0) } }
            var integration = DownloadIntegration(progress, changesets: changesets)
            if let base = integration.base {
                try local.read(from: core, own: own, after: base, through: snapshot.version)
                try orBadChangeset("transform") {
                    try integration.merge(over: local.entries, through: snapshot.version, using: MergeEngine())
                }
            }
            try apply(integration.changesets, to: &state)
            let merged = integration.outcome(after: core.sync.progress)
            local.replace(merged.reciprocals)
            outcome.originTimestamp = merged.originTimestamp
            outcome.originFile = merged.originFile
        }
        outcome.reciprocals = local.reciprocals
        return try commit(outcome, &state, bootstrap.version, compatibility)
    }

    private func ownIdent() throws -> FileIdent {
        guard let ident = core.sync.ident else {
            throw IntegrationError(code: .otherSessionError, message: "no identity yet")
        }
        return ident.ident
    }

    private func apply(_ changesets: [IncomingChangeset], to state: inout RealmState) throws {
        try orBadChangeset("apply") { for changeset in changesets { try state.apply(changeset.changeset) } }
    }

    /// - Parameter set: the subscription set whose data is complete with this; nil for none.
    private func commit(
        _ outcome: DownloadOutcome, _ state: inout RealmState, _ set: QueryVersion?, _ compatibility: PeerCompatibility
    ) throws -> Integrated {
        var sync = core.sync
        sync.compatibility = compatibility
        sync.progress = outcome.progress
        var commit = FileCommit(version: core.snapshot.version + 1, taking: &state)
        commit.reciprocals = outcome.reciprocals.map { (ClientVersion($0.version), $0.changeset.encoded()) }
        commit.entry = HistoryEntry(
            version: commit.version, originTimestamp: outcome.originTimestamp, originFile: outcome.originFile,
            remoteVersion: outcome.progress.download.serverVersion, changeset: [])
        commit.sync = sync
        commit.trimsHistory = true
        if let set {
            commit.subscriptions = SubscriptionChange(of: core.subscriptions) { $0.bootstrapped(set) }
            commit.endsBootstrap = true
        }
        try core.commit(commit, state: state)
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
        for entry in try core.file.read({ try HistoryRows($0).localEntries(after: known, upTo: version) }) {
            window.append(try LocalChangeset(entry, own: own), size: entry.merged.count)
        }
        try orBadChangeset("transform") {
            try integration.merge(over: window.entries, through: version, using: MergeEngine())
        }
    }
}

/// The realm's own writes that a stored bootstrap is merged with, as its batches so far have left them. All of them stay in memory
/// until the bootstrap is committed.
private struct LocalWrites {
    private(set) var entries: [LocalChangeset] = []
    private var modified: Set<UInt64> = []
    private var base: ClientVersion?

    /// Reads the writes after a version; what has been read stays as it is.
    mutating func read(
        from core: RealmCore, own: FileIdent, after base: ClientVersion, through version: ClientVersion
    ) throws {
        let end = self.base ?? version
        guard base < end else { return }
        let earlier = try core.file.read { try HistoryRows($0).localEntries(after: base, upTo: end) }
            .map { try LocalChangeset($0, own: own) }
        entries = earlier + entries
        self.base = base
    }

    mutating func replace(_ reciprocals: [TransformResult.Reciprocal]) {
        var position = 0
        for reciprocal in reciprocals {
            while position < entries.count, entries[position].version < reciprocal.version { position += 1 }
            guard position < entries.count, entries[position].version == reciprocal.version else { continue }
            entries[position].changeset = reciprocal.changeset
            modified.insert(reciprocal.version)
        }
    }

    var reciprocals: [TransformResult.Reciprocal] {
        entries.filter { modified.contains($0.version) }
            .map { TransformResult.Reciprocal(version: $0.version, changeset: $0.changeset) }
    }
}

extension LocalChangeset {
    /// A write of the realm's own, as the merges so far have left it.
    fileprivate init(_ entry: HistoryEntry, own: FileIdent) throws {
        self.init(
            version: entry.version.rawValue, originTimestamp: entry.originTimestamp.rawValue,
            originFileIdent: own.rawValue, changeset: try Changeset(parsing: entry.merged))
    }
}
