import AMQP
import Changesets
import Merge
import MergeConformance
import Messages
import RealmState
import SyncModel
import SyncProtocol
import Testing

@testable import Worker

/// A client as the protocol wants it: downloads page by page, integrates with the same merge from its side, edits at any
/// time, and uploads what it has not been acknowledged for.
struct SyncingClient {
    private struct Entry {
        var version: ClientVersion
        var timestamp: SyncTimestamp
        /// The bytes of the changeset as it was made; no bytes for what came from the server.
        var original: [UInt8]
        var changeset: Changeset
        /// The last server version that was integrated when it was made.
        var serverVersion: ServerVersion
    }

    let file: ClientFileIdent
    var session: UInt64
    private(set) var state = RealmState()
    private(set) var progress = SyncProgress()
    private var history: [Entry] = []
    /// What the next upload follows.
    private var uploaded = UploadCursor()

    init(file: ClientFileIdent, session: UInt64) {
        self.file = file
        self.session = session
    }

    var digest: StateDigest { StateDump.digest(of: state) }
    var cursor: ServerVersion { progress.download.serverVersion }
    private var newest: ClientVersion { history.last?.version ?? 0 }

    mutating func edit(_ edits: inout RandomEdits, at timestamp: SyncTimestamp) throws {
        guard let bytes = edits.transaction(&state) else { return }
        try keep(bytes, at: timestamp)
    }

    /// Applies and keeps a change of its own.
    mutating func make(_ bytes: [UInt8], at timestamp: SyncTimestamp) throws {
        try state.apply(Changeset(parsing: bytes))
        try keep(bytes, at: timestamp)
    }

    private mutating func keep(_ bytes: [UInt8], at timestamp: SyncTimestamp) throws {
        history.append(
            Entry(
                version: newest + 1, timestamp: timestamp, original: bytes, changeset: try Changeset(parsing: bytes),
                serverVersion: cursor))
    }

    // MARK: Sessions

    /// Comes with what it has, as after a loss of the connection.
    mutating func connect(to harness: OwnerHarness, session: UInt64) async throws {
        self.session = session
        let answer = try await harness.identify(
            file, session: session, download: progress.download, latest: progress.latest
        ).one(IdentifiedAnswer.self)
        uploaded = answer.upload
        progress.upload.clientVersion = max(progress.upload.clientVersion, answer.upload.clientVersion)
    }

    /// Downloads and integrates one page.
    ///
    /// - Returns: whether that was all there is.
    @discardableResult
    mutating func download(
        from harness: OwnerHarness, maxBytes: Int = 1 << 18, generation: UInt64 = 1
    ) async throws -> Bool {
        let page = try await harness.page(
            file, session: session, after: progress.download, generation: generation, maxBytes: maxBytes
        ).one(PageAnswer.self)
        try integrate(page)
        return page.isComplete
    }

    mutating func integrate(_ page: PageAnswer) throws {
        let message = SyncProgress(download: page.download, latest: page.latest, upload: page.upload)
        var checker = DownloadChecker(
            role: .receiving, file: file.ident, progress: progress, newestClientVersion: newest)
        try checker.check(
            Download(session: 1, progress: message, detail: .partition(downloadableBytes: 0), entries: page.entries))
        var integration = DownloadIntegration(
            message, changesets: try page.entries.map { try IncomingChangeset($0) })
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
        guard isNews else { return }
        history.append(
            Entry(version: newest + 1, timestamp: 0, original: [], changeset: Changeset(), serverVersion: cursor))
    }

    /// The next upload, if there is anything to say.
    mutating func upload(in realm: RealmName, atMost count: Int = .max) -> ChangesetMessage? {
        var entries: [UploadedChangeset] = []
        var scanned = uploaded
        for entry in history where entry.version > uploaded.clientVersion {
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
        let message = ChangesetMessage(
            realm: realm,
            upload: .init(
                session: SessionReference(gateway: "g", number: session), clientFile: file.ident, generation: 1,
                follows: uploaded.clientVersion, progress: scanned, lockedServerVersion: cursor, rights: .all),
            entries: entries)
        uploaded = scanned
        return message
    }

    /// Uploads and downloads until there is nothing left to say.
    mutating func settle(with harness: OwnerHarness) async throws {
        while let message = upload(in: harness.realm) { try await harness.send(message) }
        while try await !download(from: harness) {}
        while let message = upload(in: harness.realm) { try await harness.send(message) }
    }
}
