import ArgumentParser
import Foundation
import LocalCluster
import Synchronization

/// How long it takes until every connected client realm of an app knows that it must reset.
struct Termination: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "termination",
        abstract: "A termination reaching connected client realms: seconds from the operator's command to the last "
            + "client-reset error.")

    @OptionGroup var options: ClusterBenchOptions
    @Option(help: "Connected client realms.") var sessions = 5000
    @Option(help: "Realms that they share.") var realms: Int?

    func validate() throws {
        guard sessions > 0, realms.map({ $0 > 0 }) ?? true else { throw ValidationError("expected at least one") }
    }

    func run() async throws {
        let seconds = Mutex(0.0)
        try await BenchCluster.with(options) { cluster in
            let loop = LoadLoop()
            try await loop.run { loop in
                let clients = (0..<sessions).map { LoadClient(partition: "connected-\($0 % (realms ?? sessions))") }
                try Fleet(clients, on: loop).open(cluster)
            }
            cluster.pauseIfAsked(options)
            let usage = ProcessUsage(of: cluster.processes)
            progress("terminating sync for \(sessions) connected client realms ...")
            let start = MonotonicTime.now
            async let told = loop.run { loop in try Self.told(sessions, loop) }
            let campaign = try await cluster.cluster.operateJSON(
                Campaign.self, "sync", "terminate", BenchCluster.app, "--yes", "--enable")
            let (first, last) = try await told
            let counts = try await LocalCluster.retrying("the campaign adds up", upTo: .seconds(120)) {
                let counts = try await cluster.cluster.operateJSON(
                    Shown.self, "campaigns", "show", campaign.campaign
                ).counts
                guard counts.found == sessions, counts.notified == sessions else {
                    throw BenchFailure("found \(counts.found), notified \(counts.notified) of \(sessions)")
                }
                return counts
            }
            let settled = MonotonicTime.seconds(MonotonicTime.now - start)
            let duration = MonotonicTime.seconds(last - start)
            seconds.withLock { $0 = duration }
            var table = TextTable(
                "client realms", "first told s", "last told s", "accounted s", "found", "notified", "CPU")
            table.row(
                "\(sessions)", MonotonicTime.seconds(first - start).text(2), duration.text(2), settled.text(2),
                "\(counts.found)", "\(counts.notified)", ProcessUsage(of: cluster.processes).since(usage))
            table.show()
            try await loop.run { $0.disconnectAll() }
        }
        if options.json { Measurement(name: "termination", value: seconds.withLock { $0 }, unit: "s").printLine() }
    }

    private struct Campaign: Decodable { var campaign: String }

    private struct Shown: Decodable {
        struct Counts: Decodable {
            var found: Int
            var notified: Int
        }
        var counts: Counts
    }

    /// When the first and the last client were told to reset.
    private static func told(_ sessions: Int, _ loop: LoadLoop) throws -> (first: Int64, last: Int64) {
        var told = 0
        var first: Int64 = 0
        var last: Int64 = 0
        for client in loop.all {
            client.onFailure = { client in
                guard client.failure?.code == 208 else {
                    throw BenchFailure("a client was not told to reset: \(client.failureText)")
                }
                last = MonotonicTime.now
                if told == 0 { first = last }
                told += 1
            }
        }
        try loop.serve("all \(sessions) client realms are told", upTo: .seconds(180)) { told == sessions }
        return (first, last)
    }
}
