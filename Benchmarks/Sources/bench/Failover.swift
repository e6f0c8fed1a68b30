import ArgumentParser
import Foundation
import Synchronization

/// How long the slices of a worker are without an owner when it dies, and when it is told to go.
struct Failover: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "failover",
        abstract: "A worker is killed, and another one drained, under load: seconds until every realm of its is "
            + "served again.")

    @OptionGroup var options: ClusterBenchOptions
    @Option(help: "Realms, each with one client that uploads all the time.") var realms = 64
    @Option(help: "Milliseconds between a client's uploads.") var interval = 50
    @Option(help: "Seconds that each interruption is watched, at least, and the cluster left alone between the two.")
    var watch = 5.0

    func validate() throws {
        guard options.workers >= 2, realms > 0 else { throw ValidationError("expected 2 workers or more, and a realm") }
        guard watch > 0, interval >= 0 else {
            throw ValidationError("expected seconds to watch, and no negative interval")
        }
    }

    private struct Slice: Decodable { var owner: String? }

    /// Seconds that an acknowledgement does not take otherwise.
    private static let noticeable = 0.2

    func run() async throws {
        let killed = Mutex(0.0)
        try await BenchCluster.with(options) { cluster in
            let loop = LoadLoop()
            let steady = SteadyLoad()
            try await loop.run { loop in
                try steady.open(realms, interval: interval, cluster, loop)
                try steady.serve(loop, for: 2)
            }
            var table = TextTable(
                "worker", "slices", "realms hit of \(realms)", "back after s", "median s", "ended sessions")
            for (name, isKill) in [("worker-1", true), ("worker-2", false)] {
                // The next one leaves a whole cluster.
                let owned = try await Self.slices(of: name, cluster)
                guard owned > 0 else { throw BenchFailure("\(name) owns no slice: expected more of them, --slices") }
                progress("\(isKill ? "killing" : "draining") \(name), owner of \(owned) slices ...")
                guard let pid = cluster.cluster.processIdentifiers[name] else { throw BenchFailure("no \(name)") }
                let result = try await loop.run { loop in
                    try steady.interruption(loop, watching: watch) { kill(pid, isKill ? SIGKILL : SIGTERM) }
                }
                await cluster.cluster.stop(name)
                let back = result.gaps.max() ?? 0
                if isKill { killed.withLock { $0 = back } }
                table.row(
                    "\(name) \(isKill ? "killed" : "drained")", "\(owned)",
                    "\(result.gaps.filter { $0 > Self.noticeable }.count)", back.text(2),
                    result.gaps.sorted()[safe: result.gaps.count / 2].text(2), "\(result.endedSessions)")
                if isKill {
                    try await cluster.cluster.startWorker(name)
                    async let balanced: Void = Self.balanced(cluster, options)
                    try await loop.run { loop in try steady.serve(loop, for: watch) }
                    try await balanced
                }
            }
            table.show()
            try await loop.run { $0.disconnectAll() }
        }
        if options.json { Measurement(name: "failover", value: killed.withLock { $0 }, unit: "s").printLine() }
    }

    /// How many slices a worker owns: it may still be taking them over.
    private static func slices(of worker: String, _ cluster: BenchCluster) async throws -> Int {
        let deadline = ContinuousClock.now + .seconds(30)
        while true {
            let slices = try await cluster.cluster.operateJSON([Slice].self, "slices")
            let owned = slices.filter { $0.owner == worker }.count
            if owned > 0 || .now > deadline { return owned }
            try await Task.sleep(for: .milliseconds(200))
        }
    }

    private static func balanced(_ cluster: BenchCluster, _ options: ClusterBenchOptions) async throws {
        try await cluster.cluster.waitUntilReady(workers: options.workers)
    }
}

extension [Double] {
    subscript(safe index: Int) -> Double { indices.contains(index) ? self[index] : 0 }
}
