import ArgumentParser
import Foundation
import Synchronization

/// What an idle session costs a gateway in memory.
struct Sessions: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sessions",
        abstract: "Idle sessions on one gateway, each on a socket and in a realm of its own: kB of memory for each.")

    @OptionGroup var options: ClusterBenchOptions
    @Option(help: "Sessions.") var sessions = 5000
    @Option(help: "Realms that they share.") var realms: Int?
    @Flag(help: "In flexible mode: all in one realm, each with a subscription of its own.") var flexible = false
    @Option(help: "Seconds of idleness before the memory is read.") var settle = 15.0

    func validate() throws {
        guard sessions > 0, realms.map({ $0 > 0 }) ?? true else { throw ValidationError("expected at least one") }
    }

    func run() async throws {
        let each = Mutex(0.0)
        try await BenchCluster.with(options, isFlexible: flexible) { cluster in
            let loop = LoadLoop()
            if flexible { try await loop.run { try FlexibleRealm(cluster, $0).declare() } }
            guard let gateway = cluster.cluster.processIdentifiers["gateway"] else {
                throw BenchFailure("the gateway does not run")
            }
            cluster.pauseIfAsked(options)
            // A few come and go first: what the process needs once is not the sessions'.
            try await loop.run { loop in
                try Fleet((0..<20).map { client($0, "first") }, on: loop).open(cluster)
                loop.disconnectAll()
            }
            try await Task.sleep(for: .seconds(2))
            let before = ProcessUsage.residentKilobytes(of: gateway)
            let usage = ProcessUsage(of: cluster.processes)
            let opening = try await loop.run { loop in
                let start = MonotonicTime.now
                let clients = (0..<sessions).map { client($0, "idle") }
                try Fleet(clients, on: loop).open(cluster)
                let opened = MonotonicTime.now
                let end = opened + Int64(settle * 1e9)
                try loop.serve("the sessions settle", upTo: .seconds(settle + 60)) { MonotonicTime.now >= end }
                return MonotonicTime.seconds(opened - start)
            }
            let after = ProcessUsage.residentKilobytes(of: gateway)
            let kilobytes = Double(after - before) / Double(sessions)
            each.withLock { $0 = kilobytes }
            var table = TextTable("sessions", "opened s", "gateway before kB", "with them kB", "each kB", "CPU")
            table.row(
                "\(sessions)", opening.text(1), "\(before)", "\(after)", kilobytes.text(1),
                ProcessUsage(of: cluster.processes).since(usage))
            table.show()
            try await loop.run { $0.disconnectAll() }
        }
        if options.json {
            Measurement(name: flexible ? "sessions/flexible" : "sessions", value: each.withLock { $0 }, unit: "kB")
                .printLine()
        }
    }

    private func client(_ number: Int, _ name: String) -> LoadClient {
        flexible
            ? LoadClient(subscribingTo: FlexibleRealm.own("\(name)-\(number)"))
            : LoadClient(partition: "\(name)-\(number % (realms ?? sessions))")
    }
}
