import ArgumentParser
import Synchronization

/// Offline clients of one realm that come back together: every changeset meets all others, and goes to all others.
struct SharedRealm: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "shared-realm",
        abstract: "Clients of one realm, all uploading what they did offline at once: changesets/s until the last "
            + "acknowledgement, and until everybody has everything.")

    @OptionGroup var options: ClusterBenchOptions
    @Option(help: "Clients; several numbers, with commas between them, are measured one after the other.")
    var clients = "10,20,40,80"
    @Option(help: "Changesets of each.") var changesets = 100
    @Option(help: "Objects in each changeset.") var objects = 5
    @Option(help: "Runs of each number, with a fresh realm each; the best one counts.") var runs = 3

    func run() async throws {
        let numbers = clients.split(separator: ",").compactMap { Int($0) }
        guard !numbers.isEmpty, numbers.allSatisfy({ $0 > 0 }) else {
            throw ValidationError("--clients: expected numbers with commas between them")
        }
        let last = Mutex(0.0)
        try await BenchCluster.with(options) { cluster in
            let loop = LoadLoop()
            var table = TextTable(
                "clients", "changesets", "acknowledged s", "changesets/s", "downloaded s", "each received", "DOWNLOADs",
                "plain MB", "CPU")
            cluster.pauseIfAsked(options)
            for number in numbers {
                var best: (result: Result, usage: String)?
                for run in 0..<runs {
                    let before = ProcessUsage(of: cluster.processes)
                    let result = try await loop.run { loop in try once(number, run, cluster, loop) }
                    progress("\(number) clients, run \(run + 1) of \(runs): \(result.rate.text()) changesets/s")
                    if result.rate > best?.result.rate ?? 0 {
                        best = (result, ProcessUsage(of: cluster.processes).since(before))
                    }
                }
                guard let (result, usage) = best else { continue }
                last.withLock { $0 = result.rate }
                table.row(
                    "\(number)", "\(result.changesets)", result.acknowledged.text(3), result.rate.text(),
                    result.downloaded.text(3), "\(result.received)", "\(result.downloads)",
                    (Double(result.plainBytes) / 1e6).text(1), usage)
            }
            table.show()
        }
        if options.json {
            Measurement(name: "shared-realm", value: last.withLock { $0 }, unit: "changesets/s").printLine()
        }
    }

    private struct Result {
        var changesets: Int
        var acknowledged: Double
        var downloaded: Double
        /// Changesets of others that every client received; all the same, or the run fails.
        var received: Int
        var downloads: Int
        var plainBytes: UInt64
        var rate: Double { Double(changesets) / acknowledged }
    }

    private func once(_ number: Int, _ run: Int, _ cluster: BenchCluster, _ loop: LoadLoop) throws -> Result {
        let loads = try (0..<number).map {
            try Workload(client: $0, changesets: changesets, objects: objects, run: run)
        }
        let all = loads.reduce(0) { $0 + $1.changesets }
        let clients = loads.map { _ in LoadClient(partition: "shared-\(number)-\(run)") }
        let fleet = Fleet(clients, on: loop)
        try fleet.open(cluster)
        for client in clients {
            client.keepsBodies = true
            client.reportsProgress = true
        }
        let downloadsBefore = clients.reduce(0) { $0 + $1.downloads }
        let upload = try fleet.upload(loads)
        // A client that wrote the last versions itself is told of them only when it asks.
        for client in clients { try client.send(.mark(session: LoadClient.session, request: 1)) }
        try loop.serve("every client has everything", upTo: .seconds(300)) { clients.allSatisfy(\.isMarked) }
        let downloaded = MonotonicTime.seconds(MonotonicTime.now - upload.start)
        let received = try clients.map { try $0.countDownloaded() }
        let expected = zip(loads, received).map { all - $0.0.changesets - $0.1 }
        guard expected.allSatisfy({ $0 == 0 }) else {
            throw BenchFailure("the clients received \(received), expected \(all - changesets) each")
        }
        let result = Result(
            changesets: all, acknowledged: upload.seconds, downloaded: downloaded, received: received.first ?? 0,
            downloads: clients.reduce(0) { $0 + $1.downloads } - downloadsBefore,
            plainBytes: clients.reduce(0) { $0 + $1.plainBytes })
        loop.disconnectAll()
        return result
    }
}
