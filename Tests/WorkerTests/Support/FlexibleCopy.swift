import Changesets
import Merge
import RealmState
import SyncModel
import SyncProtocol
import Testing
import Views

@testable import Worker

/// A client's copy of a flexible realm: what it has written, what it was sent and what comes of both, without anybody to talk to.
struct FlexibleCopy {
    private struct Entry {
        var version: ClientVersion
        var timestamp: SyncTimestamp
        var original: [UInt8]
        var changeset: Changeset
        var serverVersion: ServerVersion
    }

    let file: ClientFileIdent
    /// What its user may do.
    var roles: String
    private(set) var state = RealmState()
    private(set) var progress = SyncProgress()
    /// The set in force.
    private(set) var active = ViewDefinition(version: 0, queries: "{}", roles: "")
    /// The changesets that the client was ever sent.
    private(set) var received: [[UInt8]] = []
    private(set) var uploaded = UploadCursor()
    /// What has come of a set's data, which outlives a connection that is lost.
    private var stored: (version: UInt64, entries: [HistoryEntry])?
    private var history: [Entry] = []
    private var gone: ClientVersion = 0

    init(file: ClientFileIdent, roles: String) {
        self.file = file
        self.roles = roles
    }

    var cursor: ServerVersion { progress.download.serverVersion }
    /// The newest version, and how far it has gone through what it has written.
    var newest: ClientVersion { history.last?.version ?? 0 }
    var scanned: ClientVersion { max(uploaded.clientVersion, gone) }
    var hasUnsynced: Bool { history.contains { $0.version > uploaded.clientVersion && !$0.original.isEmpty } }

    // MARK: Writing

    mutating func make(_ bytes: [UInt8], at timestamp: SyncTimestamp) throws {
        guard !bytes.isEmpty else { return }
        try state.apply(Changeset(parsing: bytes))
        history.append(
            Entry(
                version: newest + 1, timestamp: timestamp, original: bytes, changeset: try Changeset(parsing: bytes),
                serverVersion: cursor))
    }

    /// Makes a change by instructions.
    mutating func write(at timestamp: SyncTimestamp, _ body: (inout Changeset) -> Void) throws {
        var changeset = Changeset()
        body(&changeset)
        try make(changeset.encoded(), at: timestamp)
    }

    // MARK: Coming again

    /// The set in force, under the roles of now.
    mutating func definition() -> ViewDefinition {
        active.roles = roles
        return active
    }

    /// The server says how far it has what was uploaded.
    mutating func identified(_ upload: UploadCursor) {
        uploaded = upload
        progress.upload.clientVersion = max(progress.upload.clientVersion, upload.clientVersion)
    }

    /// Has the client come again, which uploads again what nobody has said that it is integrated.
    mutating func comeAgain() {
        uploaded = progress.upload
        gone = 0
    }

    // MARK: Uploads

    /// The next UPLOAD of what was written up to a version.
    mutating func upload(through last: ClientVersion) -> Upload? {
        gone = last
        return nextUpload(through: last)
    }

    /// - Parameter last: the version through which it is uploaded.
    mutating func nextUpload(atMost count: Int = .max, through last: ClientVersion? = nil) -> Upload? {
        var entries: [UploadedChangeset] = []
        var scanned = uploaded
        for entry in history where entry.version > uploaded.clientVersion && last.map({ entry.version <= $0 }) ?? true {
            guard entries.count < count else { break }
            if !entry.original.isEmpty {
                entries.append(
                    .init(
                        clientVersion: entry.version, serverVersion: entry.serverVersion, timestamp: entry.timestamp,
                        changeset: entry.original))
            }
            scanned = UploadCursor(clientVersion: entry.version, serverVersion: entry.serverVersion)
        }
        guard !entries.isEmpty || scanned.serverVersion > uploaded.serverVersion else { return nil }
        uploaded = scanned
        return Upload(session: 1, progress: scanned, lockedServerVersion: cursor, entries: entries)
    }

    // MARK: Downloads

    /// What is stored of a set's data.
    func stored(of version: UInt64) -> [HistoryEntry] {
        stored.flatMap { $0.version == version ? $0.entries : nil } ?? []
    }
    var hasStored: Bool { stored != nil }

    /// Stores more of a set's data.
    mutating func store(_ entries: [HistoryEntry], of version: UInt64) {
        received += entries.map(\.changeset)
        stored = (version, stored(of: version) + entries)
    }

    mutating func forgetStored() { stored = nil }

    /// Takes what is stored of a set, which is all of its data.
    mutating func integrateStored(of version: UInt64, _ queries: String, _ message: SyncProgress) throws {
        var entries = stored(of: version)
        for index in entries.indices { entries[index].serverVersion = message.download.serverVersion }
        stored = nil
        active = ViewDefinition(version: version, queries: queries, roles: roles)
        try integrate(entries, message)
    }

    /// Takes what is new in the view.
    mutating func take(_ entries: [HistoryEntry], _ message: SyncProgress) throws {
        received += entries.map(\.changeset)
        try integrate(entries, message)
    }

    /// Takes a DOWNLOAD.
    ///
    /// - Parameter sets: what the client has asked for, by version.
    mutating func receive(_ download: Download, _ sets: [UInt64: String]) throws {
        let batch = try #require(download.batch)
        let version = batch.queryVersion.rawValue
        guard batch.state != .steadyState else { return try take(download.entries, download.progress) }
        store(download.entries, of: version)
        guard batch.state == .lastInBatch else { return }
        try integrateStored(of: version, try #require(sets[version]), download.progress)
    }

    private mutating func integrate(_ entries: [HistoryEntry], _ message: SyncProgress) throws {
        var checker = DownloadChecker(
            role: .sending, file: file.ident, progress: progress, newestClientVersion: newest, activeQueryVersion: 1)
        try checker.check(
            Download(
                session: 1, progress: message,
                detail: .flexible(FlexibleBatch(queryVersion: 1, state: .steadyState, progress: 1)), entries: entries))
        var integration = DownloadIntegration(message, changesets: try entries.map { try IncomingChangeset($0) })
        if let base = integration.base {
            let window = history.filter { $0.version > base && !$0.original.isEmpty }.map {
                LocalChangeset(
                    version: $0.version.rawValue, originTimestamp: $0.timestamp.rawValue,
                    originFileIdent: file.ident.rawValue, changeset: $0.changeset)
            }
            try integration.merge(over: window, through: newest, using: MergeEngine(compatibility: .convergent))
        }
        let outcome = integration.outcome(after: progress)
        for merged in integration.changesets { try state.apply(merged.changeset) }
        for reciprocal in outcome.reciprocals {
            if let index = history.firstIndex(where: { $0.version.rawValue == reciprocal.version }) {
                history[index].changeset = reciprocal.changeset
            }
        }
        let isNews = outcome.progress.download.serverVersion > cursor
        progress = outcome.progress
        guard isNews || !entries.isEmpty else { return }
        history.append(
            Entry(version: newest + 1, timestamp: 0, original: [], changeset: Changeset(), serverVersion: cursor))
    }

    // MARK: Resets

    /// The copy after a reset with recovery (docs/resets.md, "Merge"). As stock clients do, it uploads as it was written what others' changes have
    /// left nothing of at the client, if it has recovered something that it had written before.
    ///
    /// - Parameter fresh: its fresh copy, which has the data of the set in force.
    func recovered(onto fresh: FlexibleCopy) throws -> FlexibleCopy {
        var replay = ChangesetReplay(onto: fresh.state, local: state)
        var recovered: [ClientVersion: [UInt8]] = [:]
        for entry in history where entry.version > progress.upload.clientVersion && !entry.original.isEmpty {
            guard !entry.changeset.instructions.isEmpty else { continue }
            recovered[entry.version] = try replay.replay(entry.changeset)
        }
        let latest = fresh.progress.latest
        var copy = fresh
        copy.state = state
        _ = try StateTransfer.transfer(from: replay.fresh, to: &copy.state)
        copy.active = active
        copy.stored = nil
        copy.progress = SyncProgress(
            download: DownloadCursor(serverVersion: latest.version, clientVersion: 0), latest: latest,
            upload: UploadCursor(clientVersion: 0, serverVersion: latest.version))
        copy.history = []
        if let first = recovered.keys.min() {
            copy.history = try history.filter { $0.version >= first }.map { entry in
                var entry = entry
                entry.original = recovered[entry.version] ?? entry.original
                entry.changeset = try Changeset(parsing: entry.original)
                entry.serverVersion = latest.version
                return entry
            }
        }
        copy.history.append(
            Entry(
                version: newest + 1, timestamp: 0, original: [], changeset: Changeset(), serverVersion: latest.version))
        copy.comeAgain()
        return copy
    }
}
