import ArgumentParser
import Foundation
import Synchronization

/// What a commit costs its realm's owner by the number of the realm's sessions.
struct CommitCost: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "commit-cost",
        abstract: "Commits to a flexible realm, by its sessions: milliseconds of the owner's processor time for each.")

    @OptionGroup var options: ClusterBenchOptions
    @Option(help: "Sessions that see nothing of the commits; repeated: the first is what the others are compared with.")
    var sessions: [Int] = [10, 5_000]
    @Option(help: "Commits, one after the other.") var commits = 1_000

    func validate() throws {
        guard commits > 0, !sessions.isEmpty, sessions.allSatisfy({ $0 > 0 }), sessions == sessions.sorted() else {
            throw ValidationError("expected commits, and numbers of sessions that grow")
        }
    }

    func run() async throws {
        let costs = Mutex<[Double]>([])
        try await BenchCluster.with(options, isFlexible: true) { cluster in
            let loop = LoadLoop()
            let author = try await loop.run { loop in
                try FlexibleRealm(cluster, loop).declare()
                let author = LoadClient(subscribingTo: FlexibleRealm.everything)
                try Fleet([author], on: loop).open(cluster)
                author.clientVersion = 10
                return SendableClient(author)
            }
            cluster.pauseIfAsked(options)
            var table = TextTable("sessions", "commits", "owner ms each", "gateway ms each", "seconds")
            for (index, count) in sessions.enumerated() {
                let before = index == 0 ? 0 : sessions[index - 1]
                let (usage, seconds) = try await loop.run { loop in
                    let more = (before..<count).map { LoadClient(subscribingTo: FlexibleRealm.own("none-\($0)")) }
                    try Fleet(more, on: loop).open(cluster)
                    // What their opening has left to do is not the commits'.
                    let calm = MonotonicTime.now + 3_000_000_000
                    try loop.serve("the sessions settle") { MonotonicTime.now >= calm }
                    let usage = ProcessUsage(of: cluster.processes)
                    let start = MonotonicTime.now
                    for _ in 0..<commits { try commit(author.client, loop) }
                    let seconds = MonotonicTime.seconds(MonotonicTime.now - start)
                    return (ProcessUsage(of: cluster.processes).seconds(since: usage), seconds)
                }
                func each(_ role: String) -> Double { (usage[role] ?? 0) * 1000 / Double(commits) }
                costs.withLock { $0.append(each("workers")) }
                table.row(
                    "\(count)", "\(commits)", each("workers").text(3), each("gateway").text(3), seconds.text(1))
            }
            table.show()
            try await loop.run { $0.disconnectAll() }
        }
        guard options.json else { return }
        let found = costs.withLock { $0 }
        for (count, cost) in zip(sessions, found) {
            Measurement(
                name: "commit-cost/\(count)", value: cost, unit: "ms", comparison: count == sessions[0] ? nil : found[0]
            ).printLine()
        }
    }

    /// Touched on its loop's thread only.
    private struct SendableClient: @unchecked Sendable {
        let client: LoadClient
        init(_ client: LoadClient) { self.client = client }
    }

    private func commit(_ author: LoadClient, _ loop: LoadLoop) throws {
        let load = try Workload(
            client: 2, changesets: 1, objects: 1, first: author.clientVersion + 1, seen: author.head.serverVersion,
            schema: false)
        author.clientVersion = load.lastVersion
        author.sendFrames(load.frames)
        try loop.serve("a commit is acknowledged", upTo: .seconds(30)) {
            author.head.uploadedClientVersion >= load.lastVersion
        }
    }
}
