import ArgumentParser
import ExtendedJSON
import Foundation
import SyncModel
import Synchronization

/// How long a change takes from a backend to a device, and from a device to a backend, beside what it takes between devices.
struct DocumentLatency: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "document-latency",
        abstract: "From `write` to a device's DOWNLOAD, and from a device's UPLOAD to a consumer of the change feed: "
            + "milliseconds, beside device to device.")

    @OptionGroup var options: ClusterBenchOptions
    @Option(help: "Changes of each kind, one after the other.") var samples = 500
    @Option(help: "Milliseconds between a change's arrival and the next one, at most.") var gap = 20
    @Option(help: "What the feed tells: keys or documents.") var feed = "documents"
    @Flag(help: "In flexible mode instead of partition sync.") var flexible = false

    func validate() throws {
        guard samples > 0, gap >= 0, ["keys", "documents"].contains(feed) else {
            throw ValidationError("expected samples, no negative gap, and a feed of keys or documents")
        }
    }

    /// A way that changes go.
    private enum Way: String, CaseIterable {
        case deviceToDevice = "device-to-device"
        case deviceToFeed = "device-to-feed"
        case writeToDevice = "write-to-device"
        case writeToFeed = "write-to-feed"
    }

    private static let turns = 5

    func run() async throws {
        let found = Mutex<[Way: [Double]]>([:])
        try await BenchCluster.with(options, isFlexible: flexible) { cluster in
            let loop = LoadLoop()
            let app = flexible ? BenchCluster.flexibleApp : BenchCluster.app
            if flexible { try await loop.run { try FlexibleRealm(cluster, $0).declare() } }
            try await cluster.cluster.operate("apps", "set", app, "--change-feed", feed)
            let backend = try await BenchBackend.open(cluster, following: app)
            // Owners hear of the setting within a second or two.
            try await Task.sleep(for: .seconds(3))
            cluster.pauseIfAsked(options)
            let rounds = min(Self.turns, samples)
            for round in 0..<rounds {
                let times = try await loop.run { try sample(cluster, $0, backend, samples / rounds, round) }
                found.withLock { $0.merge(times) { $0 + $1 } }
                progress("turn \(round + 1) of \(rounds)")
            }
            await backend.close()
        }
        show(found.withLock { $0.mapValues { $0.sorted() } })
    }

    private func show(_ times: [Way: [Double]]) {
        func percentile(_ way: Way, _ share: Double) -> Double {
            guard let sorted = times[way], !sorted.isEmpty else { return 0 }
            return sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))] * 1000
        }
        let base = percentile(.deviceToDevice, 0.5)
        var table = TextTable("way", "samples", "median ms", "p90 ms", "p99 ms", "times device to device")
        for way in Way.allCases {
            table.row(
                way.rawValue, "\(times[way]?.count ?? 0)", percentile(way, 0.5).text(2), percentile(way, 0.9).text(2),
                percentile(way, 0.99).text(2), (percentile(way, 0.5) / max(base, 0.001)).text(2))
        }
        table.show()
        guard options.json else { return }
        for way in Way.allCases {
            Measurement(
                name: "document-latency/\(way.rawValue)", value: percentile(way, 0.5), unit: "ms",
                comparison: way == .deviceToDevice ? nil : base
            ).printLine()
        }
    }

    /// One after the other, in turns, a change of a device and one of the backend.
    private func sample(
        _ cluster: BenchCluster, _ loop: LoadLoop, _ backend: BenchBackend, _ samples: Int, _ round: Int
    ) throws -> [Way: [Double]] {
        let partition = "documents-\(round)"
        func client() -> LoadClient {
            flexible ? LoadClient(subscribingTo: FlexibleRealm.everything) : LoadClient(partition: partition)
        }
        let realm =
            flexible
            ? RealmName(flexible: BenchCluster.flexibleApp)
            : RealmName(app: BenchCluster.app, partition: RealmName.partition(fromText: partition))
        let sender = client()
        let receiver = client()
        try Fleet([sender, receiver], on: loop).open(cluster)
        sender.clientVersion = 10
        var arrived: Int64 = 0
        receiver.onDownload = { client in if client.head.plainBytes > 0 { arrived = MonotonicTime.now } }
        receiver.reportsProgress = true
        var times: [Way: [Double]] = [:]
        let warmUp = 20
        for number in 0..<(samples + warmUp) {
            for isDevice in [true, false] {
                arrived = 0
                let before = try backend.changes.count
                let start: Int64
                if isDevice {
                    let load = try Workload(
                        client: round, changesets: 1, objects: 1, first: sender.clientVersion + 1,
                        seen: sender.head.serverVersion, schema: number == 0 && !flexible)
                    sender.clientVersion = load.lastVersion
                    start = MonotonicTime.now
                    sender.sendFrames(load.frames)
                } else {
                    let write = Self.write(number, round)
                    start = MonotonicTime.now
                    try backend.send(write, to: realm)
                }
                try loop.serve("change \(number) arrives at a device and a backend", upTo: .seconds(30)) {
                    try arrived > 0 && backend.changes.count > before
                }
                if number >= warmUp {
                    times[isDevice ? .deviceToDevice : .writeToDevice, default: []]
                        .append(MonotonicTime.seconds(arrived - start))
                    times[isDevice ? .deviceToFeed : .writeToFeed, default: []]
                        .append(MonotonicTime.seconds(try backend.changes.last - start))
                }
                // What is still on its way, and a pause that is in step with nothing.
                let next = MonotonicTime.now + Int64.random(in: 0...Int64(gap) * 1_000_000)
                try loop.serve("change \(number) is acknowledged", upTo: .seconds(30)) {
                    sender.head.uploadedClientVersion >= sender.clientVersion && MonotonicTime.now >= next
                }
            }
        }
        loop.disconnectAll()
        return times
    }

    /// Makes an object as the devices make them.
    private static func write(_ number: Int, _ round: Int) -> BSONDocument {
        // No device makes such a key.
        let id = String(format: "beefbeef%04x%012x", round, number)
        return [
            "insert": "Task",
            "document": [
                "_id": ["$oid": BSONValue(id)], "title": BSONValue("Task \(number) of a backend"),
                "isDone": .bool(number.isMultiple(of: 2)), "priority": BSONValue(Int64(number % 10)),
            ],
        ]
    }
}
