import ArgumentParser
import Foundation
import Synchronization

/// What is sent when a client's subscriptions change, beside what the new ones select.
struct QueryChange: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "query-change",
        abstract:
            "A client of a flexible realm changes its query: bytes that come, beside those of the new query's data.")

    @OptionGroup var options: ClusterBenchOptions
    @Option(help: "Objects of the realm.") var objects = 100_000

    func validate() throws {
        guard objects >= 10 else { throw ValidationError("expected at least 10 objects") }
    }

    /// The steps of the client's query: how many of ten equal shares of the objects the client has, counted from the
    /// first.
    private static let steps = [5, 6, 4, 4, 10, 9]

    private struct Step {
        var from: Int
        var to: Int
        var seconds: Double
        var plain: UInt64
        var wire: UInt64
    }

    func run() async throws {
        let share = Mutex(0.0)
        try await BenchCluster.with(options, isFlexible: true) { cluster in
            let loop = LoadLoop()
            let steps = try await loop.run { loop in
                let realm = FlexibleRealm(cluster, loop)
                try realm.declare()
                try realm.fill(from: 0, to: objects, run: 1)
                let client = LoadClient(subscribingTo: [:])
                try Fleet([client], on: loop).open(cluster)
                var steps: [Step] = []
                for (index, to) in Self.steps.enumerated() {
                    steps.append(try change(client, loop, from: index == 0 ? 0 : Self.steps[index - 1], to: to))
                }
                client.disconnect()
                return steps
            }
            // The first set says what a share takes.
            let whole = Double(steps[0].plain) / Double(Self.steps[0])
            var table = TextTable(
                "query", "was", "come and go", "seconds", "bytes", "on the wire", "all of it would be")
            for step in steps {
                table.row(
                    "priority < \(step.to)", step.from == 0 ? "-" : "< \(step.from)",
                    "\(abs(step.to - step.from) * objects / 10)", step.seconds.text(2), "\(step.plain)", "\(step.wire)",
                    (whole * Double(step.to)).text())
            }
            table.show()
            // One tenth comes.
            share.withLock { $0 = Double(steps[1].plain) / (whole * Double(steps[1].to)) }
        }
        if options.json {
            Measurement(
                name: "query-change", value: share.withLock { $0 }, unit: "of the whole",
                comparison: 1 / Double(Self.steps[1])
            ).printLine()
        }
    }

    private func change(_ client: LoadClient, _ loop: LoadLoop, from: Int, to: Int) throws -> Step {
        let (plain, wire) = (client.plainBytes, client.wireBytes)
        let set = client.subscribed
        let start = MonotonicTime.now
        try client.subscribe(to: ["Task": "priority < \(to)"])
        try loop.serve("the data of a changed query has come", upTo: .seconds(300)) { client.subscribed > set }
        return Step(
            from: from, to: to, seconds: MonotonicTime.seconds(MonotonicTime.now - start),
            plain: client.plainBytes - plain, wire: client.wireBytes - wire)
    }
}
