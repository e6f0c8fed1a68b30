import ArgumentParser
import Foundation

/// A termination of more client realms than one machine could hold, by the measured costs (docs/scale.md).
struct SimulateTermination: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate-termination",
        abstract: "What a termination of all client realms asks of a cluster: discrete events with the measured costs.")

    @Option(help: "Client realms, each of a realm of its own.") var clientRealms = 1_000_000
    @Option(help: "How many of them are connected.") var connected = 0.1
    @Option(help: "After how many hours those that are away come, on average.") var awayHours = 12.0
    @Option(help: "Slices.") var slices = 64
    @Option(help: "Cores of all gateways.") var gatewayCores = 16
    @Option(help: "Cores of all workers.") var workerCores = 16
    @Option(help: "Cores of one broker node.") var brokerCores = 4
    @Option(help: "Objects of a realm.") var objects = 200
    @Option(help: "Bytes of an object.") var objectBytes = 100
    @Option(help: "Changesets that a client had not synced.") var unsynced = 2
    @Option(help: "Seed.") var seed: UInt64 = 1
    @Flag(help: "Print one JSON line.") var json = false

    private struct Line: Encodable {
        var name = "simulate-termination"
        var value: Double
        var unit = "s"
        var comparison: Double?
        var clientRealms: Int
        var connected: Int
        var toldLast: Double
        var marked: Double
        var sentAway: Int
        var longestQueueOfASlice: Int
    }

    func validate() throws {
        let counts = [clientRealms, slices, gatewayCores, workerCores, brokerCores, objects, objectBytes]
        guard counts.allSatisfy({ $0 > 0 }), clientRealms <= 50_000_000, unsynced >= 0, (0...1).contains(connected),
            awayHours > 0
        else {
            throw ValidationError("expected counts above 0, at most 50,000,000 client realms and a share of at most 1")
        }
    }

    func run() throws {
        var simulation = TerminationSimulation(
            .init(
                clientRealms: clientRealms, connected: connected, awayHours: awayHours, slices: slices,
                gatewayCores: gatewayCores, workerCores: workerCores, brokerCores: brokerCores, objects: objects,
                objectBytes: objectBytes, unsynced: unsynced, seed: seed))
        let result = simulation.run()
        guard result.reset.count == clientRealms else {
            throw BenchFailure("\(result.reset.count) of \(clientRealms) client realms were reset")
        }
        // Clients that were connected were told first, and come back within the spread.
        let count = result.told.count
        let back = result.reset.prefix(max(count, 1))
        var table = TextTable("seconds", "half", "99 %", "last")
        func row(_ name: String, _ times: ArraySlice<Double>) {
            guard let last = times.last else { return }
            let times = Array(times)
            table.row(name, times[times.count / 2].text(1), times[times.count * 99 / 100].text(1), last.text(1))
        }
        row("connected: told", result.told[...])
        row("as many as were connected: reset", back)
        row("all: reset", result.reset[...])
        table.show()
        print(
            "\nmarked in all slices after \(result.marked.text(1)) s; last report applied after \(result.reported.text(1)) s;"
                + " \(result.openings) sockets opened, \(result.sentAway) clients sent away for their turn;"
                + " \(result.megabytes.text()) MB downloaded; longest queue of a slice \(result.longestQueue) messages")
        var stations = TextTable("", "cores", "busy s", "longest wait s")
        for (name, cores, station) in [
            ("gateways", gatewayCores, simulation.gateways), ("workers", workerCores, simulation.workers),
            ("a broker node", brokerCores, simulation.broker), ("coordinator", 1, simulation.coordinator),
        ] {
            stations.row(name, "\(cores)", station.busy.text(1), station.longestWait.text(2))
        }
        stations.show()
        if json {
            let line = Line(
                value: back.last ?? 0, clientRealms: clientRealms, connected: count, toldLast: result.told.last ?? 0,
                marked: result.marked, sentAway: result.sentAway, longestQueueOfASlice: result.longestQueue)
            print(String(decoding: try JSONEncoder().encode(line), as: UTF8.self))
        }
    }
}
