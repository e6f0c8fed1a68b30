import ArgumentParser
import Foundation
import SyncModel
import Synchronization

/// How long a change takes from one client to another when there is little else to do.
struct Latency: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "latency",
        abstract: "From one client realm to another at light load: milliseconds from the UPLOAD to the DOWNLOAD.")

    @OptionGroup var options: ClusterBenchOptions
    @Option(help: "Changes, one after the other.") var samples = 1000
    @Option(help: "Milliseconds between a change's arrival and the next one, at most.") var gap = 20
    @Option(help: "Objects in each changeset.") var objects = 1
    @Flag(help: "In flexible mode, too, beside partition sync.") var flexible = false

    func validate() throws {
        guard samples > 0, gap >= 0 else { throw ValidationError("expected samples, and no negative gap") }
        guard !flexible || options.store.count == 1 else {
            throw ValidationError("expected one --store with --flexible, which compares the modes")
        }
    }

    func run() async throws {
        if flexible { return try await compareModes() }
        let medians = Mutex<[BenchStore: Double]>([:])
        try await BenchCluster.withEach(options) { clusters in
            let loop = LoadLoop()
            for cluster in clusters { cluster.pauseIfAsked(options) }
            var times: [BenchStore: [Double]] = [:]
            var usages: [BenchStore: String] = [:]
            // In turns, so that what else the machine does meets all stores alike.
            let rounds = clusters.count > 1 ? min(Self.turns, samples) : 1
            for round in 0..<rounds {
                for cluster in clusters {
                    let before = ProcessUsage(of: cluster.processes)
                    times[cluster.store, default: []] += try await loop.run { loop in
                        try sample(cluster, loop, samples / rounds, round)
                    }
                    usages[cluster.store] = ProcessUsage(of: cluster.processes).since(before)
                }
            }
            var table = TextTable("store", "samples", "median ms", "p90 ms", "p99 ms", "max ms", "CPU of the last turn")
            for store in options.store {
                let sorted = (times[store] ?? []).sorted()
                guard !sorted.isEmpty else { continue }
                func percentile(_ share: Double) -> Double {
                    sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))] * 1000
                }
                table.row(
                    store.name, "\(sorted.count)", percentile(0.5).text(2), percentile(0.9).text(2),
                    percentile(0.99).text(2), percentile(1).text(2), usages[store] ?? "")
                medians.withLock { $0[store] = percentile(0.5) }
            }
            table.show()
        }
        guard options.json else { return }
        let found = medians.withLock { $0 }
        for store in options.store {
            Measurement(
                name: "latency", store: options.store.count > 1 ? store : nil, value: found[store] ?? 0, unit: "ms",
                comparison: store == options.store.first ? nil : options.store.first.flatMap { found[$0] }
            ).printLine()
        }
    }

    private static let turns = 5

    /// The same in partition and in flexible mode, in turns, on one cluster.
    private func compareModes() async throws {
        let modes: [SyncMode] = [.partition, .flexible]
        let times = Mutex<[SyncMode: [Double]]>([:])
        try await BenchCluster.with(options, isFlexible: true) { cluster in
            let loop = LoadLoop()
            try await loop.run { try FlexibleRealm(cluster, $0).declare() }
            cluster.pauseIfAsked(options)
            let rounds = min(Self.turns, samples)
            var table = TextTable("mode", "turn", "samples", "median ms", "CPU")
            for round in 0..<rounds {
                for mode in modes {
                    let before = ProcessUsage(of: cluster.processes)
                    let found = try await loop.run { try sample(cluster, $0, samples / rounds, round, mode) }
                    times.withLock { $0[mode, default: []] += found }
                    table.row(
                        mode.rawValue, "\(round + 1)", "\(found.count)",
                        (found.sorted()[found.count / 2] * 1000).text(2),
                        ProcessUsage(of: cluster.processes).since(before))
                }
            }
            table.show()
        }
        let medians = times.withLock { times in
            modes.map { mode in
                let sorted = (times[mode] ?? []).sorted()
                return sorted.isEmpty ? 0 : sorted[sorted.count / 2] * 1000
            }
        }
        print(
            "median \(medians[0].text(2)) ms in partition mode, \(medians[1].text(2)) ms in flexible mode: "
                + "\((medians[1] / medians[0]).text(2)) times")
        if options.json {
            Measurement(name: "latency/flexible", value: medians[1], unit: "ms", comparison: medians[0]).printLine()
        }
    }

    private func sample(
        _ cluster: BenchCluster, _ loop: LoadLoop, _ samples: Int, _ round: Int, _ mode: SyncMode = .partition
    ) throws -> [Double] {
        func client() -> LoadClient {
            mode == .flexible
                ? LoadClient(subscribingTo: FlexibleRealm.everything) : LoadClient(partition: "latency-\(round)")
        }
        let sender = client()
        let receiver = client()
        try Fleet([sender, receiver], on: loop).open(cluster)
        sender.clientVersion = 10
        let warmUp = 20
        var times: [Double] = []
        var arrived: Int64 = 0
        receiver.onDownload = { client in if client.head.plainBytes > 0 { arrived = MonotonicTime.now } }
        receiver.reportsProgress = true
        for number in 0..<(samples + warmUp) {
            let load = try Workload(
                client: round, changesets: 1, objects: objects, first: sender.clientVersion + 1,
                seen: sender.head.serverVersion, schema: number == 0 && mode == .partition)
            sender.clientVersion = load.lastVersion
            arrived = 0
            let start = MonotonicTime.now
            sender.sendFrames(load.frames)
            try loop.serve("change \(number) arrives", upTo: .seconds(30)) { arrived > 0 }
            if number >= warmUp { times.append(MonotonicTime.seconds(arrived - start)) }
            // The sender's own acknowledgement, and a pause that is in step with nothing.
            let next = MonotonicTime.now + Int64.random(in: 0...Int64(gap) * 1_000_000)
            try loop.serve("change \(number) is acknowledged", upTo: .seconds(30)) {
                sender.head.uploadedClientVersion >= load.lastVersion && MonotonicTime.now >= next
            }
        }
        loop.disconnectAll()
        return times
    }
}
