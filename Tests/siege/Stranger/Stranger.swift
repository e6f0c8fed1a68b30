import LocalCluster
import SeededRandom
import SyncModel

/// An attacker from outside: knows where the cluster listens, may make users in the apps that are open to it, and has
/// until its deadline.
final class Stranger: Sendable {
    /// What a stranger knows of the cluster.
    struct Target: Codable, Sendable {
        var gatewayPorts: [Int]
        var coordinatorPort: Int
        /// An app of its own, in which every user may write everything.
        var app: String
        /// An app in which it may make users, who may read the partition `notices` and only their own beside it.
        var guarded: String
        /// An app whose users log in by tokens of a service that the stranger runs, and the port where that publishes its keys.
        var keyed: String
        var keyPort: Int
        /// The app beside its own, of which it knows nothing but the name, a partition and a user's address.
        var honest: String
        var honestPartition: String
        var honestEmail: String
        /// Flexible apps in which it may make users.
        var flexible: FlexibleTargets
    }

    let target: Target
    let random: SeededGenerator
    let tally = Tally()
    let deadline: ContinuousClock.Instant

    init(_ target: Target, seed: UInt64, seconds: Double) {
        self.target = target
        random = SeededGenerator(seed: seed)
        deadline = .now + .seconds(seconds)
    }

    var isOver: Bool { ContinuousClock.now >= deadline || Task.isCancelled }

    /// Returns one of the addresses that strangers come from, none of which is the honest app's.
    static func address(_ number: Int) -> String { "127.0.\(2 + number / 250 % 200).\(1 + number % 250)" }

    func port(_ number: Int) -> Int { target.gatewayPorts[number % target.gatewayPorts.count] }

    func exchange(_ number: Int) -> HTTPExchange {
        HTTPExchange(port: port(number), source: Self.address(number), tally: tally)
    }

    /// A new anonymous user.
    func account(_ number: Int, app: String? = nil) async throws -> Account {
        try await Account.anonymous(of: app ?? target.app, exchange(number))
    }

    /// The connection of a new anonymous user.
    func line(_ number: Int, app: String? = nil, receiveBuffer: Int? = nil) async throws -> Line {
        try await line(number, of: account(number, app: app), receiveBuffer: receiveBuffer)
    }

    func line(
        _ number: Int, of account: Account, mode: SyncMode = .partition, receiveBuffer: Int? = nil
    ) async throws -> Line {
        try await Line.open(account, port: port(number), tally, mode: mode, receiveBuffer: receiveBuffer)
    }

    /// What one of several that attack at once goes by.
    struct Lane: Sendable {
        var number: Int
        /// How often this lane has begun.
        var round: Int
        var random: SeededGenerator
    }

    /// Runs `count` lanes side by side until the deadline. A lane that was refused or has come to its end begins anew,
    /// after a moment.
    func lanes(
        _ count: Int, rest: Duration = .milliseconds(100), _ body: @escaping @Sendable (inout Lane) async throws -> Void
    ) async {
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<count {
                group.addTask { [random] in
                    var lane = Lane(number: number, round: 0, random: random.fork(number))
                    while !self.isOver {
                        do { try await body(&lane) } catch {}
                        lane.round += 1
                        try? await Task.sleep(for: rest)
                    }
                }
            }
        }
    }
}
