import AMQP
import Changesets
import Merge
import MergeConformance
import Messages
import RealmState
import Testing

@testable import Worker

/// A client as the protocol wants it: downloads page by page, integrates with the same merge from its side, edits at any
/// time, and uploads what it has not been acknowledged for.
struct SyncingClient {
    private struct Entry {
        var version: UInt64
        var timestamp: UInt64
        /// As it was made; no bytes for what came from the server.
        var original: [UInt8]
        var changeset: Changeset
        /// The last server version that was integrated when it was made.
        var serverVersion: UInt64
    }

    let file: ClientFile
    var session: UInt64
    private(set) var state = RealmState()
    private(set) var progress = SyncProgress()
    private var history: [Entry] = []
    /// What the next upload follows.
    private var uploaded = UploadCursor()

    init(file: ClientFile, session: UInt64) {
        self.file = file
        self.session = session
    }

    var digest: StateDigest { StateDump.digest(of: state) }
    var cursor: UInt64 { progress.downloadServerVersion }
    private var newest: UInt64 { history.last?.version ?? 0 }

    mutating func edit(_ edits: inout RandomEdits, at timestamp: UInt64) throws {
        guard let bytes = edits.transaction(&state) else { return }
        try keep(bytes, at: timestamp)
    }

    /// Applies and keeps a change of its own.
    mutating func make(_ bytes: [UInt8], at timestamp: UInt64) throws {
        try state.apply(Changeset(parsing: bytes))
        try keep(bytes, at: timestamp)
    }

    private mutating func keep(_ bytes: [UInt8], at timestamp: UInt64) throws {
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
            file, session: session,
            download: DownloadCursor(
                serverVersion: progress.downloadServerVersion, clientVersion: progress.downloadClientVersion),
            latest: SaltedVersion(version: progress.latestServerVersion, salt: progress.latestServerVersionSalt)
        ).one(IdentifiedAnswer.self)
        uploaded = answer.upload
        progress.uploadClientVersion = max(progress.uploadClientVersion, answer.upload.clientVersion)
    }

    /// Downloads and integrates one page.
    ///
    /// - Returns: whether that was all there is.
    @discardableResult
    mutating func download(from harness: OwnerHarness, maxBytes: Int = 1 << 18) async throws -> Bool {
        let page = try await harness.page(
            file, session: session,
            after: DownloadCursor(
                serverVersion: progress.downloadServerVersion, clientVersion: progress.downloadClientVersion),
            maxBytes: maxBytes
        ).one(PageAnswer.self)
        try integrate(page)
        return page.isComplete
    }

    mutating func integrate(_ page: PageAnswer) throws {
        let integration = try DownloadIntegration(
            SyncProgress(
                downloadServerVersion: page.download.serverVersion, downloadClientVersion: page.download.clientVersion,
                latestServerVersion: page.latest.version, latestServerVersionSalt: page.latest.salt,
                uploadClientVersion: page.upload.clientVersion, uploadServerVersion: page.upload.serverVersion),
            entries: page.entries.map {
                DownloadEntry(
                    serverVersion: $0.serverVersion, clientVersion: $0.clientVersion, originTimestamp: $0.timestamp,
                    originFileIdent: $0.originFile)
            },
            progress: progress, order: .strict, ownFileIdent: file.ident, newestLocalVersion: newest)
        let base = integration.windowBase(historyBase: 0) ?? newest
        let changesets = try page.entries.map { try Changeset(parsing: $0.changeset.bytes) }
        let result = try MergeEngine(compatibility: .convergent).transform(
            incoming: integration.incoming(changesets, historyBase: 0),
            over: history.filter { $0.version > base && !$0.original.isEmpty }.map {
                LocalChangeset(
                    version: $0.version, originTimestamp: $0.timestamp, originFileIdent: file.ident,
                    changeset: $0.changeset)
            }, currentLocalVersion: newest)
        let outcome = integration.finish(result)
        for changeset in outcome.apply { try state.apply(changeset) }
        for reciprocal in outcome.reciprocals {
            if let index = history.firstIndex(where: { $0.version == reciprocal.version }) {
                history[index].changeset = reciprocal.changeset
            }
        }
        let isNews = outcome.progress.downloadServerVersion > cursor
        progress = outcome.progress
        guard isNews else { return }
        history.append(
            Entry(version: newest + 1, timestamp: 0, original: [], changeset: Changeset(), serverVersion: cursor))
    }

    /// The next upload, if there is anything to say.
    mutating func upload(in realm: RealmName, atMost count: Int = .max) -> ChangesetMessage? {
        var entries: [ChangesetMessage.Entry] = []
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
                follows: uploaded.clientVersion, progress: scanned, lockedServerVersion: cursor), entries: entries)
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
