import Changesets
import Merge
package import RealmState
package import SyncModel
import SyncProtocol

/// One client file: the product's own planning, checks and integration over a history in memory
/// (docs/merge.md, "Downloads at the client").
package struct SimulatedClient: Sendable {
    struct Entry: Sendable {
        var version: ClientVersion
        var isLocal: Bool
        var timestamp: UInt64
        /// The last server version that was integrated when this one was made.
        var serverVersion: ServerVersion
        /// The changeset as it was recorded; this is what is uploaded.
        var changeset: [UInt8]
        /// The changeset as what came from the server has left it; nil while that has not changed it.
        var reciprocal: [UInt8]?

        var outline: ClientHistoryEntry {
            ClientHistoryEntry(
                version: version, isLocal: isLocal, size: changeset.count, serverVersion: serverVersion)
        }
    }

    let ident: FileIdent
    /// Whether only a reset leads back to the server.
    private(set) var isCutOff = false
    package internal(set) var state: RealmState
    var version: ClientVersion = 1
    var entries: [Entry] = []
    package internal(set) var progress = SyncProgress()
    var clock: UInt64
    var lastStamp: UInt64 = 0
    var session: SimulatedSession
    var lastUpload: SimulatedUpload?
    let engine: SimulatedEngine

    init(ident: FileIdent, engine: SimulatedEngine, clock: UInt64 = 1_000) throws(SimulationFailure) {
        self.ident = ident
        self.engine = engine
        self.clock = clock
        state = RealmState(compatibility: engine.rules.apply)
        session = try SimulatedSession(ident, at: progress, newest: version)
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
                version: version, isLocal: true, timestamp: lastStamp, serverVersion: progress.download.serverVersion,
                changeset: changeset, reciprocal: nil))
    }

    // MARK: Uploading

    /// Sends what comes next, of at most so many history entries; nothing if there is nothing to say.
    mutating func upload(entries limit: Int) throws(SimulationFailure) {
        guard !isCutOff else { return }
        let next = entries.drop { $0.version <= session.scanned.clientVersion }.prefix(limit)
        let planner = UploadPlanner(after: session.scanned)
        guard let batch = planner.next(next.lazy.map(\.outline)) else { return }
        let upload = SimulatedUpload(
            message: Upload(
                session: SimulatedSession.ident, progress: batch.progress,
                lockedServerVersion: progress.download.serverVersion,
                entries: next.filter { batch.versions.contains($0.version) }.map { entry in
                    UploadedChangeset(
                        clientVersion: entry.version, serverVersion: entry.serverVersion,
                        timestamp: SyncTimestamp(entry.timestamp), changeset: entry.changeset)
                }), follows: session.scanned.clientVersion)
        try session.send(upload)
        lastUpload = upload
    }

    // MARK: Downloading

    mutating func integrate(_ download: Download) throws(SimulationFailure) {
        try session.receive(download, newest: version)
        let changesets = try download.entries.map { entry throws(SimulationFailure) in
            try reading("a download of file \(ident)") { () throws(ChangesetError) in try IncomingChangeset(entry) }
        }
        var integration = DownloadIntegration(download.progress, changesets: changesets)
        if let base = integration.base {
            try readWindow(after: session.window.begin(after: base, through: version))
            try integration.merge(over: session.window.entries, through: version, using: engine.on(.client))
        }
        let outcome = integration.outcome(after: progress)
        try apply(integration.changesets.map(\.changeset), to: &state, "file \(ident)")
        for reciprocal in outcome.reciprocals {
            guard let index = entries.firstIndex(where: { $0.version.rawValue == reciprocal.version }) else { continue }
            entries[index].reciprocal = reciprocal.changeset.encoded()
        }
        session.window.replace(outcome.reciprocals)
        progress = outcome.progress
        version += 1
        entries.append(
            Entry(
                version: version, isLocal: false, timestamp: outcome.originTimestamp.rawValue,
                serverVersion: progress.download.serverVersion, changeset: [], reciprocal: nil))
        trim()
    }

    private mutating func readWindow(after version: ClientVersion) throws(SimulationFailure) {
        for entry in entries where entry.version > version && entry.outline.isUploadable {
            let bytes = entry.reciprocal ?? entry.changeset
            session.window.append(
                LocalChangeset(
                    version: entry.version.rawValue, originTimestamp: entry.timestamp, originFileIdent: ident.rawValue,
                    changeset: try read(bytes, "version \(entry.version) of \(ident)")), size: bytes.count)
        }
    }

    private mutating func trim() {
        let base = HistoryTrimming.base(
            entries.lazy.map(\.outline), downloadClientVersion: progress.download.clientVersion)
        // What the upload scan has not seen yet has to stay, whatever the merge needs.
        let end = min(base, session.scanned.clientVersion, progress.upload.clientVersion)
        entries.removeAll { $0.version <= end }
    }

    // MARK: Connections and resets

    /// What was on its way is lost; what was stored is where both sides go on.
    mutating func reconnect() throws(SimulationFailure) {
        session = try SimulatedSession(ident, at: progress, newest: version)
    }

    /// The server knows this file no more; what is made from now on waits for a reset.
    mutating func cutOff() throws(SimulationFailure) {
        isCutOff = true
        lastUpload = nil
        try reconnect()
    }
}
