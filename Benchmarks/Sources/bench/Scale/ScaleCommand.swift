import ArgumentParser
import Foundation

/// What installations of several sizes take, by the measured costs (docs/scale.md).
struct ScaleCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scale",
        abstract: "How many machines of each role so many client realms take, by what is measured of each unit of work."
    )

    @Option(help: "Sizes: client realms, separated by commas.") var clientRealms = "10000,1000000,100000000"
    @Option(help: "Of all client realms, how many are connected in the busiest hour.") var connected = 0.1
    @Option(help: "Changes a minute of a connected client.") var changesPerMinute = 1.0
    @Option(help: "Minutes that a client stays connected.") var sessionMinutes = 10.0
    @Option(help: "Bytes of a changeset.") var changeBytes = 500.0
    @Option(help: "Slices.") var slices = 64.0
    @Option(help: "Cores of each machine.") var cores = 8.0
    @Option(help: "Milliseconds to the database and back.") var roundTrip = 1.0
    @Option(help: "Milliseconds of a commit in the database.") var commit = 2.0
    @Option(help: "Gigabytes that a gateway has for sessions.") var sessionMemory = 16.0
    @Option(help: "Transactions a second of one database.") var databaseTransactions = 10_000.0
    @Option(help: "Megabytes a second that one database writes.") var databaseMegabytes = 200.0
    @Option(help: "Messages a second of one broker of three nodes.") var brokerMessages = 50_000.0
    @Option(help: "How much of each resource is planned with.") var utilisation = 0.6
    @Flag(help: "Print one JSON line a size and resource.") var json = false

    private struct Line: Encodable {
        var name = "scale"
        var clientRealms: Double
        var resource: String
        var asked: Double
        var unit: String
        var units: Double
        var oneIsFullAtClientRealms: Double
    }

    private func sizes() throws -> [Double] {
        let sizes = clientRealms.split(separator: ",").compactMap { Double($0) }.filter { $0 >= 1 }
        guard !sizes.isEmpty, sizes.count == clientRealms.split(separator: ",").count else {
            throw ValidationError("--client-realms is \(clientRealms); expected numbers from 1, separated by commas")
        }
        return sizes
    }

    func validate() throws {
        _ = try sizes()
        let all = [
            connected, changesPerMinute, sessionMinutes, changeBytes, slices, cores, roundTrip, commit, sessionMemory,
            databaseTransactions, databaseMegabytes, brokerMessages, utilisation,
        ]
        guard all.allSatisfy({ $0 > 0 && $0.isFinite }), connected <= 1, utilisation <= 1 else {
            throw ValidationError("expected numbers above 0, and shares of at most 1")
        }
    }

    func run() throws {
        for size in try sizes() {
            let model = CapacityModel(
                load: .init(
                    clientRealms: size, connected: connected, changesPerMinute: changesPerMinute,
                    sessionMinutes: sessionMinutes, changeBytes: changeBytes),
                machines: .init(
                    slices: slices, brokerCopies: 3, roundTrip: roundTrip, commit: commit, cores: cores,
                    utilisation: utilisation, sessionMemory: sessionMemory * 1e6,
                    databaseTransactions: databaseTransactions, databaseMegabytes: databaseMegabytes,
                    brokerMessages: brokerMessages))
            let demands = model.demands.sorted { $0.full(at: size) < $1.full(at: size) }
            json ? try printLines(demands, size) : show(demands, model)
        }
    }

    private func show(_ demands: [CapacityModel.Demand], _ model: CapacityModel) {
        let load = model.load
        print(
            "\n\(load.clientRealms.text()) client realms: \(load.sessions.text()) connected, \(load.changes.text()) changes/s,"
                + " \(load.openings.text()) sessions opened/s, \(model.batchesOfSlice.text(1)) batches/s of a slice")
        var table = TextTable("first to saturate first", "asked", "", "needed", "one is full at client realms")
        for demand in demands {
            table.row(
                demand.resource, demand.asked.text(demand.asked < 10 ? 2 : 0), demand.unit, demand.units.text(),
                demand.full(at: load.clientRealms).text())
        }
        table.show()
    }

    private func printLines(_ demands: [CapacityModel.Demand], _ size: Double) throws {
        for demand in demands {
            let line = Line(
                clientRealms: size, resource: demand.resource, asked: demand.asked, unit: demand.unit,
                units: demand.units, oneIsFullAtClientRealms: demand.full(at: size))
            print(String(decoding: try JSONEncoder().encode(line), as: UTF8.self))
        }
    }
}
