import Messages
import Storage
import SyncModel
import SyncProtocol

@testable import Gateway

/// Sessions of one realm against a scripted owner in memory, without sockets or tasks: every action is answered at once,
/// so what a message draws is there when `client` returns. Everything sent passes the protocol's own checkers.
struct SessionScript {
    var realm = FakeRealm()
    var app = AppRecord(id: "tasks", createdAt: 1)
    /// What the gateway has decided at each BIND.
    var rights = SessionRights(.readWrite, rulesVersion: 1)
    /// Whether the clients say that they know rules of Sluice's.
    var isOurs = true
    var environment = SessionEnvironment(now: 1_000_000, isCongested: false, isLinkUp: true)
    /// How many entries a page of the owner has at most.
    var pageEntries = 100
    /// Messages of the owner that are not delivered, by kind.
    var holdsAnswers = false
    /// The versions that the gateway has at hand, if the script is to use them.
    var recent: RecentVersions?
    private(set) var pagesAsked = 0
    private(set) var heldRequests: [(Int, SessionAction)] = []
    private var sockets: [Int: Socket] = [:]
    private(set) var log: [(socket: Int, message: ServerMessage)] = []
    private(set) var actions: [SessionAction] = []
    /// What the gateway's log would say.
    private(set) var lines: [SessionLine] = []
    private var nextNumber: UInt64 = 1
    /// What was asked of the owner.
    var identifies: [IdentifyRequest] { actions.compactMap { if case .identify(let it) = $0 { it } else { nil } } }
    var uploads: [ChangesetMessage.Upload] {
        actions.compactMap { if case .publish(let message, _) = $0 { message.upload } else { nil } }
    }
    var closings: [String] {
        actions.compactMap { if case .closeTooLarge(let reason, .some) = $0 { reason } else { nil } }
    }
    var resets: [ResetMessage] { actions.compactMap { if case .reset(let message) = $0 { message } else { nil } } }

    private struct Socket {
        var checker = ServerConnectionChecker(mode: .partition)
        var sessions: [SessionIdent: GatewaySession] = [:]
    }

    static let name = RealmName(app: "tasks", partition: "\"tasks\"")

    func session(_ session: SessionIdent, on socket: Int = 1) -> GatewaySession? { sockets[socket]?.sessions[session] }

    /// What the server has sent since the last call.
    mutating func takeLog() -> [ServerMessage] {
        defer { log = [] }
        return log.map(\.message)
    }

    /// - Parameter bytes: of an upload.
    mutating func client(_ message: ClientMessage, on socket: Int = 1, bytes: Int = 100) throws {
        var state = sockets[socket] ?? Socket()
        let verdict = state.checker.receive(message)
        sockets[socket] = state
        let session = message.session ?? 0
        switch (verdict, message) {
        case (.accept, .bind(let bind)):
            let context = SessionContext(
                realm: Self.name, reference: SessionReference(gateway: "g", number: nextNumber), user: "u",
                connection: "c\(socket)", protocolVersion: 14, userAgent: "", isOurs: isOurs, limits: .init())
            nextNumber += 1
            sockets[socket]?.sessions[session] = GatewaySession(
                session: session, context: context, rights: rights)
            try event(.bind(needsIdent: bind.needsIdent, app: app), session, socket)
        case (.accept, .ident(let ident)): try event(.ident(ident), session, socket)
        case (.accept, .upload(let upload)): try event(.upload(upload, bytes: bytes), session, socket)
        case (.accept, .mark(_, let request)): try event(.mark(request), session, socket)
        case (.accept, .jsonError(let error)): try event(.clientFailed(error), session, socket)
        case (.unbind(let answer), _): try event(.unbind(answer: answer), session, socket)
        case (.fail(let error), _): try event(.violation(error), session, socket)
        default: break
        }
    }

    mutating func event(_ event: SessionEvent, _ session: SessionIdent, _ socket: Int = 1) throws {
        guard let actions = sockets[socket]?.sessions[session]?.handle(event, environment) else { return }
        if let line = event.line { lines.append(line) }
        for action in actions { try act(action, session, socket) }
    }

    mutating func cluster(_ event: SessionEvent, _ session: SessionIdent, on socket: Int = 1) throws {
        try self.event(event, session, socket)
    }

    /// Delivers what was held back, in order.
    mutating func release() throws {
        holdsAnswers = false
        let held = heldRequests
        heldRequests = []
        for (socket, action) in held { try answer(action, socket) }
    }

    private mutating func act(_ action: SessionAction, _ session: SessionIdent, _ socket: Int) throws {
        actions.append(action)
        if let line = action.line { lines.append(line) }
        switch action {
        case .send(let message), .sendReset(let message, _):
            try sockets[socket]?.checker.send(message)
            log.append((socket, message))
        case .sendPacked(let download, _):
            try sockets[socket]?.checker.send(.download(download))
            log.append((socket, .download(download)))
        case .recorded(let upload, let locked):
            sockets[socket]?.checker.identified(
                session, upload: upload, lockedServerVersion: locked)
        case .forget: sockets[socket]?.sessions[session] = nil
        case .subscribeAndBind, .identify, .page, .publish:
            if holdsAnswers { heldRequests.append((socket, action)) } else { try answer(action, socket) }
        case .reset, .closeTooLarge, .unsubscribe, .report, .claim, .follow: break
        }
    }

    private func session(of reference: SessionReference, _ socket: Int) -> SessionIdent {
        sockets[socket]?.sessions.first { $0.value.context.reference == reference }?.key ?? 0
    }

    private mutating func answer(_ action: SessionAction, _ socket: Int) throws {
        switch action {
        case .subscribeAndBind(let request):
            let file = request.needsClientFile ? realm.allocate() : nil
            try cluster(
                .bound(BoundAnswer(generation: realm.generation, slice: SliceNumber(0), clientFile: file)),
                session(of: request.context.session, socket), on: socket)
        case .identify(let request):
            let ident = session(of: request.context.session, socket)
            guard realm.salts[request.clientFile.ident] == request.clientFile.salt else {
                return try cluster(
                    .refused(
                        RefusedAnswer(
                            realm: Self.name, session: request.context.session, code: 208, action: "ClientReset",
                            message: "bad client file ident", tryAgain: false, clientFile: request.clientFile.ident,
                            campaign: "c1")), ident, on: socket)
            }
            try cluster(
                .identified(
                    IdentifiedAnswer(
                        generation: realm.generation, upload: realm.uploads[request.clientFile.ident] ?? .init(),
                        lockedServerVersion: 0, latest: realm.latest)), ident, on: socket)
        case .page(let request, let position):
            if let position, let stretch = recent?.stretch(after: position, of: Self.name) {
                return try cluster(
                    .recent(stretch), session(of: request.context.session, socket), on: socket)
            }
            pagesAsked += 1
            try cluster(
                .page(realm.page(for: request.clientFile, after: request.after, maxEntries: pageEntries)),
                session(of: request.context.session, socket), on: socket)
        case .publish(let message, let number):
            guard let upload = message.upload else { return }
            try cluster(.published(number), session(of: upload.session, socket), on: socket)
            guard let notice = realm.integrate(message) else { return }
            recent?.hear(notice, at: environment.now)
            for (socket, state) in sockets.sorted(by: { $0.key == socket && $1.key != socket }) {
                for ident in state.sessions.keys.sorted() { try cluster(.integrated(notice), ident, on: socket) }
            }
        default: break
        }
    }
}
