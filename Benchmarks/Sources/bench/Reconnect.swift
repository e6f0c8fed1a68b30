import ArgumentParser
import Foundation
import LocalCluster
import Synchronization

/// How long the clients of a gateway are without service when it is killed and all of them come to the others at once.
struct Reconnect: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reconnect",
        abstract: "A gateway is killed whose sessions are each in a realm of its own: seconds until the last one is "
            + "bound at another gateway and was served there.")

    @OptionGroup var options: ClusterBenchOptions
    @Option(help: "Sessions, each on a socket and in a realm of its own.") var sessions = 10_000
    @Option(help: "Gateways that are left.") var survivors = 1
    @Option(help: "Seconds over which the clients come back; 0 is all at once.") var spread = 0.0
    @Option(help: "Seconds that the gateways are watched afterwards.") var watch = 0.0

    func validate() throws {
        guard (1...14_000).contains(sessions) else { throw ValidationError("expected 1 to 14000 sessions") }
        guard (1...8).contains(survivors) else { throw ValidationError("expected 1 to 8 gateways that are left") }
        guard spread >= 0, watch >= 0 else { throw ValidationError("expected no negative seconds") }
    }

    func run() async throws {
        let seconds = Mutex(0.0)
        try await BenchCluster.with(options) { cluster in
            var ports: [Int] = []
            for number in 0..<survivors {
                let port = FreePort.next()
                try await cluster.cluster.start("gateway-\(number + 2)", "gateway", "--port", "\(port)")
                _ = try await LocalCluster.retrying("gateway-\(number + 2) answers") {
                    try await AnonymousLogin.accessToken(port: port, app: BenchCluster.app)
                }
                ports.append(port)
            }
            let loop = LoadLoop()
            try await loop.run { loop in
                try Fleet((0..<sessions).map { LoadClient(partition: "storm-\($0)") }, on: loop).open(cluster)
            }
            let bindingsBefore = try await Self.bindings(cluster)
            cluster.pauseIfAsked(options)
            try await Task.sleep(for: .seconds(3))
            guard let pid = cluster.cluster.processIdentifiers["gateway"] else { throw BenchFailure("no gateway runs") }
            let others = cluster.processes.filter { $0.name != "gateway" }
            let usage = ProcessUsage(of: others)
            progress("killing the gateway of \(sessions) sessions ...")
            let storm = ReconnectStorm(sessions, to: ports, spread: spread, token: cluster.accessToken)
            let served = try await loop.run { loop in try storm.run(loop) { kill(pid, SIGKILL) } }
            let used = ProcessUsage(of: others).seconds(since: usage)
            await cluster.cluster.kill("gateway")
            let bindings = try await Self.bindings(cluster)
            let last = served.last ?? 0
            seconds.withLock { $0 = last }
            var table = TextTable(
                "sessions", "median s", "p90 s", "p99 s", "last s", "came again", "ms a session: gateways", "workers",
                "broker", "load", "bindings before", "after")
            func each(_ role: String) -> String { ((used[role] ?? 0) * 1000 / Double(sessions)).text(2) }
            table.row(
                "\(sessions)", served.at(0.5), served.at(0.9), served.at(0.99), last.text(2), "\(storm.failures)",
                each("gateways"), each("workers"), each("broker"), each("load"), "\(bindingsBefore)", "\(bindings)")
            table.show()
            if watch > 0 {
                let usage = ProcessUsage(of: others)
                try await loop.run { loop in
                    let end = MonotonicTime.now + Int64(watch * 1e9)
                    try loop.serve("the storm is over", upTo: .seconds(watch + 60)) { MonotonicTime.now >= end }
                }
                print(
                    "the \(watch.text()) s after it: CPU \(ProcessUsage(of: others).since(usage)), "
                        + "bindings \(try await Self.bindings(cluster))")
            }
            try await loop.run { $0.disconnectAll() }
        }
        if options.json { Measurement(name: "reconnect", value: seconds.withLock { $0 }, unit: "s").printLine() }
    }

    /// Bindings of the gateways' queues at the exchange of notices.
    private static func bindings(_ cluster: BenchCluster) async throws -> Int {
        let exchange = "\(cluster.cluster.prefix).realms"
        return try await cluster.control("list_bindings", "--silent", "source_name").split(separator: "\n")
            .count { $0 == exchange }
    }
}

/// Clients that all lose their gateway at one moment and go to others.
///
/// Touched on its loop's thread only, but for `failures`, which is read when the storm is over.
final class ReconnectStorm: @unchecked Sendable {
    private let sessions: Int
    private let ports: [Int]
    private let spread: Double
    private let token: String
    private var due: [(at: Int64, client: LoadClient)] = []
    private var nextDue = 0
    /// The clients that were sent away by an error, and come again a second later.
    private var again: [(at: Int64, client: LoadClient)] = []
    /// How often a client had to come again.
    private(set) var failures = 0
    private var turn = 0

    init(_ sessions: Int, to ports: [Int], spread: Double, token: String) {
        (self.sessions, self.ports, self.spread, self.token) = (sessions, ports, spread, token)
    }

    /// - Parameter begin: takes the gateway away.
    /// - Returns: after how many seconds each client was served, in order.
    func run(_ loop: LoadLoop, _ begin: () -> Void) throws -> [Double] {
        var served: [Double] = []
        var start: Int64 = 0
        var isLost = Set<ObjectIdentifier>()
        for client in loop.all {
            client.onMark = { _ in served.append(MonotonicTime.seconds(MonotonicTime.now - start)) }
            client.onFailure = { [unowned self] client in
                let now = MonotonicTime.now
                if isLost.insert(ObjectIdentifier(client)).inserted {
                    due.append((now + Int64(Double.random(in: 0...1) * spread * 1e9), client))
                } else {
                    if failures == 0 { progress("sent away: \(client.failureText)") }
                    failures += 1
                    client.disconnect()
                    again.append((now + 1_000_000_000, client))
                }
            }
        }
        start = MonotonicTime.now
        begin()
        try loop.serve("all of \(sessions) sessions are served again", upTo: .seconds(300)) {
            try connect(loop)
            return served.count == sessions
        }
        return served.sorted()
    }

    private func connect(_ loop: LoadLoop) throws {
        let now = MonotonicTime.now
        if spread > 0, nextDue < due.count { due[nextDue...].sort { $0.at < $1.at } }
        // What comes from the gateways has its turn between the connects.
        var count = 0
        while count < 256, nextDue < due.count, due[nextDue].at <= now {
            try connect(due[nextDue].client, loop)
            nextDue += 1
            count += 1
        }
        while let next = again.first, next.at <= now {
            again.removeFirst()
            try connect(next.client, loop)
        }
    }

    private func connect(_ client: LoadClient, _ loop: LoadLoop) throws {
        turn += 1
        try loop.connect(client, port: ports[turn % ports.count], token: token)
    }
}

extension [Double] {
    /// A percentile of sorted seconds.
    fileprivate func at(_ share: Double) -> String { self[safe: Int(Double(count) * share)].text(2) }
}
