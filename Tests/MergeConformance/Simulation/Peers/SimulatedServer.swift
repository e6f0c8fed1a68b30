import Changesets
import Merge
package import RealmState
package import SyncModel
import SyncProtocol

/// One realm at the server: the product's own checks and integration over a store in memory (docs/merge.md,
/// "Uploads at the server"). Histories are held as bytes, as a store holds them, so that every merge reads back what an
/// earlier one wrote.
package struct SimulatedServer: Sendable {
    struct Entry: Sendable {
        /// The client file that made it; 1 is the server.
        var origin: FileIdent
        var clientVersion: ClientVersion
        var timestamp: UInt64
        var changeset: [UInt8]
        var touches: Touches
    }

    struct ClientFile: Sendable {
        var progress = ClientFileProgress()
        /// Server entries as this client's uploads have to meet them, where they differ; empty ones have no bytes.
        var reciprocals: [ServerVersion: [UInt8]] = [:]
    }

    private static let salt: VersionSalt = 7
    /// How many entries one step of a merge takes.
    private static let stepEntries = 2

    package internal(set) var state: RealmState
    var history: [Entry] = []
    var files: [FileIdent: ClientFile] = [:]
    private var nextIdent: UInt64 = 2
    var clock: UInt64 = 1_000
    let engine: SimulatedEngine

    init(_ engine: SimulatedEngine) {
        self.engine = engine
        state = RealmState(compatibility: engine.rules.apply)
    }

    package var latest: ServerVersion { ServerVersion(UInt64(history.count)) }

    mutating func allocateFile() -> FileIdent {
        defer { nextIdent += 1 }
        files[FileIdent(nextIdent)] = ClientFile()
        return FileIdent(nextIdent)
    }

    private mutating func append(
        _ changeset: Changeset, origin: FileIdent, clientVersion: ClientVersion = 0, timestamp: UInt64
    ) {
        history.append(
            Entry(
                origin: origin, clientVersion: clientVersion, timestamp: timestamp, changeset: changeset.encoded(),
                touches: Touches(of: CollectionOfOne(changeset))))
    }

    /// Writes on top of the latest version.
    mutating func write(_ edits: [Edit]) throws(SimulationFailure) {
        var transaction = RecordingTransaction(taking: &state)
        for edit in edits { transaction.make(edit) }
        let bytes = transaction.commit(returningTo: &state)
        guard !bytes.isEmpty else { return }
        append(try read(bytes, "what the server has written"), origin: .server, timestamp: clock)
    }

    // MARK: Uploads

    /// Takes an upload as it comes from a gateway.
    /// - Returns: how many changesets were new.
    mutating func receive(
        _ upload: SimulatedUpload, _ session: inout SimulatedSession
    ) throws(SimulationFailure) -> Int {
        let ident = session.identification.file.ident
        guard let file = files[ident] else {
            throw SimulationFailure(.versionsAreKept, "file \(ident) is unknown to the server")
        }
        try session.open(recorded: file.progress, latest: latest)
        try session.arrived(upload.message)
        return try integrate(upload, from: ident)
    }

    /// Integrates an upload, all of it or nothing.
    /// - Returns: how many changesets were new.
    mutating func integrate(
        _ upload: SimulatedUpload, from ident: FileIdent
    ) throws(SimulationFailure) -> Int {
        guard let file = files[ident] else {
            throw SimulationFailure(.versionsAreKept, "file \(ident) is unknown to the server")
        }
        switch file.progress.verdict(
            on: upload.head, entries: upload.message.entries.lazy.map(\.cursor), latest: latest)
        {
        case .retry(let reason):
            throw SimulationFailure(.versionsAreKept, "the server misses an upload of file \(ident): \(reason)")
        case .reset(let code, let reason):
            throw SimulationFailure(
                .versionsAreKept, "the server refuses an upload of file \(ident): \(code), \(reason)")
        case .integrate(let first):
            let new = upload.message.entries[first...]
            try integrate(new, upload.head, of: ident, file)
            return new.count
        }
    }

    private mutating func integrate(
        _ entries: ArraySlice<UploadedChangeset>, _ head: UploadHead, of ident: FileIdent, _ file: ClientFile
    ) throws(SimulationFailure) {
        let changesets = try entries.map { entry throws(SimulationFailure) in
            try reading("an upload of file \(ident)") { () throws(ChangesetError) in
                IncomingChangeset(entry, parsed: try Changeset(parsing: entry.changeset), from: ident)
            }
        }
        var integration = UploadIntegration(head, of: ident, changesets: changesets, recorded: file.progress)
        let whole = integration
        try merge(&integration, file)
        if engine.checksLaws { try compare(integration, with: whole, file) }
        try apply(integration.changesets.map(\.changeset), to: &state, "the server")
        for changeset in integration.changesets {
            append(
                changeset.changeset, origin: ident, clientVersion: ClientVersion(changeset.version),
                timestamp: changeset.originTimestamp)
        }
        let outcome = integration.outcome
        var file = file
        file.progress = outcome.progress
        if let settled = outcome.settled { file.reciprocals = file.reciprocals.filter { $0.key > settled } }
        for reciprocal in outcome.reciprocals {
            file.reciprocals[ServerVersion(reciprocal.version)] = reciprocal.changeset.encoded()
        }
        files[ident] = file
    }

    // MARK: Merging

    /// Merges as the worker does: with those versions alone that touch what the upload touches, and few of them at a
    /// time.
    private func merge(_ integration: inout UploadIntegration, _ file: ClientFile) throws(SimulationFailure) {
        let touches = integration.touches()
        let keys = KeyFilter(touches.keys)
        while integration.position < latest {
            var step: [LocalChangeset] = []
            var end = integration.position
            while end < latest, step.count < Self.stepEntries {
                end += 1
                let found = history[Int(end.rawValue) - 1].touches
                guard touches.isDestructive || found.isDestructive || keys.meets(found.keys) else { continue }
                if let entry = try entry(end, integration, file) { step.append(entry) }
            }
            try integration.merge(over: step, through: end, using: engine.on(.server))
        }
    }

    /// P13: what a merge with the whole history at once makes of the upload.
    private func compare(
        _ result: UploadIntegration, with upload: UploadIntegration, _ file: ClientFile
    ) throws(SimulationFailure) {
        var whole = upload
        var window: [LocalChangeset] = []
        var version = whole.position
        while version < latest {
            version += 1
            if let entry = try entry(version, whole, file) { window.append(entry) }
        }
        try whole.merge(over: window, through: latest, using: engine.on(.server))
        let (ours, theirs) = (result.outcome.reciprocals, whole.outcome.reciprocals)
        guard result.changesets.map(\.changeset.instructions) == whole.changesets.map(\.changeset.instructions),
            ours.map(\.version) == theirs.map(\.version),
            ours.map(\.changeset.instructions) == theirs.map(\.changeset.instructions)
        else {
            throw SimulationFailure(
                .windowsMayBeSelected,
                "an upload of file \(result.clientFile) is another one after it was merged with everything")
        }
    }

    /// A version as earlier merges with the client file have left it; nil if it takes no part.
    private func entry(
        _ version: ServerVersion, _ integration: UploadIntegration, _ file: ClientFile
    ) throws(SimulationFailure) -> LocalChangeset? {
        let entry = history[Int(version.rawValue) - 1]
        guard integration.meets(author: entry.origin, isEmpty: entry.changeset.isEmpty) else { return nil }
        return LocalChangeset(
            version: version.rawValue, originTimestamp: entry.timestamp, originFileIdent: entry.origin.rawValue,
            changeset: try read(file.reciprocals[version] ?? entry.changeset, "server version \(version)"))
    }

    // MARK: Downloads

    /// The next DOWNLOAD of a session, nil if the session cannot go on.
    func download(
        _ session: inout SimulatedSession, maxBytes: Int
    ) throws(SimulationFailure) -> Download? {
        let ident = session.identification.file.ident
        guard let file = files[ident] else { return nil }
        try session.open(recorded: file.progress, latest: latest)
        guard var position = session.gateway?.position else { return nil }
        var entries: [HistoryEntry] = []
        var bytes = 0
        while position.serverVersion < latest {
            let entry = history[Int(position.serverVersion.rawValue)]
            var next = position
            if next.pass(entry.origin, entry.clientVersion, isEmpty: entry.changeset.isEmpty, for: ident) {
                if !entries.isEmpty, bytes + entry.changeset.count > maxBytes { break }
                bytes += entry.changeset.count
                entries.append(
                    HistoryEntry(
                        serverVersion: next.serverVersion, clientVersion: next.clientVersion, originFile: entry.origin,
                        timestamp: SyncTimestamp(entry.timestamp), changeset: entry.changeset))
            }
            position = next
        }
        session.gateway?.position = position
        let message = Download(
            session: SimulatedSession.ident,
            progress: SyncProgress(
                download: position, latest: SaltedServerVersion(version: latest, salt: Self.salt),
                upload: file.progress.upload), detail: .partition(downloadableBytes: 0), entries: entries)
        try session.sending(message)
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
        history = []
        for changeset in changesets { append(changeset, origin: .server, timestamp: clock) }
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
    try reading(what) { () throws(ChangesetError) in try Changeset(parsing: bytes) }
}

func reading<Result>(
    _ what: String, _ body: () throws(ChangesetError) -> Result
) throws(SimulationFailure) -> Result {
    do throws(ChangesetError) {
        return try body()
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
