import SeededRandom
import SyncModel

/// An honest app: pairs of clients that edit and measure how soon the other has a change, and, with partitions, a visitor who comes and goes.
final class HonestApp: Sendable {
    static let visitor = "visitor@example.net"

    /// The app in partition mode, whose realms are spread over the slices.
    static let partitioned = "honest"
    /// The app in flexible mode.
    static let flexible = "honest-flexible"

    let name: String
    let mode: SyncMode

    let ledger = HonestLedger()
    let tally = Tally()
    private let ports: [Int]
    private let clientCount: Int
    private let pace: Duration
    private let random: SeededGenerator

    init(_ mode: SyncMode, ports: [Int], clients: Int, pace: Duration, seed: UInt64) {
        self.mode = mode
        name = mode == .flexible ? Self.flexible : Self.partitioned
        self.ports = ports
        clientCount = clients
        self.pace = pace
        random = SeededGenerator(seed: seed)
    }

    static func partition(_ client: Int) -> String { "pair-\(client / 2)" }

    /// Each client has an address of its own.
    private func exchange(_ number: Int) -> HTTPExchange {
        HTTPExchange(
            port: ports[number % ports.count], source: "127.0.1.\(1 + number + (mode == .flexible ? 100 : 0))",
            tally: tally)
    }

    /// Registers all users and opens all realms.
    func open() async throws -> [HonestClient] {
        let newcomer = exchange(clientCount)
        try await Account.register(Self.visitor, Visitor.password, of: name, newcomer)
        var clients: [HonestClient] = []
        for number in 0..<clientCount {
            let exchange = exchange(number)
            let email = "client-\(number)@example.net"
            try await Account.register(email, Visitor.password, of: name, exchange)
            let account = try await Account.login(email, Visitor.password, of: name, exchange)
            let client = HonestClient(
                number, account, mode == .flexible ? .flexible : .partition(Self.partition(number)), exchange, ledger)
            try await client.open()
            clients.append(client)
        }
        return clients
    }

    /// Has all of them at work until it is cancelled.
    func work(_ clients: [HonestClient]) async {
        await withTaskGroup(of: Void.self) { group in
            for (number, client) in clients.enumerated() {
                group.addTask { [random, pace] in await client.edit(random.fork(number), pace: pace) }
                group.addTask { await client.follow() }
            }
            if mode == .partition {
                let visitor = Visitor(
                    email: Self.visitor, app: name, partition: Self.partition(0), exchange: exchange(clientCount),
                    ledger: ledger)
                group.addTask { await visitor.visit(every: .seconds(4)) }
            }
            group.addTask { await self.watch() }
            await group.waitForAll()
        }
        for client in clients { await client.close() }
    }

    /// Counts changes as lost that have not come for half a minute.
    private func watch() async {
        var known = 0
        while !Task.isCancelled {
            try? await Task.sleep(for: .seconds(1))
            let missing = ledger.missing(after: .seconds(30))
            if missing > known { ledger.failed("\(missing - known) changes have not come in 30 s") }
            known = missing
        }
    }
}
