import AMQP
import Changesets
import DequeModule
import Foundation
import Messages
import SeededRandom
import Storage
import SyncModel
import SyncProtocol
import TestSupport
import Testing
import Views

@testable import Gateway
@testable import Worker

/// One random schedule of clients that send as fast as they can, MARK, QUERY and UPLOAD without a pause, through sessions of a gateway to a realm's
/// owner.
///
/// Honest clients have roles that let them write everything, and make only what their newest subscription set selects. So none of their writes
/// may ever be said not to count, nor after sync was terminated and they have recovered what was not acknowledged to them. Wild clients
/// write whatever they like, under roles that change, by clocks that agree with the server's; all that is asked of them is that their copies agree.
final class QuickClientSimulation {
    private typealias Items = FlexibleItems

    /// What a subscription set selects.
    private struct Wish {
        var owners: Set<Int64>
        var minA: Int64?

        var text: String { Items.query(owners, minA: minA) }
        func selects(_ item: Items.Item) -> Bool { owners.contains(item.owner) && item.a >= minA ?? .min }
    }

    private struct Peer {
        typealias Sets = [(version: UInt64, wish: Wish, snapshot: ClientVersion)]

        let index: Int
        var client: ViewingClient?
        /// While it resets, its session is about a fresh copy, once that has an ident.
        var isResetting = false
        var copy: ViewingClient?
        var copySets: Sets = []
        /// How often it has lost its connection.
        var connections = 0
        /// Nil: it has no session.
        var session: GatewaySession?
        var number: UInt64 = 0
        var checker = ServerConnectionChecker(mode: .flexible)
        /// What the gateway has sent and the client has not read.
        var mail: Deque<ServerMessage> = []
        /// What it has subscribed to, and how far it had written by then.
        var sets: Sets = []
        var askedFor: UInt64 = 0
        var markTarget: UInt64 = 0
        var markSent: UInt64 = 0
        var markReceived: UInt64 = 0
        var mayUpload = false
        var keys: Int64 = 0
        /// Whether the user may read and write everything. Those of wild clients may not always.
        var isAdmin = true

        var wish: Wish { sets.last?.wish ?? Wish(owners: []) }
        func mayRead(_ item: Items.Item) -> Bool {
            isAdmin || item.owner == Int64(index) || item.a >= QuickClientSimulation.publicA
        }
        /// The file that its session is about, and what is asked for in that.
        var synced: ViewingClient? {
            get { isResetting ? copy : client }
            set { if isResetting { copy = newValue } else { client = newValue } }
        }
        var syncedSets: Sets { isResetting ? copySets : sets }
        var texts: [UInt64: String] {
            let known = syncedSets.map { ($0.version, $0.wish.text) }
            return Dictionary(uniqueKeysWithValues: known + [(0, "{}")])
        }
    }

    private static let all: Set<Int64> = [0, 1, 2]
    private static let sets: [Set<Int64>] = [[0], [1], [0, 1], [1, 2], [0, 2], all]
    /// Items with so great an `a` everybody may read.
    private static let publicA: Int64 = 7
    /// Keys that all clients use. Their objects' owner never changes, so that who makes one sees the one that is there.
    private static let shared: ClosedRange<Int64> = 1...6

    private let seed: UInt64
    private let isHonest: Bool
    private let hasResets: Bool
    private var random: SeededGenerator
    private var harness: OwnerHarness
    private var limits = WorkerLimits()
    private let fans: FlexibleFans
    private var peers: [Peer]
    private var requests: [(number: UInt64, action: SessionAction)] = []
    private var notices: Deque<IntegratedNotice> = []
    private var numbers: UInt64 = 0
    private var generation: UInt64 = 1
    private var time: UInt64 = 100
    private let app = AppRecord(id: OwnerHarness.app, syncMode: .flexible, createdAt: 1)
    private let openRoles: String
    /// The seed of the schedule of which everything that happens is printed.
    static let told = ProcessInfo.processInfo.environment["SLUICE_FLEXIBLE_STORY"].flatMap { UInt64($0) }
    private let isTold: Bool
    /// The writes that clients were told do not count, by client and reason.
    private(set) var undone: [String] = []
    /// Resets that were carried through.
    private(set) var resets = 0
    /// Writes that were made while the data of the set that they were made under had still to come.
    private(set) var early = 0

    init(seed: UInt64, isHonest: Bool = true) async throws {
        self.seed = seed
        self.isHonest = isHonest
        random = SeededGenerator(seed: seed)
        isTold = Self.told == seed
        hasResets = !isHonest || seed.isMultiple(of: 2)
        limits.indexStepBytes = 1 << 10
        if seed % 4 == 1 { limits.maxViewArrears = 200 }
        // Before images have only what versions change, or next to nothing.
        if seed % 5 > 2 { limits.images.smallObject = 0 }
        if isHonest, seed % 5 == 4 { (limits.images.smallValue, limits.images.maxValue) = (0, 0) }
        harness = try await OwnerHarness.make(limits: limits, realm: RealmName(flexible: OwnerHarness.app))
        let time = harness.time
        fans = FlexibleFans(clock: GatewayClock(unixMilliseconds: { time.now() }))
        openRoles = try limits.images.maxValue > 0 ? Items.roles(reads: Self.all, writes: Self.all) : Items.openRoles()
        peers = (0..<3).map { Peer(index: $0) }
    }

    private func pick(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

    private func tell(_ text: @autoclosure () -> String) {
        if isTold { print("[\(harness.time.now())]", text()) }
    }

    // MARK: Schedule

    func run() async throws {
        for _ in 0..<pick(30...150) {
            time += 10
            let index = pick(0...2)
            switch pick(0...19) {
            case 0...3: for _ in 0..<pick(1...3) { try write(index) }
            case 4: subscribe(index)
            case 5:
                // Nothing of this waits for anything.
                subscribe(index)
                try write(index)
                try await sendAll(index)
            case 6, 7: try await sendAll(index)
            case 8...12: for _ in 0..<pick(1...4) { try await deliverRequest() }
            case 13, 14: try await deliverNotice()
            case 15...17: for _ in 0..<pick(1...4) { try await read(index) }
            case 18 where !isHonest && pick(0...2) == 0:
                try await loseConnection(index)
                peers[index].isAdmin.toggle()
                tell("client \(index) may do everything: \(peers[index].isAdmin)")
            case 18:
                switch pick(0...9) {
                case 0, 1: try await loseConnection(index)
                case 2 where hasResets: try await resetAll()
                case 3 where hasResets: try await reset(index)
                case 4...6 where hasResets: try await resetBeforeItHears(index)
                default: break
                }
            default:
                if pick(0...5) == 0 {
                    harness = try await OwnerHarness.make(limits: limits, on: harness.store, realm: harness.realm)
                } else {
                    _ = try await harness.owner.step(for: .zero)
                    try await tick()
                }
            }
        }
    }

    /// Everybody sends and gets everything.
    func finish() async throws {
        var rest = 0
        for _ in 0..<500 where rest < 3 {
            rest += 1
            for index in peers.indices {
                try await sendAll(index)
                while !peers[index].mail.isEmpty {
                    rest = 0
                    try await read(index)
                }
            }
            while !requests.isEmpty {
                rest = 0
                try await deliverRequest(inOrder: true)
            }
            while !notices.isEmpty { try await deliverNotice() }
            try await harness.finishSteps()
            try await tick()
        }
        let items = try await Items.items(harness)
        tell("the realm has \(items)")
        for peer in peers {
            let client = try #require(peer.client, "seed \(seed), client \(peer.index)")
            expectTrue(client.active.version == peer.sets.last?.version ?? 0, "seed \(seed), client \(peer.index)")
            let view = items.filter { peer.mayRead($0.value) && peer.wish.selects($0.value) }
            expectEqual(Items.items(client.state), view, "seed \(seed), client \(peer.index)")
        }
        if isHonest { expectTrue(undone.isEmpty, "seed \(seed)") }
    }

    private func tick() async throws {
        harness.time.advance(2_500)
        for index in peers.indices { try await perform(.tick, index) }
    }

    // MARK: Clients

    private func write(_ index: Int) throws {
        guard isHonest else { return try writeWildly(index) }
        let peer = peers[index]
        guard var client = peer.client else { return }
        let items = Items.items(client.state)
        let timestamp = SyncTimestamp(time + UInt64(pick(0...6)))
        let key = items.keys.sorted().randomElement(using: &random)
        switch pick(0...9) {
        case 0...4:
            guard let owner = peer.wish.owners.sorted().randomElement(using: &random) else { return }
            peers[index].keys += 1
            var new = Int64(index + 1) * 1_000 + peer.keys
            if pick(0...3) == 0, let free = Self.shared.first(where: { $0 % 3 == owner && items[$0] == nil }) {
                new = free
            }
            try client.write(at: timestamp, Items.create(new, owner: owner, a: Int64(pick(0...9))))
            if client.active.version != peer.sets.last?.version { early += 1 }
        case 5, 6:
            guard let key, !Self.shared.contains(key) else { return }
            try client.write(at: timestamp, Items.set(key, "owner", Int64(pick(0...2))))
            // The user goes on with an item that the client has put out of its view.
            if pick(0...1) == 0 { try client.write(at: timestamp, Items.set(key, "a", Int64(pick(0...9)))) }
        case 7:
            guard let key else { return }
            try client.write(at: timestamp, Items.erase(key))
        default:
            guard let key else { return }
            try client.write(at: timestamp, Items.set(key, "a", Int64(pick(0...9))))
        }
        peers[index].client = client
    }

    private func writeWildly(_ index: Int) throws {
        guard var client = peers[index].client else { return }
        let items = Items.items(client.state)
        let now = SyncTimestamp(unixMilliseconds: Int64(harness.time.now()))
        let timestamp = SyncTimestamp(now.rawValue + UInt64(pick(0...6)))
        let key = items.keys.sorted().randomElement(using: &random)
        let owner = Int64(pick(0...2) == 0 ? pick(0...2) : index)
        let (a, new) = (Int64(pick(0...9)), Int64(pick(1...8)))
        let count = key.flatMap { items[$0]?.tags.count } ?? 0
        switch (pick(0...14), key) {
        case (0...3, _) where items[new] == nil:
            try client.write(at: timestamp, Items.create(new, owner: owner, a: a))
        case (4, let key?): try client.write(at: timestamp, Items.set(key, "owner", owner))
        case (5, let key?): try client.write(at: timestamp, Items.erase(key))
        case (6, let key?):
            try client.write(at: timestamp) {
                Items.erase(key)(&$0)
                Items.create(key, owner: owner, a: a)(&$0)
            }
        case (7, let key?): try client.write(at: timestamp, Items.add(key, "a", Int64(pick(1...3))))
        case (8, let key?) where count > 0:
            try client.write(at: timestamp, Items.tag(key, nil, at: pick(0...count - 1), of: count))
        case (9...11, let key?):
            let index = pick(0...1) == 0 ? count : pick(0...count)
            try client.write(at: timestamp, Items.tag(key, a, at: index, of: count))
        case (_, let key?): try client.write(at: timestamp, Items.set(key, "a", a))
        case (_, nil): return
        }
        tell("client \(index) writes version \(client.written): \(Items.items(client.state))")
        peers[index].client = client
    }

    private func subscribe(_ index: Int) {
        guard let client = peers[index].client else { return }
        var wish = Wish(owners: Self.sets[pick(0...Self.sets.count - 1)])
        if !isHonest {
            if pick(0...2) == 0 { wish.minA = Int64(pick(0...9)) }
            if pick(0...5) == 0 { wish.owners = [] }
        }
        peers[index].sets.append(
            (version: UInt64(peers[index].sets.count + 1), wish: wish, snapshot: client.written))
    }

    private func roles(_ index: Int) throws -> String {
        peers[index].isAdmin ? openRoles : try Items.ownRoles(of: Int64(index), publicA: Self.publicA)
    }

    /// Sends all that there is to send, in the order in which clients do.
    private func sendAll(_ index: Int) async throws {
        if peers[index].session == nil { try await bind(index) }
        while let message = nextMessage(index) { try await receive(message, index) }
    }

    private func nextMessage(_ index: Int) -> ClientMessage? {
        guard peers[index].session != nil, peers[index].checker.session(1)?.state == .live,
            var client = peers[index].synced
        else { return nil }
        if peers[index].markTarget > peers[index].markSent {
            peers[index].markSent = peers[index].markTarget
            return .mark(session: 1, request: RequestIdent(peers[index].markTarget))
        }
        guard peers[index].mayUpload || peers[index].isResetting else { return nil }
        let next = peers[index].syncedSets.first { $0.version > peers[index].askedFor }
        if !peers[index].isResetting, client.scanned < next?.snapshot ?? client.written {
            let upload = client.upload(through: next?.snapshot ?? client.written)
            peers[index].synced = client
            if let upload { return .upload(upload) }
        }
        guard let next else { return nil }
        peers[index].askedFor = next.version
        peers[index].markTarget += 1
        let set = QuerySet(version: QueryVersion(next.version), text: next.wish.text)
        return .query(SyncProtocol.Query(session: 1, query: set))
    }

    private func bind(_ index: Int) async throws {
        numbers += 1
        let context = SessionContext(
            realm: harness.realm, reference: SessionReference(gateway: "g", number: numbers), user: "u\(index)",
            connection: "c\(index)-\(peers[index].connections)", protocolVersion: 14, userAgent: "",
            limits: .init(pageBytes: pick(1...60)))
        peers[index].number = numbers
        peers[index].checker = ServerConnectionChecker(mode: .flexible)
        peers[index].session = GatewaySession(session: 1, context: context, rights: .all, roles: try roles(index))
        peers[index].markSent = peers[index].markReceived
        let needsIdent = peers[index].synced == nil
        try await receive(
            .bind(Bind(session: 1, target: FlexibleTarget().text, needsIdent: needsIdent)), index)
        if !needsIdent { try await identify(index) }
    }

    private func identify(_ index: Int) async throws {
        guard var client = peers[index].synced else { return }
        client.comeAgain()
        peers[index].synced = client
        peers[index].askedFor = client.active.version
        let set = QuerySet(version: QueryVersion(client.active.version), text: client.active.queries)
        try await receive(
            .ident(
                Ident(
                    session: 1, file: client.file, download: client.progress.download, latest: client.progress.latest,
                    query: set)), index)
    }

    private func loseConnection(_ index: Int) async throws {
        guard peers[index].session != nil else { return }
        try await perform(.connectionLost, index)
        peers[index].mail = []
        peers[index].connections += 1
        // If it is back at once it goes on uploading; else it waits for what the server has.
        if pick(0...1) == 0 {
            peers[index].mayUpload = false
            peers[index].markTarget = peers[index].markReceived + 1
        }
    }

    /// A client reads a message.
    private func read(_ index: Int) async throws {
        guard let message = peers[index].mail.popFirst() else { return }
        tell("client \(index)\(peers[index].isResetting ? " (fresh copy)" : "") reads \(Items.text(of: message))")
        switch message {
        case .ident(_, let file):
            var client = ViewingClient(
                file: file, session: peers[index].number, user: "u\(index)", roles: try roles(index))
            if !peers[index].isResetting { try client.make(Items.schema(hasTags: !isHonest), at: 1) }
            peers[index].synced = client
            peers[index].markTarget += 1
            try await identify(index)
        case .download(let download):
            let texts = peers[index].texts
            try peers[index].synced?.receive(download, texts)
        case .mark(_, let request):
            peers[index].markReceived = request.rawValue
            peers[index].mayUpload = true
            try await finishReset(index)
        case .jsonError(_, .compensatingWrite, let body):
            undone += body.rejectedUpdates?.map { "client \(index): \($0.reason)" } ?? ["?"]
        case .jsonError(_, let code, let body):
            let mustReset = body.action.isClientReset
            expectTrue(mustReset || body.action == .transient && body.tryAgain, "seed \(seed): \(code) \(body.message)")
            if mustReset { expectTrue(code == .badClientFileIdent, "seed \(seed): \(code) \(body.message)") }
            peers[index].synced?.forgetStored()
            peers[index].mail = []
            try await receive(.unbind(session: 1), index)
            if mustReset { beginReset(index) }
        case .unbound: break
        default: Issue.record("seed \(seed): client \(index) is sent \(message.name)")
        }
    }

    // MARK: Resets

    /// Sync is terminated and enabled again: all client realms must reset.
    private func resetAll() async throws {
        generation += 1
        let message = TerminationMessage(
            app: OwnerHarness.app, campaign: "c-\(generation)", generation: generation, reason: nil)
        try await tell(of: try await harness.send(message))
    }

    /// What a client has written is integrated, and before it hears of that its connection is lost, and sync is terminated.
    private func resetBeforeItHears(_ index: Int) async throws {
        for _ in 0..<pick(1...4) { try write(index) }
        try await sendAll(index)
        while !requests.isEmpty { try await deliverRequest(inOrder: true) }
        try await loseConnection(index)
        try await resetAll()
    }

    private func reset(_ index: Int) async throws {
        guard let file = peers[index].client?.file.ident else { return }
        numbers += 1
        try await tell(
            of: try await harness.send(
                ResetMessage(realm: harness.realm, clientFile: file, campaign: "r-\(numbers)", reason: nil)))
    }

    private func tell(of published: Published) async throws {
        notices.append(contentsOf: harness.takeNotices())
        // What was integrated before is mostly known to gateways by then.
        if pick(0...3) > 0 { while !notices.isEmpty { try await deliverNotice() } }
        for notice in try published.every(ResetNotice.self) {
            for index in peers.indices { try await perform(.reset(notice), index) }
        }
    }

    /// The client makes a fresh copy, for the set in force.
    private func beginReset(_ index: Int) {
        peers[index].copy = nil
        peers[index].markTarget = peers[index].markReceived
        guard let client = peers[index].client else { return }
        peers[index].isResetting = true
        peers[index].copySets = peers[index].sets.filter { $0.version == client.active.version }.map {
            (version: 1, wish: $0.wish, snapshot: 0)
        }
    }

    /// Once the fresh copy is complete, what was not acknowledged is recovered.
    private func finishReset(_ index: Int) async throws {
        let peer = peers[index]
        guard peer.isResetting, let client = peer.client, let copy = peer.copy, peer.markReceived == peer.markTarget,
            copy.active.version == peer.copySets.last?.version ?? 0
        else { return }
        try await receive(.unbind(session: 1), index)
        peers[index].mail = []
        peers[index].client = try client.recovered(onto: copy)
        tell("client \(index) has recovered: \(peers[index].client.map { Items.items($0.state) } ?? [:])")
        peers[index].isResetting = false
        peers[index].copy = nil
        peers[index].mayUpload = true
        resets += 1
    }

    // MARK: The gateway

    private func receive(_ message: ClientMessage, _ index: Int) async throws {
        tell("client \(index)\(peers[index].isResetting ? " (fresh copy)" : "") sends \(Items.text(of: message))")
        switch (peers[index].checker.receive(message), message) {
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
        let number = peers[index].number
        for action in peers[index].session?.handle(event, environment) ?? [] {
            switch action {
            case .send(let message), .sendReset(let message, _): try send(message, index)
            case .sendPacked(let download, _): try send(.download(download), index)
            case .recorded(let upload, let locked):
                peers[index].checker.identified(1, upload: upload, lockedServerVersion: locked)
            case .follow(let following):
                let latest = fans.follow(number, following, of: harness.realm)
                if latest > following.version { try await perform(.heardOf(latest), index) }
            case .unsubscribe: fans.leave(number, of: harness.realm)
            case .forget:
                fans.leave(number, of: harness.realm)
                peers[index].session = nil
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
        try peers[index].checker.send(message)
        peers[index].mail.append(message)
    }

    private func tell(_ event: SessionEvent, _ number: UInt64) async throws {
        guard let index = peers.firstIndex(where: { $0.number == number }) else { return }
        try await perform(event, index)
    }

    /// The owner gets a request or an upload; those of a session mostly in their order.
    private func deliverRequest(inOrder: Bool = false) async throws {
        guard !requests.isEmpty else { return }
        var index = inOrder || pick(0...1) == 0 ? 0 : pick(0...requests.count - 1)
        // A page is asked for one at a time, and uploads overtake it, or are overtaken.
        if pick(0...9) > 0 {
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

    private func deliverNotice() async throws {
        guard let notice = notices.popFirst() else { return }
        for letters in fans.take(notice) {
            for number in letters.sessions { try await tell(letters.event, number) }
        }
    }
}
