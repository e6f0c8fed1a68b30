import Changesets
import Merge
package import RealmState
import SyncModel

/// One client file (docs/merge.md, "Downloads at the client").
package struct SimulatedClient: Sendable {
    struct Entry: Sendable {
        var version: UInt64
        var isLocal: Bool
        var timestamp: UInt64
        /// The last server version that was integrated when this one was made.
        var serverVersion: UInt64
        /// As it was recorded; this is what is uploaded.
        var changeset: [UInt8]
        /// As what came from the server has left it; nil while that has not changed it.
        var reciprocal: [UInt8]?
    }

    let ident: UInt64
    /// Whether only a reset leads back to the server.
    private(set) var isCutOff = false
    package internal(set) var state: RealmState
    var version: UInt64 = 1
    var entries: [Entry] = []
    /// Entries up to here have been trimmed.
    var historyBase: UInt64 = 1
    var progress = SyncProgress()
    var clock: UInt64
    var lastStamp: UInt64 = 0
    var session: SimulatedSession
    var lastUpload: SimulatedUpload?
    let engine: SimulatedEngine

    init(ident: UInt64, engine: SimulatedEngine, clock: UInt64 = 1_000) {
        self.ident = ident
        self.engine = engine
        self.clock = clock
        state = RealmState(compatibility: engine.rules.apply)
        session = SimulatedSession(progress)
    }

    // MARK: Writing

    mutating func write(_ edits: [Edit]) {
        var transaction = RecordingTransaction(taking: &state)
        for edit in edits { transaction.make(edit) }
        append(transaction.commit(returningTo: &state))
    }

    mutating func append(_ changeset: [UInt8]) {
        lastStamp = engine.rules.stampsAscend ? max(clock, lastStamp) : clock
        version += 1
        entries.append(
            Entry(
                version: version, isLocal: true, timestamp: lastStamp, serverVersion: progress.downloadServerVersion,
                changeset: changeset, reciprocal: nil))
    }

    // MARK: Uploading

    /// Sends what comes next, of at most so many history entries; nothing if there is nothing to say.
    mutating func upload(entries limit: Int) {
        guard !isCutOff else { return }
        let next = entries.drop { $0.version <= session.uploadCursor.clientVersion }.prefix(limit)
        let scanned = next.map { entry in
            ClientHistoryEntry(
                version: ClientVersion(entry.version), isLocal: entry.isLocal, size: entry.changeset.count,
                serverVersion: ServerVersion(entry.serverVersion))
        }
        let planner = UploadPlanner(
            after: SyncModel.UploadCursor(
                clientVersion: ClientVersion(session.uploadCursor.clientVersion),
                serverVersion: ServerVersion(session.uploadCursor.serverVersion)))
        let downloaded = ServerVersion(progress.downloadServerVersion)
        guard let batch = planner.next(scanned, downloadServerVersion: downloaded) else { return }
        let sent = next.filter { batch.versions.contains(ClientVersion($0.version)) }
        let scannedTo = UploadCursor(
            clientVersion: batch.progress.clientVersion.rawValue, serverVersion: batch.progress.serverVersion.rawValue)
        let upload = SimulatedUpload(
            header: UploadHeader(
                progress: scannedTo, lockedServerVersion: batch.lockedServerVersion.rawValue,
                follows: session.uploadCursor.clientVersion),
            entries: sent.map { entry in
                UploadEntry(
                    cursor: UploadCursor(clientVersion: entry.version, serverVersion: entry.serverVersion),
                    originTimestamp: entry.timestamp, originFileIdent: 0)
            },
            changesets: sent.map(\.changeset))
        session.uploadCursor = scannedTo
        session.uploads.append(upload)
        lastUpload = upload
    }

    // MARK: Downloading

    mutating func integrate(_ download: SimulatedDownload) throws(SimulationFailure) {
        let integration: DownloadIntegration
        do throws(ProtocolViolation) {
            integration = try DownloadIntegration(
                download.progress, entries: download.entries, progress: progress, order: .strict,
                ownFileIdent: ident, newestLocalVersion: version)
        } catch {
            throw SimulationFailure(.versionsAreKept, "file \(ident) refuses a download: \(error)")
        }
        let changesets = try download.changesets.map { bytes throws(SimulationFailure) in
            try read(bytes, "a download of file \(ident)")
        }
        var result = TransformResult(incoming: changesets, modifiedLocal: [])
        if let base = integration.windowBase(historyBase: historyBase) {
            result = try engine.merge(
                integration.incoming(changesets, historyBase: historyBase), over: try window(after: base),
                current: version, on: .client)
        }
        let outcome = integration.finish(result)
        try apply(outcome.apply, to: &state, "file \(ident)")
        for reciprocal in outcome.reciprocals {
            guard let index = entries.firstIndex(where: { $0.version == reciprocal.version }) else { continue }
            entries[index].reciprocal = reciprocal.changeset.encoded()
        }
        progress = outcome.progress
        version += 1
        entries.append(
            Entry(
                version: version, isLocal: false, timestamp: outcome.remote?.originTimestamp ?? 0,
                serverVersion: progress.downloadServerVersion, changeset: [], reciprocal: nil))
        trim()
    }

    private func window(after base: UInt64) throws(SimulationFailure) -> [LocalChangeset] {
        var window: [LocalChangeset] = []
        for entry in entries where entry.version > base && entry.isLocal && !entry.changeset.isEmpty {
            window.append(
                LocalChangeset(
                    version: entry.version, originTimestamp: entry.timestamp, originFileIdent: ident,
                    changeset: try read(entry.reciprocal ?? entry.changeset, "version \(entry.version) of \(ident)")))
        }
        return window
    }

    private mutating func trim() {
        let scanned = entries.map { entry in
            ClientHistoryEntry(
                version: ClientVersion(entry.version), isLocal: entry.isLocal, size: entry.changeset.count,
                serverVersion: ServerVersion(entry.serverVersion))
        }
        let base = HistoryTrimming.base(scanned, downloadClientVersion: progress.downloadClientVersion)
        // What the upload scan has not seen yet has to stay, whatever the merge needs.
        let end = min(base, session.uploadCursor.clientVersion, progress.uploadClientVersion)
        guard end > historyBase else { return }
        entries.removeAll { $0.version <= end }
        historyBase = end
    }

    // MARK: Connections and resets

    /// What was on its way is lost; what was stored is where both sides go on.
    mutating func reconnect() { session = SimulatedSession(progress) }

    /// The server knows this file no more; what is made from now on waits for a reset.
    mutating func cutOff() {
        isCutOff = true
        lastUpload = nil
        reconnect()
    }
}
