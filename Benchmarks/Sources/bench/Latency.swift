import ArgumentParser
import Foundation
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

    func validate() throws {
        guard samples > 0, gap >= 0 else { throw ValidationError("expected samples, and no negative gap") }
    }

    func run() async throws {
        let median = Mutex(0.0)
        try await BenchCluster.with(options) { cluster in
            let loop = LoadLoop()
            cluster.pauseIfAsked(options)
            let before = ProcessUsage(of: cluster.processes)
            let times = try await loop.run { loop in try sample(cluster, loop) }.sorted()
            func percentile(_ share: Double) -> Double {
                times[min(times.count - 1, Int(Double(times.count) * share))] * 1000
            }
            var table = TextTable("samples", "median ms", "p90 ms", "p99 ms", "max ms", "CPU")
            table.row(
                "\(times.count)", percentile(0.5).text(2), percentile(0.9).text(2), percentile(0.99).text(2),
                percentile(1).text(2), ProcessUsage(of: cluster.processes).since(before))
            table.show()
            median.withLock { $0 = percentile(0.5) }
        }
        if options.json { Measurement(name: "latency", value: median.withLock { $0 }, unit: "ms").printLine() }
    }

    private func sample(_ cluster: BenchCluster, _ loop: LoadLoop) throws -> [Double] {
        let sender = LoadClient(partition: "latency")
        let receiver = LoadClient(partition: "latency")
        try Fleet([sender, receiver], on: loop).open(cluster)
        sender.clientVersion = 10
        let warmUp = 20
        var times: [Double] = []
        var arrived: Int64 = 0
        receiver.onDownload = { client in if client.head.plainBytes > 0 { arrived = MonotonicTime.now } }
        receiver.reportsProgress = true
        for number in 0..<(samples + warmUp) {
            let load = try Workload(
                client: 0, changesets: 1, objects: objects, first: sender.clientVersion + 1,
                seen: sender.head.serverVersion, schema: number == 0)
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
