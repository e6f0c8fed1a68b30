import Messages
import Storage
import SyncModel
import SyncProtocol
import TestSupport
import Testing
import Views

@testable import Gateway

/// A session in flexible mode against an owner that answers by hand. All that is sent passes the protocol's checker.
struct FlexibleSessionScript {
    struct ProblemError: Error {}

    var checker = ServerConnectionChecker(mode: .flexible)
    var machine: GatewaySession
    var sent: [ServerMessage] = []
    var pages: [PageRequest] = []
    var followed: [Following] = []
    var published: [ChangesetMessage.Upload] = []
    var now: UInt64 = 1_000
    var identifies: [IdentifyRequest] = []

    init(protocolVersion: Int = 14, home: String? = nil) {
        let context = SessionContext(
            realm: RealmName(flexible: "tasks"), reference: SessionReference(gateway: "g", number: 1), user: "u",
            connection: "c", protocolVersion: protocolVersion, userAgent: "", schemaVersion: 2,
            migratedPartition: "\"said\"",
            limits: .init())
        machine = GatewaySession(
            session: 1, context: context, rights: SessionRights(.readWrite, rulesVersion: 1), roles: "R", home: home
        )
    }

    mutating func client(_ message: ClientMessage, _ event: SessionEvent) throws {
        guard case .accept = checker.receive(message) else { throw ProblemError() }
        try cluster(event)
    }

    mutating func cluster(_ event: SessionEvent) throws {
        let environment = SessionEnvironment(now: now, isCongested: false, isLinkUp: true)
        for action in machine.handle(event, environment) {
            switch action {
            case .send(let message):
                try checker.send(message)
                sent.append(message)
            case .page(let request, _): pages.append(request)
            case .follow(let following): followed.append(following)
            case .identify(let request): identifies.append(request)
            case .publish(let message, _): if let upload = message.upload { published.append(upload) }
            case .recorded(let upload, let locked):
                checker.identified(1, upload: upload, lockedServerVersion: locked)
            default: break
            }
        }
    }

    /// Binds, and says who it is and which set it has; the owner answers that its data has to come.
    ///
    /// - Parameter isNew: the client asks for its client file.
    mutating func identify(_ ident: Ident, isNew: Bool) throws {
        try client(
            .bind(Bind(session: 1, target: FlexibleTarget().text, needsIdent: isNew)),
            .bind(needsIdent: isNew, app: AppRecord(id: "tasks", syncMode: .flexible, createdAt: 1)))
        try cluster(
            .bound(BoundAnswer(generation: 1, slice: SliceNumber(0), clientFile: isNew ? ident.file : nil)))
        try client(.ident(ident), .ident(ident))
        try cluster(
            .identified(
                IdentifiedAnswer(
                    generation: 1, upload: UploadCursor(), lockedServerVersion: 0,
                    latest: SaltedServerVersion(version: 5, salt: 7),
                    bootstrap: ident.query?.version.rawValue)))
    }

    /// Answers the latest request for a page.
    mutating func answer(
        _ entries: [HistoryEntry] = [], to version: UInt64, latest: UInt64? = nil,
        _ outcome: BootstrapPart.Outcome? = nil, of set: UInt64 = 0, compensations: [CompensationNotice] = [],
        passes: Bool? = nil, progress: Double = 0.5
    ) throws {
        guard let request = pages.last else { throw ProblemError() }
        var bootstrap = outcome.map { BootstrapPart(version: set, outcome: $0, progress: progress) }
        bootstrap?.passes = passes
        try cluster(
            .page(
                PageAnswer(
                    generation: 1, after: request.after, entries: entries,
                    download: DownloadCursor(
                        serverVersion: ServerVersion(version), clientVersion: request.after.clientVersion),
                    latest: SaltedServerVersion(version: ServerVersion(latest ?? version), salt: 7),
                    upload: UploadCursor(), downloadableBytes: 0,
                    view: ViewPart(compensations: compensations, bootstrap: bootstrap))))
    }

    /// The versions that errors about undone writes name.
    func undoneAt() -> [ServerVersion?] {
        sent.compactMap { message in
            if case .jsonError(_, .compensatingWrite, let body) = message {
                .some(body.compensatingWriteServerVersion)
            } else {
                nil
            }
        }
    }

    /// What was sent since, the batch of DOWNLOADs.
    mutating func take() -> [String] {
        defer { sent = [] }
        return sent.map { message in
            guard case .download(let download) = message, let batch = download.batch else { return message.name }
            return "\(batch.queryVersion)/\(batch.state) of \(download.entries.count) to "
                + "\(download.progress.download.serverVersion)"
        }
    }

    // MARK: Making

    /// A session of a new client, with set 0.
    static func begun(protocolVersion: Int = 14) throws -> FlexibleSessionScript {
        var script = FlexibleSessionScript(protocolVersion: protocolVersion)
        try script.identify(Ident(session: 1, file: ClientFileIdent(ident: 3, salt: 9), query: .empty), isNew: true)
        expectEqual(script.identifies.last?.view, ViewDefinition(version: 0, queries: "{}", roles: "R"))
        expectEqual(script.pages.last?.bootstrap, BootstrapRequest(version: 0, queries: "{}", roles: "R"))
        try script.answer([entry(5)], to: 5, .last, of: 0)
        expectEqual(script.take(), ["ident", "0/lastInBatch of 1 to 5"])
        return script
    }

    /// Asks for a subscription set.
    mutating func ask(_ version: UInt64) throws {
        let set = QuerySet(version: QueryVersion(version), text: "{\"Item\":\"v == \(version)\"}")
        try client(.query(Query(session: 1, query: set)), .query(set))
    }

    /// Uploads a changeset of a client version.
    mutating func upload(_ version: ClientVersion, bytes: Int = 100) throws {
        let seen = machine.sent?.download.serverVersion ?? 0
        let upload = Upload(
            session: 1, progress: UploadCursor(clientVersion: version, serverVersion: seen), lockedServerVersion: seen,
            entries: [
                UploadedChangeset(clientVersion: version, serverVersion: seen, timestamp: 5, changeset: [1, 2])
            ])
        try client(.upload(upload), .upload(upload, bytes: bytes))
    }

    static func entry(
        _ version: UInt64, by author: FileIdent = .server, from clientVersion: ClientVersion = 0
    ) -> HistoryEntry {
        HistoryEntry(
            serverVersion: ServerVersion(version), clientVersion: clientVersion, originFile: author, timestamp: 1,
            changeset: [1])
    }

    static let undone = CompensationNotice(
        version: 6, clientVersion: 4, updates: [.init(className: "Item", key: [1, 9], reason: "not allowed")])

    /// A notice of one version; `group` is nil for sessions that have to ask.
    static func notice(
        _ follows: UInt64, by author: FileIdent = 8, group: ViewFan.Outcome.Group?, acknowledges: FileIdent? = nil,
        through clientVersion: ClientVersion = 4
    ) -> SessionEvent {
        let notice = IntegratedNotice(
            realm: RealmName(flexible: "tasks"), generation: 1, follows: ServerVersion(follows),
            latest: SaltedServerVersion(version: ServerVersion(follows + 1), salt: 7),
            entries: [
                HistoryEntry(
                    serverVersion: ServerVersion(follows + 1), clientVersion: clientVersion, originFile: author,
                    timestamp: 1,
                    changeset: [])
            ],
            acknowledgements: acknowledges.map {
                [.init(clientFile: $0, upload: UploadCursor(clientVersion: clientVersion, serverVersion: 5))]
            } ?? [], objects: NoticedObjects(schema: 1, changedSchema: [], before: [[]], now: []))
        return .viewed(ViewedNotice(NoticeContents(notice), for: group))
    }

    static let group = ViewFan.Outcome.Group(sessions: [1], view: .nothing, slots: [])
}
