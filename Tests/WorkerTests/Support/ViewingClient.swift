import AMQP
import Changesets
import Merge
import Messages
import RealmState
import SyncModel
import SyncProtocol
import TestSupport
import Testing
import Views

@testable import Worker

/// A client of a flexible realm as the protocol wants it, with a gateway between it and the owner: it asks for subscription sets, is
/// bootstrapped, downloads, edits and uploads.
struct ViewingClient {
    private struct Entry {
        var version: ClientVersion
        var timestamp: SyncTimestamp
        var original: [UInt8]
        var changeset: Changeset
        var serverVersion: ServerVersion
    }

    let file: ClientFileIdent
    var session: UInt64
    /// What its user may do.
    var roles: String
    /// The schema version of its configuration; nil: it names none.
    var schemaVersion: UInt64?
    private(set) var state = RealmState()
    private(set) var progress = SyncProgress()
    /// The set in force.
    private(set) var active = ViewDefinition(version: 0, queries: "{}", roles: "")
    /// The changesets that the client was ever sent.
    private(set) var received: [[UInt8]] = []
    private(set) var told: [CompensationNotice] = []
    /// What the coordinator was told of the sets that it has asked for.
    private(set) var queried: [QueriedReport] = []
    /// The schema version of its copy, if its IDENT was answered with that.
    private(set) var previousSchemaVersion: UInt64?
    /// Where its session stands, which may be beyond what it was told.
    var position = DownloadCursor()
    private var acknowledged = UploadCursor()
    /// The schema that the last page had with it.
    private(set) var schema: ViewSchema?
    /// What has come of a set's data, which outlives a connection that is lost.
    private var stored: (version: UInt64, entries: [HistoryEntry])?
    private var history: [Entry] = []
    private var uploaded = UploadCursor()
    private var gone: ClientVersion = 0

    private let user: String
    private var generation: UInt64 = 1
    /// What it has missed of its set may be refused, and why it was.
    var allowsRefusal = false
    private(set) var refusedCatchUp: String?
    /// How often it was told to come again since it was far behind.
    private(set) var sessionsEnded = 0
    /// The number of pages of subscription sets' data.
    private(set) var pages = 0
    /// What each page that a gateway sends has said of how much of the data is done.
    private(set) var shares: [Double] = []

    init(file: ClientFileIdent, session: UInt64, user: String, roles: String) {
        self.file = file
        self.user = user
        self.session = session
        self.roles = roles
    }

    var cursor: ServerVersion { progress.download.serverVersion }
    private var newest: ClientVersion { history.last?.version ?? 0 }
    var hasUnsynced: Bool { history.contains { $0.version > uploaded.clientVersion && !$0.original.isEmpty } }

    /// A new client file, with set 0.
    static func join(
        _ harness: OwnerHarness, session: UInt64, user: String, roles: String, connection: String = "c1",
        protocolVersion: Int = 14, home: String? = nil, schemaVersion: UInt64? = nil
    ) async throws -> ViewingClient {
        var request = harness.bindRequest(session: session, user: user, connection: connection)
        request.protocolVersion = protocolVersion
        request.schemaVersion = schemaVersion
        let bound = try await harness.send(request).one(BoundAnswer.self)
        var client = ViewingClient(
            file: try #require(bound.clientFile), session: session, user: user, roles: roles)
        client.schemaVersion = schemaVersion
        try await client.identify(to: harness, user: user, home: home)
        return client
    }

    /// - Parameter between: what happens after each page of what it has to be sent first; false: the connection is lost.
    /// - Returns: whether it was not.
    @discardableResult
    mutating func connect(
        to harness: OwnerHarness, session: UInt64, user: String, maxBytes: Int = 200,
        between: (() async throws -> Bool)? = nil
    ) async throws -> Bool {
        self.session = session
        position = progress.download
        _ = try await harness.send(harness.bindRequest(session: session, user: user, needsIdent: false)).one(
            BoundAnswer.self)
        return try await identify(to: harness, user: user, maxBytes: maxBytes, between: between)
    }

    @discardableResult
    private mutating func identify(
        to harness: OwnerHarness, user: String, home: String? = nil, maxBytes: Int = 200,
        between: (() async throws -> Bool)? = nil
    ) async throws -> Bool {
        active.roles = roles
        var request = harness.identifyRequest(
            file, session: session, user: user, download: progress.download, latest: progress.latest)
        request.view = active
        request.migratedPartition = home
        request.schemaVersion = schemaVersion
        var published = try await harness.send(request)
        if let asked = try published.every(ConfirmAnswer.self).first {
            request.confirms = asked.question
            published = try await harness.send(request)
        }
        let answer = try published.one(IdentifiedAnswer.self)
        previousSchemaVersion = answer.previousSchemaVersion
        generation = answer.generation
        uploaded = answer.upload
        progress.upload.clientVersion = max(progress.upload.clientVersion, answer.upload.clientVersion)
        acknowledged = progress.upload
        guard let version = answer.bootstrap else { return true }
        let refusal = try await bootstrap(
            version, version == 0 ? "{}" : active.queries, from: harness, maxBytes: maxBytes, between: between)
        if refusal == Self.mustReconnect {
            try await leave(harness, user: user)
            return try await connect(
                to: harness, session: self.session + 1_000_000, user: user, maxBytes: maxBytes, between: between)
        }
        refusedCatchUp = refusal
        if refusal != nil, allowsRefusal { return false }
        expectTrue(refusal == nil)
        return stored == nil
    }

    /// Changes its own copy.
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

    /// Leaves its session in order.
    mutating func leave(_ harness: OwnerHarness, user: String) async throws {
        stored = nil
        _ = try await harness.unbind(file, session: session, user: user, wasRefused: true)
    }

    /// What `bootstrap` says if the client has to come in another session.
    static let mustReconnect = "the session ends"
    struct ProblemError: Error {}

    // MARK: Downloads

    /// Downloads all that is new in its view.
    ///
    /// - Parameter known: the schema that its gateway has; nil: it wants none.
    mutating func download(from harness: OwnerHarness, known: UInt64? = nil) async throws {
        var request = PageRequest(
            context: harness.context(session), clientFile: file.ident, generation: generation, after: position,
            maxBytes: 1 << 20, isMark: false)
        request.schema = known
        let published = try await harness.send(request)
        if let refusal = try published.every(RefusedAnswer.self).first, refusal.code == 200 {
            // A client comes again, in another session.
            try await leave(harness, user: user)
            sessionsEnded += 1
            try await connect(to: harness, session: session + 1_000_000, user: user)
            return
        }
        let page = try published.one(PageAnswer.self)
        told += page.view?.compensations ?? []
        schema = page.view?.schema
        received += page.entries.map(\.changeset)
        try integrate(page.entries, page.download, page.latest, page.upload)
    }

    /// Takes what its gateway makes of a notice.
    mutating func take(_ part: FannedStretch.Part, of notice: IntegratedNotice) throws {
        position = DownloadCursor(
            serverVersion: notice.latest.version, clientVersion: max(position.clientVersion, part.clientVersion))
        if let own = notice.acknowledgements.first(where: { $0.clientFile == file.ident }) { acknowledged = own.upload }
        // A part without entries is nothing that the client need be told.
        guard !part.entries.isEmpty else { return }
        received += part.entries.map(\.changeset)
        try integrate(part.entries, position, notice.latest, acknowledged)
    }

    /// Asks for a subscription set and gets its data, in pages of that size.
    ///
    /// - Parameter between: what happens after each page; false: the connection is lost.
    /// - Returns: why the set was refused.
    @discardableResult
    mutating func bootstrap(
        _ version: UInt64, _ queries: String, from harness: OwnerHarness, maxBytes: Int = 200,
        between: (() async throws -> Bool)? = nil
    ) async throws -> String? {
        var request = BootstrapRequest(version: version, queries: queries, roles: roles)
        var entries = stored.flatMap { $0.version == version ? $0.entries : nil } ?? []
        while true {
            let published = try await harness.send(
                PageRequest(
                    context: harness.context(session), clientFile: file.ident, generation: generation, after: position,
                    maxBytes: maxBytes, isMark: false, bootstrap: request))
            queried += try published.every(QueriedReport.self)
            let page = try published.one(PageAnswer.self)
            let part = try #require(page.view?.bootstrap)
            pages += 1
            if !page.entries.isEmpty || part.outcome == .last { shares.append(part.progress) }
            if part.outcome == .last, let between, try await !between() {
                // What came before it is kept.
                stored = (version, entries)
                return nil
            }
            entries += page.entries
            received += page.entries.map(\.changeset)
            stored = (version, entries)
            switch part.outcome {
            case .begunElsewhere:
                // The session ends, and with it what has come.
                stored = nil
                return Self.mustReconnect
            case .behind:
                guard entries.isEmpty else { throw ProblemError() }
                request.position = nil
                try await download(from: harness)
            case .refused(let reason): return reason
            case .more(let position):
                request.position = position
                if let between, try await !between() { return nil }
            case .last:
                stored = nil
                told += page.view?.compensations ?? []
                active = ViewDefinition(version: version, queries: queries, roles: roles)
                try integrate(
                    entries.map {
                        var entry = $0
                        entry.serverVersion = page.download.serverVersion
                        return entry
                    }, page.download, page.latest, page.upload)
                return nil
            }
        }
    }

    private mutating func integrate(
        _ entries: [HistoryEntry], _ download: DownloadCursor, _ latest: SaltedServerVersion, _ upload: UploadCursor
    ) throws {
        let message = SyncProgress(download: download, latest: latest, upload: upload)
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
        position = progress.download
        acknowledged = progress.upload
        guard isNews || !entries.isEmpty else { return }
        history.append(
            Entry(version: newest + 1, timestamp: 0, original: [], changeset: Changeset(), serverVersion: cursor))
    }

    // MARK: Uploads

    /// Uploads what is new, at most so many changesets.
    mutating func upload(to harness: OwnerHarness, atMost count: Int = .max) async throws {
        let refusal = try await send(to: harness, atMost: count)
        expectTrue(refusal == nil, "\(refusal?.message ?? "")")
    }

    /// Uploads what is new, which is refused.
    mutating func refusal(from harness: OwnerHarness) async throws -> RefusedAnswer? {
        try await send(to: harness, atMost: .max)
    }

    private mutating func send(to harness: OwnerHarness, atMost count: Int) async throws -> RefusedAnswer? {
        let follows = uploaded.clientVersion
        guard let upload = nextUpload(atMost: count) else { return nil }
        let message = ChangesetMessage(
            realm: harness.realm,
            upload: .init(
                session: SessionReference(gateway: "g", number: session), clientFile: file.ident,
                generation: generation, follows: follows, progress: upload.progress,
                lockedServerVersion: upload.lockedServerVersion, rights: harness.rights), entries: upload.entries)
        return try await harness.send(message).every(RefusedAnswer.self).first
    }

    /// - Parameter last: the version through which it is uploaded.
    private mutating func nextUpload(atMost count: Int = .max, through last: ClientVersion? = nil) -> Upload? {
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

    // MARK: Message by message

    /// Has the client come again, which uploads again what nobody has said that it is integrated.
    mutating func comeAgain() {
        uploaded = progress.upload
        gone = 0
    }

    /// An error has ended its session.
    mutating func forgetStored() { stored = nil }

    /// The next UPLOAD of what was written up to a version.
    mutating func upload(through last: ClientVersion) -> Upload? {
        gone = last
        return nextUpload(through: last)
    }

    /// How far it has gone through what it has written, and how far that is.
    var scanned: ClientVersion { max(uploaded.clientVersion, gone) }
    var written: ClientVersion { newest }

    /// Takes a DOWNLOAD.
    ///
    /// - Parameter sets: what it has asked for, by version.
    mutating func receive(_ download: Download, _ sets: [UInt64: String]) throws {
        let batch = try #require(download.batch)
        let version = batch.queryVersion.rawValue
        received += download.entries.map(\.changeset)
        var entries = download.entries
        if batch.state != .steadyState {
            entries = (stored.flatMap { $0.version == version ? $0.entries : nil } ?? []) + entries
            stored = (version, entries)
            guard batch.state == .lastInBatch else { return }
            stored = nil
            active = ViewDefinition(version: version, queries: try #require(sets[version]), roles: roles)
            for index in entries.indices { entries[index].serverVersion = download.progress.download.serverVersion }
        }
        try integrate(entries, download.progress.download, download.progress.latest, download.progress.upload)
    }

    // MARK: Resets

    /// Resets with recovery.
    ///
    /// - Parameter sayingSo: whether it says with its old ident that it comes, as clients do; else nobody knows which client it was.
    /// - Returns: the client under its new ident, which has uploaded nothing yet.
    func reset(
        in harness: OwnerHarness, sessions first: UInt64, sayingSo: Bool = true
    ) async throws -> ViewingClient {
        if sayingSo {
            _ = try await harness.rejoin(
                file, session: first, user: user, download: progress.download, latest: progress.latest
            ).one(RefusedAnswer.self)
            _ = try await harness.unbind(file, session: first, user: user, wasRefused: true)
        }
        var fresh = try await Self.join(
            harness, session: first + 1, user: user, roles: roles, connection: sayingSo ? "c1" : "c2")
        try await fresh.download(from: harness)
        if active.version > 0 {
            try await expectTrue(fresh.bootstrap(1, active.queries, from: harness) == nil)
        }
        _ = try await harness.unbind(
            fresh.file, session: first + 1, user: user, connection: sayingSo ? "c1" : "c2")
        var client = try recovered(onto: fresh)
        try await client.connect(to: harness, session: first + 2, user: user)
        return client
    }

    /// The client after a reset with recovery (docs/resets.md, "Merge"). As stock clients do, it uploads as it was written what others' changes have
    /// left nothing of at the client, if it has recovered something that it had written before.
    ///
    /// - Parameter fresh: its fresh copy, which has the data of the set in force.
    func recovered(onto fresh: ViewingClient) throws -> ViewingClient {
        var replay = ChangesetReplay(onto: fresh.state, local: state)
        var recovered: [ClientVersion: [UInt8]] = [:]
        for entry in history where entry.version > progress.upload.clientVersion && !entry.original.isEmpty {
            guard !entry.changeset.instructions.isEmpty else { continue }
            recovered[entry.version] = try replay.replay(entry.changeset)
        }
        let latest = fresh.progress.latest
        var client = fresh
        client.state = state
        _ = try StateTransfer.transfer(from: replay.fresh, to: &client.state)
        client.active = active
        client.stored = nil
        client.progress = SyncProgress(
            download: DownloadCursor(serverVersion: latest.version, clientVersion: 0), latest: latest,
            upload: UploadCursor(clientVersion: 0, serverVersion: latest.version))
        client.history = []
        if let first = recovered.keys.min() {
            client.history = try history.filter { $0.version >= first }.map { entry in
                var entry = entry
                entry.original = recovered[entry.version] ?? entry.original
                entry.changeset = try Changeset(parsing: entry.original)
                entry.serverVersion = latest.version
                return entry
            }
        }
        client.history.append(
            Entry(
                version: newest + 1, timestamp: 0, original: [], changeset: Changeset(), serverVersion: latest.version))
        client.position = client.progress.download
        client.acknowledged = client.progress.upload
        client.comeAgain()
        return client
    }
}
