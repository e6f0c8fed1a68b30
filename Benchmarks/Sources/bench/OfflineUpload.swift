import ArgumentParser
import Changesets
import Foundation
import SeededRandom
import SyncModel
import SyncProtocol
import Synchronization

/// What a client wrote in a month offline, on its way into a realm that others have written to meanwhile: the server's side of `offline-client`.
struct OfflineUpload: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "offline-upload",
        abstract: "A client uploads what it wrote offline over what others wrote meanwhile: seconds until all of it is "
            + "acknowledged, by partition sync and in flexible mode.")

    @OptionGroup var options: ClusterBenchOptions
    @Option(help: "Changesets that the client made offline.") var local = 10_000
    @Option(help: "Changesets that the others made meanwhile.") var remote = 100_000
    @Option(help: "Objects that both sides knew before.") var objects = 40_000
    @Option(help: "How many of these both sides change.") var shared = 10_000
    @Option(help: "partition, flexible, or both.") var mode = "both"

    func validate() throws {
        guard local > 0, remote > 0, shared > 0, shared <= objects else {
            throw ValidationError("expected changesets, and objects of which some are shared")
        }
        guard ["partition", "flexible", "both"].contains(mode) else {
            throw ValidationError("--mode: expected partition, flexible or both")
        }
    }

    private struct Result {
        var seconds: Double
        var usage: String
        var written: Double
    }

    func run() async throws {
        let results = Mutex<[String: Double]>([:])
        try await BenchCluster.with(options, isFlexible: true) { cluster in
            let loop = LoadLoop()
            var table = TextTable("mode", "offline", "meanwhile", "acknowledged s", "meanwhile took s", "CPU")
            for mode in mode == "both" ? ["partition", "flexible"] : [mode] {
                cluster.pauseIfAsked(options)
                let result = try await loop.run { loop in try once(mode, cluster, loop) }
                results.withLock { $0[mode] = result.seconds }
                table.row(
                    mode, "\(local)", "\(remote)", result.seconds.text(2), result.written.text(1), result.usage)
            }
            table.show()
        }
        guard options.json else { return }
        let found = results.withLock { $0 }
        for (mode, seconds) in found.sorted(by: { $0.key > $1.key }) {
            Measurement(
                name: "offline-upload/\(mode)", value: seconds, unit: "s",
                comparison: mode == "flexible" ? found["partition"] : nil
            ).printLine()
        }
    }

    private func once(_ mode: String, _ cluster: BenchCluster, _ loop: LoadLoop) throws -> Result {
        func client() -> LoadClient {
            mode == "flexible"
                ? LoadClient(subscribingTo: FlexibleRealm.everything) : LoadClient(partition: "offline")
        }
        if mode == "flexible" { try FlexibleRealm(cluster, loop).declare() }
        let others = client()
        try Fleet([others], on: loop).open(cluster)
        others.clientVersion = 10
        var number = 0
        func write(_ changesets: [[UInt8]], seen: UInt64, by client: LoadClient) throws {
            let load = try Workload(changesets, first: client.clientVersion + 1, seen: seen, mode: client.mode)
            client.clientVersion = load.lastVersion
            client.sendFrames(load.frames)
            // A merge beyond the budget would end the session (212).
            try loop.serve("what was written is acknowledged", upTo: .seconds(1_200)) {
                client.head.uploadedClientVersion >= load.lastVersion
            }
        }
        let hundreds = (objects + 99) / 100
        try write(
            (0..<hundreds).map {
                SampleChangeset.bytes(
                    client: 1, number: $0, objects: 100, schema: $0 == 0 && mode != "flexible", run: 3)
            }, seen: others.head.serverVersion, by: others)
        let returning = client()
        try Fleet([returning], on: loop).open(cluster)
        returning.clientVersion = 10
        try returning.send(.mark(session: LoadClient.session, request: 1))
        try loop.serve("the client has everything", upTo: .seconds(120)) { returning.isMarked }
        let base = returning.head.serverVersion

        var random = SeededGenerator(seed: 7)
        let start = MonotonicTime.now
        while number < remote {
            let batch = min(5_000, remote - number)
            try write(
                (number..<number + batch).map { change($0, by: 2, &random) }, seen: others.head.serverVersion,
                by: others)
            number += batch
            progress("\(number) of \(remote) changesets of the others")
        }
        let written = MonotonicTime.seconds(MonotonicTime.now - start)
        let usage = ProcessUsage(of: cluster.processes)
        let before = MonotonicTime.now
        try write((0..<local).map { change($0, by: 3, &random) }, seen: base, by: returning)
        let seconds = MonotonicTime.seconds(MonotonicTime.now - before)
        let used = ProcessUsage(of: cluster.processes).since(usage)
        loop.disconnectAll()
        return Result(seconds: seconds, usage: used, written: written)
    }

    /// Returns a changeset. Seven of ten change an object that both sides know, and three make one.
    private func change(_ number: Int, by client: Int, _ random: inout SeededGenerator) -> [UInt8] {
        guard number % 10 < 7 else {
            return SampleChangeset.bytes(client: client, number: number, objects: 1, schema: false, run: 4)
        }
        return SampleChangeset.change(
            of: random.below(shared), madeBy: 1, run: 3, title: "change \(number) of client \(client)")
    }
}
