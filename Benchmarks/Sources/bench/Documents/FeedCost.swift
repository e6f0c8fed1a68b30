import ArgumentParser
import Foundation
import Synchronization

/// What the change feed costs the owners of slices at full load.
struct FeedCost: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "feed-cost",
        abstract:
            "Client realms of their own, all uploading at once, with the feed off and on: milliseconds of the owners' "
            + "processor time for each changeset.",
        discussion: """
            To compare with a release that has no feed: bench feed-cost --untouched --sluice PATH-OF-THAT-RELEASE, and the same with \
            this one.
            """)

    @OptionGroup var options: ClusterBenchOptions
    @Option(help: "Clients, each with a realm of its own.") var clients = 50
    @Option(help: "Changesets of each, for each mode and run.") var changesets = 100
    @Option(help: "Objects in each changeset.") var objects = 5
    @Option(help: "Runs of each mode, in turns; the median counts.") var runs = 5
    @Flag(help: "Leave the feed as an app has it that is made: nothing is set, and nobody follows.") var untouched =
        false

    private struct Cost: Sendable {
        var owner: Double
        var rate: Double
        var changes: Int
    }

    func run() async throws {
        let modes = untouched ? ["untouched"] : ["off", "keys", "documents"]
        let costs = Mutex<[String: [Cost]]>([:])
        try await BenchCluster.with(options) { cluster in
            let loop = LoadLoop()
            let backend = untouched ? nil : try await BenchBackend.open(cluster, following: BenchCluster.app)
            cluster.pauseIfAsked(options)
            // The first run warms up, and does not count.
            for run in 0...runs {
                for (index, mode) in modes.enumerated() {
                    if !untouched {
                        try await cluster.cluster.operate("apps", "set", BenchCluster.app, "--change-feed", mode)
                        // Owners hear of the setting within a second or two.
                        try await Task.sleep(for: .seconds(3))
                    }
                    let cost = try await loop.run { loop in
                        try once(run * modes.count + index, tells: mode != "off", cluster, loop, backend)
                    }
                    guard run > 0 else { continue }
                    costs.withLock { $0[mode, default: []].append(cost) }
                    progress(
                        "run \(run) of \(runs), \(mode): \(cost.owner.text(3)) ms, \(cost.rate.text()) changesets/s")
                }
            }
            await backend?.close()
        }
        let found = costs.withLock { $0 }
        func median(_ mode: String, _ value: (Cost) -> Double) -> Double {
            let sorted = (found[mode] ?? []).map(value).sorted()
            return sorted.isEmpty ? 0 : sorted[sorted.count / 2]
        }
        let base = median(modes[0], \.owner)
        var table = TextTable("feed", "owner ms each", "more than \(modes[0])", "changesets/s", "changes")
        for mode in modes {
            let share = 100 * (median(mode, \.owner) / max(base, 0.001) - 1)
            table.row(
                mode, median(mode, \.owner).text(3), mode == modes[0] ? "" : "\(share.text(1)) %",
                median(mode, \.rate).text(), "\(found[mode]?.last?.changes ?? 0)")
        }
        table.show()
        guard options.json else { return }
        for mode in modes {
            Measurement(
                name: "feed-cost/\(mode)", value: median(mode, \.owner), unit: "ms",
                comparison: mode == modes[0] ? nil : base
            ).printLine()
        }
    }

    private func once(
        _ number: Int, tells: Bool, _ cluster: BenchCluster, _ loop: LoadLoop, _ backend: BenchBackend?
    ) throws -> Cost {
        let loads = try (0..<clients).map {
            try Workload(client: $0, changesets: changesets, objects: objects, run: number)
        }
        let fleet = Fleet((0..<clients).map { LoadClient(partition: "feed-\(number)-\($0)") }, on: loop)
        try fleet.open(cluster)
        let count = clients * changesets
        let before = try backend?.changes.count ?? 0
        let usage = ProcessUsage(of: cluster.processes)
        let upload = try fleet.upload(loads)
        if tells, let backend {
            // What is told of them belongs to them.
            try loop.serve("all changes are told", upTo: .seconds(120)) {
                try backend.changes.count >= before + count * objects
            }
        }
        let spent = ProcessUsage(of: cluster.processes).seconds(since: usage)["workers"] ?? 0
        loop.disconnectAll()
        return Cost(
            owner: spent * 1000 / Double(count), rate: Double(count) / upload.seconds,
            changes: try (backend?.changes.count ?? 0) - before)
    }
}
