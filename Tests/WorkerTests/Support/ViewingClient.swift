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
    private(set) var copy: FlexibleCopy
    var session: UInt64
    /// The schema version of its configuration; nil: it names none.
    var schemaVersion: UInt64?
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
        copy = FlexibleCopy(file: file, roles: roles)
        self.user = user
        self.session = session
    }

    var file: ClientFileIdent { copy.file }
    var state: RealmState { copy.state }
    var progress: SyncProgress { copy.progress }
    var active: ViewDefinition { copy.active }
    var received: [[UInt8]] { copy.received }
    var cursor: ServerVersion { copy.cursor }
    var hasUnsynced: Bool { copy.hasUnsynced }
    /// What its user may do.
    var roles: String {
        get { copy.roles }
        set { copy.roles = newValue }
    }

    /// Changes its own copy.
    mutating func make(_ bytes: [UInt8], at timestamp: SyncTimestamp) throws { try copy.make(bytes, at: timestamp) }

    /// Makes a change by instructions.
    mutating func write(at timestamp: SyncTimestamp, _ body: (inout Changeset) -> Void) throws {
        try copy.write(at: timestamp, body)
    }

    // MARK: Coming and going

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
        let view = copy.definition()
        var request = harness.identifyRequest(
            file, session: session, user: user, download: progress.download, latest: progress.latest)
        request.view = view
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
        copy.identified(answer.upload)
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
        return !copy.hasStored
    }

    /// Leaves its session in order.
    mutating func leave(_ harness: OwnerHarness, user: String) async throws {
        copy.forgetStored()
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
        try copy.take(page.entries, Self.progress(of: page))
        moved()
    }

    private static func progress(of page: PageAnswer) -> SyncProgress {
        SyncProgress(download: page.download, latest: page.latest, upload: page.upload)
    }

    /// The copy has taken something: the session stands where the copy does.
    private mutating func moved() {
        position = progress.download
        acknowledged = progress.upload
    }

    /// Takes what its gateway makes of a notice.
    mutating func take(_ part: FannedStretch.Part, of notice: IntegratedNotice) throws {
        position = DownloadCursor(
            serverVersion: notice.latest.version, clientVersion: max(position.clientVersion, part.clientVersion))
        if let own = notice.acknowledgements.first(where: { $0.clientFile == file.ident }) { acknowledged = own.upload }
        // A part without entries is nothing that the client need be told.
        guard !part.entries.isEmpty else { return }
        try copy.take(
            part.entries, SyncProgress(download: position, latest: notice.latest, upload: acknowledged))
        moved()
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
                copy.store([], of: version)
                return nil
            }
            copy.store(page.entries, of: version)
            switch part.outcome {
            case .begunElsewhere:
                // The session ends, and with it what has come.
                copy.forgetStored()
                return Self.mustReconnect
            case .behind:
                guard copy.stored(of: version).isEmpty else { throw ProblemError() }
                request.position = nil
                try await download(from: harness)
            case .refused(let reason): return reason
            case .more(let position):
                request.position = position
                if let between, try await !between() { return nil }
            case .last:
                told += page.view?.compensations ?? []
                try copy.integrateStored(of: version, queries, Self.progress(of: page))
                moved()
                return nil
            }
        }
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

    /// Takes the next upload off its history, for a test to send.
    mutating func nextUpload() -> Upload? { copy.nextUpload() }

    private mutating func send(to harness: OwnerHarness, atMost count: Int) async throws -> RefusedAnswer? {
        let follows = copy.uploaded.clientVersion
        guard let upload = copy.nextUpload(atMost: count) else { return nil }
        let message = ChangesetMessage(
            realm: harness.realm,
            upload: .init(
                session: SessionReference(gateway: "g", number: session), clientFile: file.ident,
                generation: generation, follows: follows, progress: upload.progress,
                lockedServerVersion: upload.lockedServerVersion, rights: harness.rights), entries: upload.entries)
        return try await harness.send(message).every(RefusedAnswer.self).first
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
        var client = fresh
        client.copy = try copy.recovered(onto: fresh.copy)
        client.moved()
        try await client.connect(to: harness, session: first + 2, user: user)
        return client
    }
}
