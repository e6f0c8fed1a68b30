import Changesets
import Foundation
import SyncModel
import SyncProtocol
import TestSupport
import Testing
import Views

@testable import Worker

/// One random schedule of clients that send as fast as they can, MARK, QUERY and UPLOAD without a pause, through sessions of a gateway to a realm's
/// owner.
///
/// Honest clients have roles that let them write everything, and make only what their newest subscription set selects. So none of their writes
/// may ever be said not to count, nor after sync was terminated and they have recovered what was not acknowledged to them. Wild clients
/// write whatever they like, under roles that change, by clocks that agree with the server's; all that is asked of them is that their copies agree.
final class QuickClientSimulation {
    private typealias Items = FlexibleItems

    private static let all: Set<Int64> = [0, 1, 2]
    private static let sets: [Set<Int64>] = [[0], [1], [0, 1], [1, 2], [0, 2], all]
    /// Items with so great an `a` everybody may read.
    private static let publicA: Int64 = 7
    /// Keys that all clients use. Their objects' owner never changes, so that who makes one sees the one that is there.
    private static let shared: ClosedRange<Int64> = 1...6

    private let seed: UInt64
    private let isHonest: Bool
    private let hasResets: Bool
    private let chance: Chance
    private let gateway: QuickGateway
    private var clients: [QuickClient]
    private var time: UInt64 = 100
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
        chance = Chance(seed: seed)
        isTold = Self.told == seed
        hasResets = !isHonest || seed.isMultiple(of: 2)
        var limits = WorkerLimits()
        limits.indexStepBytes = 1 << 10
        if seed % 4 == 1 { limits.maxViewArrears = 200 }
        // Before images have only what versions change, or next to nothing.
        if seed % 5 > 2 { limits.images.smallObject = 0 }
        if isHonest, seed % 5 == 4 { (limits.images.smallValue, limits.images.maxValue) = (0, 0) }
        gateway = try await QuickGateway(clients: 3, seed: seed, limits, chance)
        openRoles = try limits.images.maxValue > 0 ? Items.roles(reads: Self.all, writes: Self.all) : Items.openRoles()
        clients = (0..<3).map { QuickClient(index: $0) }
    }

    private func pick(_ range: ClosedRange<Int>) -> Int { chance.pick(range) }

    private func tell(_ text: @autoclosure () -> String) {
        if isTold { print("[\(gateway.harness.time.now())]", text()) }
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
            case 8...12: for _ in 0..<pick(1...4) { try await gateway.deliverRequest() }
            case 13, 14: try await gateway.deliverNotice()
            case 15...17: for _ in 0..<pick(1...4) { try await read(index) }
            case 18 where !isHonest && pick(0...2) == 0:
                try await loseConnection(index)
                clients[index].toggleAdmin()
                tell("client \(index) may do everything: \(clients[index].isAdmin)")
            case 18:
                switch pick(0...9) {
                case 0, 1: try await loseConnection(index)
                case 2 where hasResets: try await gateway.terminateSync()
                case 3 where hasResets:
                    if let file = clients[index].copy?.file.ident { try await gateway.reset(file) }
                case 4...6 where hasResets: try await resetBeforeItHears(index)
                default: break
                }
            default:
                if pick(0...5) == 0 {
                    try await gateway.restartOwner()
                } else {
                    _ = try await gateway.harness.owner.goOnWithJobs(for: .zero)
                    try await gateway.tick()
                }
            }
        }
    }

    /// Everybody sends and gets everything.
    func finish() async throws {
        var rest = 0
        for _ in 0..<500 where rest < 3 {
            rest += 1
            for index in clients.indices {
                try await sendAll(index)
                while try await read(index) { rest = 0 }
            }
            while gateway.hasRequests {
                rest = 0
                try await gateway.deliverRequest(inOrder: true)
            }
            while gateway.hasNotices { try await gateway.deliverNotice() }
            try await gateway.harness.finishJobs()
            try await gateway.tick()
        }
        let items = try await Items.items(gateway.harness)
        tell("the realm has \(items)")
        for client in clients {
            let copy = try #require(client.copy, "seed \(seed), client \(client.index)")
            expectTrue(client.isUpToDate, "seed \(seed), client \(client.index)")
            let view = items.filter { mayRead($0.value, client) && client.wish.selects($0.value) }
            expectEqual(Items.items(copy.state), view, "seed \(seed), client \(client.index)")
        }
        if isHonest { expectTrue(undone.isEmpty, "seed \(seed)") }
    }

    private func mayRead(_ item: Items.Item, _ client: QuickClient) -> Bool {
        client.isAdmin || item.owner == Int64(client.index) || item.a >= Self.publicA
    }

    // MARK: Users

    private func write(_ index: Int) throws {
        guard isHonest else { return try writeWildly(index) }
        let client = clients[index]
        guard var copy = client.copy else { return }
        let items = Items.items(copy.state)
        let timestamp = SyncTimestamp(time + UInt64(pick(0...6)))
        let key = chance.element(of: items.keys.sorted())
        switch pick(0...9) {
        case 0...4:
            guard let owner = chance.element(of: client.wish.owners.sorted()) else { return }
            var new = clients[index].nextKey()
            if pick(0...3) == 0, let free = Self.shared.first(where: { $0 % 3 == owner && items[$0] == nil }) {
                new = free
            }
            try copy.write(at: timestamp, Items.create(new, owner: owner, a: Int64(pick(0...9))))
            if !client.isUpToDate { early += 1 }
        case 5, 6:
            guard let key, !Self.shared.contains(key) else { return }
            try copy.write(at: timestamp, Items.set(key, "owner", Int64(pick(0...2))))
            // The user goes on with an item that the client has put out of its view.
            if pick(0...1) == 0 { try copy.write(at: timestamp, Items.set(key, "a", Int64(pick(0...9)))) }
        case 7:
            guard let key else { return }
            try copy.write(at: timestamp, Items.erase(key))
        default:
            guard let key else { return }
            try copy.write(at: timestamp, Items.set(key, "a", Int64(pick(0...9))))
        }
        clients[index].wrote(copy)
    }

    private func writeWildly(_ index: Int) throws {
        guard var copy = clients[index].copy else { return }
        let items = Items.items(copy.state)
        let now = SyncTimestamp(unixMilliseconds: Int64(gateway.harness.time.now()))
        let timestamp = SyncTimestamp(now.rawValue + UInt64(pick(0...6)))
        let key = chance.element(of: items.keys.sorted())
        let owner = Int64(pick(0...2) == 0 ? pick(0...2) : index)
        let (a, new) = (Int64(pick(0...9)), Int64(pick(1...8)))
        let count = key.flatMap { items[$0]?.tags.count } ?? 0
        switch (pick(0...14), key) {
        case (0...3, _) where items[new] == nil:
            try copy.write(at: timestamp, Items.create(new, owner: owner, a: a))
        case (4, let key?): try copy.write(at: timestamp, Items.set(key, "owner", owner))
        case (5, let key?): try copy.write(at: timestamp, Items.erase(key))
        case (6, let key?):
            try copy.write(at: timestamp) {
                Items.erase(key)(&$0)
                Items.create(key, owner: owner, a: a)(&$0)
            }
        case (7, let key?): try copy.write(at: timestamp, Items.add(key, "a", Int64(pick(1...3))))
        case (8, let key?) where count > 0:
            try copy.write(at: timestamp, Items.tag(key, nil, at: pick(0...count - 1), of: count))
        case (9...11, let key?):
            let index = pick(0...1) == 0 ? count : pick(0...count)
            try copy.write(at: timestamp, Items.tag(key, a, at: index, of: count))
        case (_, let key?): try copy.write(at: timestamp, Items.set(key, "a", a))
        case (_, nil): return
        }
        tell("client \(index) writes version \(copy.newest): \(Items.items(copy.state))")
        clients[index].wrote(copy)
    }

    private func subscribe(_ index: Int) {
        guard clients[index].copy != nil else { return }
        var wish = QuickClient.Wish(owners: Self.sets[pick(0...Self.sets.count - 1)])
        if !isHonest {
            if pick(0...2) == 0 { wish.minA = Int64(pick(0...9)) }
            if pick(0...5) == 0 { wish.owners = [] }
        }
        clients[index].subscribe(to: wish)
    }

    private func roles(_ index: Int) throws -> String {
        clients[index].isAdmin ? openRoles : try Items.ownRoles(of: Int64(index), publicA: Self.publicA)
    }

    // MARK: Messages

    /// Sends all that there is to send, in the order in which clients do.
    private func sendAll(_ index: Int) async throws {
        if !gateway.hasSession(index) { try await bind(index) }
        while gateway.isLive(index), let message = clients[index].nextMessage() { try await send(message, index) }
    }

    private func bind(_ index: Int) async throws {
        gateway.open(index, connections: clients[index].connections, roles: try roles(index))
        clients[index].bound()
        let needsIdent = !clients[index].hasIdent
        try await send(.bind(Bind(session: 1, target: FlexibleTarget().text, needsIdent: needsIdent)), index)
        if !needsIdent { try await identify(index) }
    }

    private func identify(_ index: Int) async throws {
        if let ident = clients[index].ident() { try await send(.ident(ident), index) }
    }

    private func send(_ message: ClientMessage, _ index: Int) async throws {
        tell("client \(index)\(clients[index].isResetting ? " (fresh copy)" : "") sends \(Items.text(of: message))")
        try await gateway.receive(message, from: index)
    }

    private func loseConnection(_ index: Int) async throws {
        guard gateway.hasSession(index) else { return }
        try await gateway.loseConnection(index)
        // If it is back at once it goes on uploading; else it waits for what the server has.
        clients[index].lostConnection(forLong: pick(0...1) == 0)
    }

    /// A client reads a message.
    /// - Returns: whether there was one.
    @discardableResult
    private func read(_ index: Int) async throws -> Bool {
        guard let message = gateway.read(index) else { return false }
        tell("client \(index)\(clients[index].isResetting ? " (fresh copy)" : "") reads \(Items.text(of: message))")
        switch message {
        case .ident(_, let file):
            try clients[index].identified(file, roles: try roles(index), schema: Items.schema(hasTags: !isHonest))
            try await identify(index)
        case .download(let download): try clients[index].receive(download)
        case .mark(_, let request):
            clients[index].reachedMark(request)
            try await finishReset(index)
        case .jsonError(_, .compensatingWrite, let body):
            undone += body.rejectedUpdates?.map { "client \(index): \($0.reason)" } ?? ["?"]
        case .jsonError(_, let code, let body):
            let mustReset = body.action.isClientReset
            expectTrue(mustReset || body.action == .transient && body.tryAgain, "seed \(seed): \(code) \(body.message)")
            if mustReset { expectTrue(code == .badClientFileIdent, "seed \(seed): \(code) \(body.message)") }
            clients[index].sessionFailed()
            gateway.dropMail(index)
            try await send(.unbind(session: 1), index)
            if mustReset { clients[index].beginReset() }
        case .unbound: break
        default: Issue.record("seed \(seed): client \(index) is sent \(message.name)")
        }
        return true
    }

    // MARK: Resets

    /// What a client has written is integrated, and before it hears of that its connection is lost, and sync is terminated.
    private func resetBeforeItHears(_ index: Int) async throws {
        for _ in 0..<pick(1...4) { try write(index) }
        try await sendAll(index)
        while gateway.hasRequests { try await gateway.deliverRequest(inOrder: true) }
        try await loseConnection(index)
        try await gateway.terminateSync()
    }

    /// Once the fresh copy is complete, what was not acknowledged is recovered.
    private func finishReset(_ index: Int) async throws {
        guard clients[index].canRecover else { return }
        try await send(.unbind(session: 1), index)
        gateway.dropMail(index)
        try clients[index].recover()
        tell("client \(index) has recovered: \(clients[index].copy.map { Items.items($0.state) } ?? [:])")
        resets += 1
    }
}
