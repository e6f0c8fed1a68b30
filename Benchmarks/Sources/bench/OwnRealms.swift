import ArgumentParser

/// Client realms that have nothing to do with each other: gateway, queue and store, and next to no merging.
struct OwnRealms: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "own-realms",
        abstract: "Client realms of their own, all uploading at once: changesets/s from the first UPLOAD to the last "
            + "acknowledgement.")

    @OptionGroup var options: ClusterBenchOptions
    @Option(help: "Clients, each with a realm of its own.") var clients = 50
    @Option(help: "Changesets of each.") var changesets = 100
    @Option(help: "Objects in each changeset.") var objects = 5
    @Option(help: "Runs, with fresh realms each; the best one counts.") var runs = 5

    func run() async throws {
        try await UploadRuns(name: "own-realms", options: options, runs: runs) { run in
            (0..<clients).map { client in
                UploadRuns.Client(
                    partition: "own-\(run)-\(client)", changesets: changesets, objects: objects, number: client)
            }
        }.measure()
    }
}

/// One client realm that was offline for long.
struct OneClient: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "one-client",
        abstract: "One client realm with many waiting changesets: changesets/s from the first UPLOAD to the last "
            + "acknowledgement.")

    @OptionGroup var options: ClusterBenchOptions
    @Option(help: "Its changesets.") var changesets = 5000
    @Option(help: "Objects in each changeset.") var objects = 1
    @Option(help: "Runs, with a fresh realm each; the best one counts.") var runs = 5

    func run() async throws {
        try await UploadRuns(name: "one-client", options: options, runs: runs) { run in
            [UploadRuns.Client(partition: "one-\(run)", changesets: changesets, objects: objects, number: 0)]
        }.measure()
    }
}

/// Uploads by clients of realms of their own, several times over in one cluster, or in one for each store in turns.
struct UploadRuns: Sendable {
    struct Client: Sendable {
        var partition: String
        var changesets: Int
        var objects: Int
        var number: Int
    }

    var name: String
    var options: ClusterBenchOptions
    var runs: Int
    var clients: @Sendable (Int) -> [Client]

    /// Shows the best rate of each store.
    func measure() async throws {
        let rates = StoreRates()
        try await BenchCluster.withEach(options) { clusters in
            let loop = LoadLoop()
            var table = TextTable("run", "store", "changesets", "kB", "s", "changesets/s", "CPU")
            for cluster in clusters { cluster.pauseIfAsked(options) }
            for run in 0..<runs {
                for cluster in clusters {
                    let before = ProcessUsage(of: cluster.processes)
                    let result = try await loop.run { loop in try once(run, cluster, loop) }
                    let usage = ProcessUsage(of: cluster.processes).since(before)
                    let rate = Double(result.changesets) / result.seconds
                    rates.note(rate, cluster.store)
                    progress("run \(run + 1) of \(runs), \(cluster.store.name): \(rate.text()) changesets/s")
                    table.row(
                        "\(run + 1)", cluster.store.name, "\(result.changesets)", "\(result.bytes / 1000)",
                        result.seconds.text(3), rate.text(), usage)
                }
            }
            table.show()
        }
        rates.show(name, options, unit: "changesets/s")
    }

    private struct Result {
        var changesets: Int
        var bytes: Int
        var seconds: Double
    }

    private func once(_ run: Int, _ cluster: BenchCluster, _ loop: LoadLoop) throws -> Result {
        let plan = clients(run)
        let loads = try plan.map {
            try Workload(client: $0.number, changesets: $0.changesets, objects: $0.objects, run: run)
        }
        let fleet = Fleet(plan.map { LoadClient(partition: $0.partition) }, on: loop)
        try fleet.open(cluster)
        let upload = try fleet.upload(loads)
        loop.disconnectAll()
        return Result(
            changesets: loads.reduce(0) { $0 + $1.changesets }, bytes: loads.reduce(0) { $0 + $1.bytes },
            seconds: upload.seconds)
    }
}
