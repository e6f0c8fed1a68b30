import AMQP
import ArgumentParser
import CBareAMQP
import Dispatch
import Foundation
import Logging

/// Our AMQP client beside the bare C library, on one quorum queue: confirmed publishing, and consuming with batched
/// acknowledgements. Both do the same work in turns, so that whatever else the machine does hurts both.
struct AMQPBench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "amqp", abstract: "Compare the AMQP client with the bare C library.",
        discussion:
            "The figures are messages a second, the median of all rounds. The broker is the one of Tests/broker.")

    @Option(help: "The broker, amqp://user:password@host:port/vhost; else SLUICE_TEST_AMQP_URL.") var url: String?
    @Option(help: "Messages of each round.") var messages = 30_000
    @Option(help: "Rounds of each measurement.") var rounds = 5
    @Option(help: "Sizes of the messages, in bytes.") var sizes = [200, 2_000]
    @Option(help: "Publishes that may await their confirm.") var window = 1_000
    @Option(help: "Deliveries that may await their answer.") var prefetch = 500
    @Option(help: "Deliveries that are answered at once.") var batch = 100
    @Flag(help: "Print one JSON line a measurement, the one that compares worst last.") var json = false

    func run() async throws {
        guard let url = url ?? ProcessInfo.processInfo.environment["SLUICE_TEST_AMQP_URL"] else {
            throw ValidationError("no broker: --url, or set -a; eval \"$(Tests/broker start DIR)\"; set +a")
        }
        var configuration = try AMQPConfiguration(url: url)
        configuration.maxOutstandingConfirms = window
        let bench = try await AMQPRounds(
            configuration, messages: messages, window: window, prefetch: prefetch, batch: batch)
        var measurements: [Measurement] = []
        for bytes in sizes {
            var rates: [String: [Double]] = [:]
            // The first round warms up.
            for round in 0...rounds {
                // What one side publishes the other consumes.
                let ours = try await bench.publish(bytes: bytes)
                let bareConsumed = try await bench.bareConsume()
                let bare = try await bench.barePublish(bytes: bytes)
                let oursConsumed = try await bench.consume()
                guard round > 0 else { continue }
                rates["publish", default: []].append(ours)
                rates["bare publish", default: []].append(bare)
                rates["consume", default: []].append(oursConsumed)
                rates["bare consume", default: []].append(bareConsumed)
            }
            for name in ["publish", "consume"] {
                measurements.append(
                    Measurement(
                        name: "amqp \(name) \(bytes) B", value: Self.median(rates[name]), unit: "messages/s",
                        comparison: Self.median(rates["bare \(name)"])))
            }
        }
        try await bench.finish()
        show(measurements)
    }

    private func show(_ measurements: [Measurement]) {
        var table = TextTable("measurement", "ours, messages/s", "bare C library", "share")
        for each in measurements {
            table.row(
                each.name, String(format: "%.0f", each.value), String(format: "%.0f", each.comparison ?? 0),
                String(format: "%.0f %%", Self.share(each) * 100))
        }
        table.show()
        guard json else { return }
        for each in measurements.sorted(by: { Self.share($0) > Self.share($1) }) { each.printLine() }
    }

    private static func share(_ measurement: Measurement) -> Double {
        measurement.value / max(measurement.comparison ?? 0, 1)
    }

    private static func median(_ values: [Double]?) -> Double {
        let sorted = (values ?? []).sorted()
        guard !sorted.isEmpty else { return 0 }
        return (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
    }
}
