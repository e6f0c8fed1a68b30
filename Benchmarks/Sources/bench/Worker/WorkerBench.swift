import AMQP
import ArgumentParser
import Foundation
import Logging
import Messages
import Storage
import Worker

/// What a slice's owner does in a second, from the message's bytes to the commit on disk and the notices to be published:
/// the cluster's own benchmarks without gateways, broker and network.
struct WorkerBench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "worker", abstract: "Integrate uploads into a durable store, without broker and gateways.")

    @Option(help: "Client realms of their own, or with --shared clients of one realm.") var clients = 50
    @Option(help: "Changesets of each client.") var changesets = 100
    @Option(help: "Objects of each changeset.") var objects = 5
    @Flag(help: "All clients work on one realm, each offline from its beginning.") var shared = false
    @Option(help: "Objects that all clients write to as well, one of them in each changeset; 0 for none.")
    var contested = 0
    @Option(help: "Bytes of changesets in one UPLOAD; stock clients stop at 131072.") var uploadBytes = 131_072
    @Option(help: "Messages in one batch.") var prefetch = 200
    @Option(help: "Slices; each has an owner and a store.") var slices = 2
    @Option(help: "Folder of the stores; a temporary one that is removed if not given.") var folder: String?
    @Option(help: "Runs, each with a store of its own; the best one counts.") var runs = 3
    @Flag(help: "Print one JSON line at the end.") var json = false

    private struct Line: Encodable {
        var name: String
        var value: Double
        var unit = "changesets/s"
        var comparison: Double?
    }

    func run() async throws {
        var best = 0.0
        for run in 1...max(1, runs) {
            let place = (folder ?? NSTemporaryDirectory()) + "/worker-bench-\(UUID())"
            let result = try await WorkerRun(self, folder: place).measure()
            if folder == nil { try? FileManager.default.removeItem(atPath: place) }
            let rate = Double(result.changesets) / result.seconds
            best = max(best, rate)
            print(
                "run \(run): \(result.changesets) changesets in \(String(format: "%.3f", result.seconds)) s,"
                    + " \(Int(rate)) changesets/s; \(result.commits) commits; notices \(result.noticeBytes / 1024) KiB")
        }
        if json {
            let kind = shared ? "worker-shared" : "worker-own"
            let line = Line(name: "\(kind)-\(clients)x\(changesets)", value: best.rounded())
            print(String(decoding: try JSONEncoder().encode(line), as: UTF8.self))
        }
    }
}
