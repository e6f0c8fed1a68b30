import AMQP
import DequeModule
import Messages
import Storage
import SyncModel
import SyncProtocol
import TestSupport
import Testing
import Views

@testable import Gateway
@testable import Worker

/// The gateway between quick clients and a realm's owner: the clients' sessions, what is on its way to the owner, and what nobody has read yet.
final class QuickGateway {
    /// A client's session, if it has one.
    private struct Line {
        var session: GatewaySession?
        var number: UInt64 = 0
        var checker = ServerConnectionChecker(mode: .flexible)
        /// What the gateway has sent and the client has not read.
        var mail: Deque<ServerMessage> = []
    }

    private(set) var harness: OwnerHarness
    private let limits: WorkerLimits
    private let chance: Chance
    private let seed: UInt64
    private let fans: FlexibleFans
    private var lines: [Line]
    private var requests: [(number: UInt64, action: SessionAction)] = []
    private var notices: Deque<IntegratedNotice> = []
    private var numbers: UInt64 = 0
    private var generation: UInt64 = 1
    private let app = AppRecord(id: OwnerHarness.app, syncMode: .flexible, createdAt: 1)

    init(clients: Int, seed: UInt64, _ limits: WorkerLimits, _ chance: Chance) async throws {
        self.seed = seed
        self.limits = limits
        self.chance = chance
        harness = try await OwnerHarness.make(limits: limits, realm: RealmName(flexible: OwnerHarness.app))
        let time = harness.time
        fans = FlexibleFans(clock: GatewayClock(unixMilliseconds: { time.now() }))
        lines = (0..<clients).map { _ in Line() }
    }

    var hasRequests: Bool { !requests.isEmpty }
    var hasNotices: Bool { !notices.isEmpty }

    // MARK: The owner

    func restartOwner() async throws {
        harness = try await OwnerHarness.make(limits: limits, on: harness.store, realm: harness.realm)
    }

    func tick() async throws {
        harness.time.advance(2_500)
        for index in lines.indices { try await perform(.tick, index) }
    }

    /// Sync is terminated and enabled again: all client realms must reset.
    func terminateSync() async throws {
        generation += 1
        let message = TerminationMessage(
            app: OwnerHarness.app, campaign: "c-\(generation)", generation: generation, reason: nil)
        try await tell(of: try await harness.send(message))
    }

    /// One client realm must reset.
    func reset(_ file: FileIdent) async throws {
        numbers += 1
        try await tell(
            of: try await harness.send(
                ResetMessage(realm: harness.realm, clientFile: file, campaign: "r-\(numbers)", reason: nil)))
    }

    private func tell(of published: Published) async throws {
        notices.append(contentsOf: harness.takeNotices())
        // What was integrated before is mostly known to gateways by then.
        if chance.pick(0...3) > 0 { while !notices.isEmpty { try await deliverNotice() } }
        for notice in try published.every(ResetNotice.self) {
            for index in lines.indices { try await perform(.reset(notice), index) }
        }
    }

    // MARK: Sessions

    func hasSession(_ index: Int) -> Bool { lines[index].session != nil }
    func isLive(_ index: Int) -> Bool { hasSession(index) && lines[index].checker.session(1)?.state == .live }

    /// Opens a session for a client, whose BIND comes next.
    func open(_ index: Int, connections: Int, roles: String) {
        numbers += 1
        let context = SessionContext(
            realm: harness.realm, reference: SessionReference(gateway: "g", number: numbers), user: "u\(index)",
            connection: "c\(index)-\(connections)", protocolVersion: 14, userAgent: "",
            limits: .init(pageBytes: chance.pick(1...60)))
        lines[index].number = numbers
        lines[index].checker = ServerConnectionChecker(mode: .flexible)
        lines[index].session = GatewaySession(session: 1, context: context, rights: .all, roles: roles)
    }

    func loseConnection(_ index: Int) async throws {
        try await perform(.connectionLost, index)
        dropMail(index)
    }

    /// The next message that a client reads.
    func read(_ index: Int) -> ServerMessage? { lines[index].mail.popFirst() }
    func dropMail(_ index: Int) { lines[index].mail = [] }

    func receive(_ message: ClientMessage, from index: Int) async throws {
        switch (lines[index].checker.receive(message), message) {
        case (.accept, .bind(let bind)): try await perform(.bind(needsIdent: bind.needsIdent, app: app), index)
        case (.accept, .ident(let ident)): try await perform(.ident(ident), index)
        case (.accept, .upload(let upload)): try await perform(.upload(upload, bytes: 100), index)
        case (.accept, .mark(_, let request)): try await perform(.mark(request), index)
        case (.accept, .query(let query)): try await perform(.query(query.query), index)
        case (.unbind(let answer), _): try await perform(.unbind(answer: answer), index)
        case (.ignore, _): break
        case (let verdict, _): Issue.record("seed \(seed): \(message.name) of client \(index): \(verdict)")
        }
    }

    private func perform(_ event: SessionEvent, _ index: Int) async throws {
        let environment = SessionEnvironment(now: harness.time.now(), isCongested: false, isLinkUp: true)
        let number = lines[index].number
        for action in lines[index].session?.handle(event, environment) ?? [] {
            switch action {
            case .send(let message), .sendReset(let message, _): try send(message, index)
            case .sendPacked(let download, _): try send(.download(download), index)
            case .recorded(let upload, let locked):
                lines[index].checker.identified(1, upload: upload, lockedServerVersion: locked)
            case .follow(let following):
                let latest = fans.follow(number, following, of: harness.realm)
                if latest > following.version { try await perform(.heardOf(latest), index) }
            case .unsubscribe: fans.leave(number, of: harness.realm)
            case .forget:
                fans.leave(number, of: harness.realm)
                lines[index].session = nil
            case .page(var request, _):
                request.schema = fans.knownSchema(of: harness.realm)
                requests.append((number, .page(request)))
            case .subscribeAndBind, .identify, .publish, .report, .reset: requests.append((number, action))
            case .closeTooLarge(let reason, _):
                Issue.record("the socket of an honest client is closed: \(reason)")
            case .claim: break
            }
        }
    }

    private func send(_ message: ServerMessage, _ index: Int) throws {
        try lines[index].checker.send(message)
        lines[index].mail.append(message)
    }

    // MARK: On the way

    private func tell(_ event: SessionEvent, _ number: UInt64) async throws {
        guard let index = lines.firstIndex(where: { $0.number == number }) else { return }
        try await perform(event, index)
    }

    /// The owner gets a request or an upload; those of a session mostly in their order.
    func deliverRequest(inOrder: Bool = false) async throws {
        guard !requests.isEmpty else { return }
        var index = inOrder || chance.pick(0...1) == 0 ? 0 : chance.pick(0...requests.count - 1)
        // A page is asked for one at a time, and uploads overtake it, or are overtaken.
        if chance.pick(0...9) > 0 {
            index = requests.firstIndex { $0.number == requests[index].number } ?? index
        }
        let (number, action) = requests.remove(at: index)
        switch action {
        case .subscribeAndBind(let request):
            let published = try await harness.send(request)
            for answer in try published.every(BoundAnswer.self) { try await tell(.bound(answer), number) }
            try await refuse(published, number)
        case .identify(let request):
            let published = try await harness.send(request)
            for answer in try published.every(ConfirmAnswer.self) { try await tell(.confirm(answer), number) }
            for answer in try published.every(IdentifiedAnswer.self) { try await tell(.identified(answer), number) }
            try await refuse(published, number)
        case .page(let request, _):
            let published = try await harness.send(request)
            for var page in try published.every(PageAnswer.self) {
                if let schema = page.view?.schema { fans.learn(schema, of: harness.realm) }
                page.view?.schema = nil
                try await tell(.page(page), number)
            }
            try await refuse(published, number)
        case .publish(let message, let upload):
            try await tell(.published(upload), number)
            try await refuse(try await harness.send(message))
        case .report(let notice): _ = try await harness.send(notice)
        default: Issue.record("seed \(seed): \(action)")
        }
        notices.append(contentsOf: harness.takeNotices())
    }

    /// - Parameter number: of the session that waits for an answer. Owners do not answer requests that have been on their way for long.
    private func refuse(_ published: Published, _ number: UInt64? = nil) async throws {
        let answers: Set = [
            BoundAnswer.type, IdentifiedAnswer.type, ConfirmAnswer.type, PageAnswer.type, RefusedAnswer.type,
        ]
        if let number, !published.all.contains(where: { $0.message.properties.type.map(answers.contains) ?? false }) {
            try await tell(.requestFailed(GatewayError(.timeout, "")), number)
        }
        for answer in try published.every(RefusedAnswer.self) {
            try await tell(.refused(answer), answer.session.number)
        }
    }

    func deliverNotice() async throws {
        guard let notice = notices.popFirst() else { return }
        for letters in fans.take(notice) {
            for number in letters.sessions { try await tell(letters.event, number) }
        }
    }
}
