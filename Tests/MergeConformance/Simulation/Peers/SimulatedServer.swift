import Changesets
import Merge
package import RealmState

/// One realm at the server (docs/merge.md, "Uploads at the server"). Histories are held as bytes, as a store holds
/// them, so that every merge reads back what an earlier one wrote.
package struct SimulatedServer: Sendable {
    struct Entry: Sendable {
        /// The client file that made it; 1 is the server.
        var origin: UInt64
        var clientVersion: UInt64
        var timestamp: UInt64
        var changeset: [UInt8]
    }

    struct ClientFile: Sendable {
        var progress = ClientFileProgress()
        /// Server entries as this client's uploads have to meet them, where they differ; empty ones have no bytes.
        var reciprocals: [UInt64: [UInt8]] = [:]
    }

    static let ident: UInt64 = 1
    private static let salt: UInt64 = 7

    package internal(set) var state: RealmState
    var history: [Entry] = []
    var files: [UInt64: ClientFile] = [:]
    var nextIdent: UInt64 = 2
    var clock: UInt64 = 1_000
    let engine: SimulatedEngine

    init(_ engine: SimulatedEngine) {
        self.engine = engine
        state = RealmState(compatibility: engine.rules.apply)
    }

    var latest: UInt64 { UInt64(history.count) }

    mutating func allocateFile() -> UInt64 {
        defer { nextIdent += 1 }
        files[nextIdent] = ClientFile()
        return nextIdent
    }

    /// Writes on top of the latest version.
    mutating func write(_ edits: [Edit]) {
        var transaction = RecordingTransaction(taking: &state)
        for edit in edits { transaction.make(edit) }
        let bytes = transaction.commit(returningTo: &state)
        guard !bytes.isEmpty else { return }
        history.append(Entry(origin: Self.ident, clientVersion: 0, timestamp: clock, changeset: bytes))
    }

    // MARK: Uploads

    /// Integrates an upload, all of it or nothing.
    /// - Returns: how many changesets were new.
    mutating func integrate(
        _ upload: SimulatedUpload, from ident: UInt64
    ) throws(SimulationFailure) -> Int {
        guard let file = files[ident] else {
            throw SimulationFailure(.versionsAreKept, "file \(ident) is unknown to the server")
        }
        switch UploadIntegration.plan(
            upload.header, entries: upload.entries, progress: file.progress, currentServerVersion: latest)
        {
        case .duplicate: return 0
        case .gap(let expected, let got):
            throw SimulationFailure(
                .versionsAreKept, "file \(ident) goes on after its version \(got), the server is at \(expected)")
        case .violation(let violation):
            throw SimulationFailure(.versionsAreKept, "the server refuses an upload of file \(ident): \(violation)")
        case .accept(let acceptance): return try integrate(acceptance, upload, file, ident)
        }
    }

    private mutating func integrate(
        _ acceptance: UploadAcceptance, _ upload: SimulatedUpload, _ file: ClientFile, _ ident: UInt64
    ) throws(SimulationFailure) -> Int {
        let changesets = try upload.changesets[acceptance.newEntries].map { bytes throws(SimulationFailure) in
            try read(bytes, "an upload of file \(ident)")
        }
        var result = TransformResult(incoming: changesets, modifiedLocal: [])
        if let base = acceptance.windowBase {
            result = try engine.merge(
                acceptance.incoming(changesets, from: ident), over: try window(after: base, file, ident),
                current: latest, on: .server)
        }
        let outcome = acceptance.finish(result, from: ident, currentServerVersion: latest)
        try apply(outcome.history.map(\.changeset), to: &state, "the server")
        for entry in outcome.history {
            history.append(
                Entry(
                    origin: ident, clientVersion: entry.clientVersion, timestamp: entry.originTimestamp,
                    changeset: entry.changeset.encoded()))
        }
        var file = file
        file.progress = outcome.progress
        for reciprocal in outcome.reciprocals { file.reciprocals[reciprocal.version] = reciprocal.changeset.encoded() }
        if let through = outcome.dropReciprocalsThrough {
            file.reciprocals = file.reciprocals.filter { $0.key > through }
        }
        files[ident] = file
        return outcome.history.count
    }

    /// What the client has not seen, as earlier merges with it have left it.
    private func window(
        after base: UInt64, _ file: ClientFile, _ ident: UInt64
    ) throws(SimulationFailure) -> [LocalChangeset] {
        var window: [LocalChangeset] = []
        for version in base..<latest where version < latest {
            let entry = history[Int(version)]
            guard entry.origin != ident, !entry.changeset.isEmpty else { continue }
            let bytes = file.reciprocals[version + 1] ?? entry.changeset
            window.append(
                LocalChangeset(
                    version: version + 1, originTimestamp: entry.timestamp, originFileIdent: entry.origin,
                    changeset: try read(bytes, "server version \(version + 1)")))
        }
        return window
    }

    // MARK: Downloads

    /// The next DOWNLOAD of a session, nil if it has had everything.
    func download(for ident: UInt64, _ session: inout SimulatedSession, maxBytes: Int) -> SimulatedDownload? {
        guard let file = files[ident] else { return nil }
        var message = SimulatedDownload(progress: SyncProgress())
        var bytes = 0
        while session.downloadServerVersion < latest {
            let entry = history[Int(session.downloadServerVersion)]
            if entry.origin == ident {
                session.downloadClientVersion = entry.clientVersion
            } else if !entry.changeset.isEmpty {
                if !message.entries.isEmpty, bytes + entry.changeset.count > maxBytes { break }
                bytes += entry.changeset.count
                message.changesets.append(entry.changeset)
                message.entries.append(
                    DownloadEntry(
                        serverVersion: session.downloadServerVersion + 1, clientVersion: session.downloadClientVersion,
                        originTimestamp: entry.timestamp, originFileIdent: entry.origin))
            }
            session.downloadServerVersion += 1
        }
        message.progress = SyncProgress(
            downloadServerVersion: session.downloadServerVersion,
            downloadClientVersion: session.downloadClientVersion, latestServerVersion: latest,
            latestServerVersionSalt: Self.salt, uploadClientVersion: file.progress.clientVersion,
            uploadServerVersion: file.progress.rhBaseVersion)
        return message
    }

    // MARK: New generations

    /// Begins the history anew with changesets that build the state from nothing, and forgets all client files.
    mutating func restartHistory() throws(SimulationFailure) {
        var builder = StateChangesets(schema: state.schema, byteBudget: 400)
        var changesets = [builder.schemaChangeset()]
        for table in state.schema.tables.sorted(by: { $0.name < $1.name }) {
            for (key, object) in state.objects(of: table.name).sorted(by: { $0.key < $1.key }) {
                changesets += builder.append(ObjectAddress(table.name, key), object)
            }
        }
        if let last = builder.finish() { changesets.append(last) }
        history = changesets.map { changeset in
            Entry(origin: Self.ident, clientVersion: 0, timestamp: clock, changeset: changeset.encoded())
        }
        files = [:]
    }

    /// What a client file without anything of its own has after downloading the whole history.
    func replayedHistory() throws(SimulationFailure) -> RealmState {
        var copy = RealmState(compatibility: engine.rules.apply)
        for (index, entry) in history.enumerated() {
            try apply([try read(entry.changeset, "server version \(index + 1)")], to: &copy, "a new copy")
        }
        return copy
    }
}

func read(_ bytes: [UInt8], _ what: String) throws(SimulationFailure) -> Changeset {
    do throws(ChangesetError) {
        return try Changeset(parsing: bytes)
    } catch {
        throw SimulationFailure(.encodingIsFixed, "\(what) cannot be read back: \(error)")
    }
}

func apply(_ changesets: [Changeset], to state: inout RealmState, _ who: String) throws(SimulationFailure) {
    // As the worker does it: all of an upload, or nothing.
    state.begin()
    do throws(RealmStateError) {
        for changeset in changesets { try state.apply(changeset) }
    } catch {
        state.rollback()
        let invariant: Invariant = error.message.contains("prior_size") ? .priorSizesHold : .honestPeersAreAccepted
        throw SimulationFailure(invariant, "\(who) cannot apply what the merge made: \(error)")
    }
    state.commit()
}
