import Foundation
import LocalCluster

/// A cluster with the settings that an operator would have, and what is measured of it.
final class SiegedCluster: Sendable {
    /// The number of slices. With as few slices as workers the honest apps share theirs with strangers, whatever those
    /// call their realms.
    static let slices = 2

    let cluster: LocalCluster
    let gatewayPorts: [Int]
    private let broker: PrivateBroker
    private let supervisor: Supervisor
    private let names: [String]
    private let brokerProcess: Int32?

    init(folder: String, sluice: String, broker: PrivateBroker, amqpURL: String, gateways: Int) {
        self.broker = broker
        brokerProcess = broker.nodeProcess
        cluster = LocalCluster(
            amqpURL: amqpURL, folder: folder, sluice: sluice, slices: Self.slices, prefix: "siege",
            environment: ["SLUICE_COORDINATOR_TICK_SECONDS": "1"])
        gatewayPorts = (0..<gateways).map { _ in FreePort.next() }
        names = ["coordinator", "worker-1", "worker-2"] + (1...gateways).map { "gateway-\($0)" }
        supervisor = Supervisor(cluster, names: names)
    }

    var unexpectedEnds: Int { supervisor.unexpectedEnds }

    func start() async throws {
        for name in names { try await start(name) }
        try await cluster.waitUntilReady(workers: 2)
    }

    private func start(_ name: String) async throws {
        let role = String(name.prefix { $0 != "-" })
        switch role {
        case "coordinator": try await cluster.startCoordinator()
        case "worker": try await cluster.startWorker(name)
        default:
            let number = (Int(name.drop { $0 != "-" }.dropFirst()) ?? 1) - 1
            try await cluster.start(name, "gateway", "--id", name, "--port", "\(gatewayPorts[number])")
        }
    }

    func supervise(_ journal: Journal) async { await supervisor.run(journal) { try await start($0) } }

    /// All processes that are measured, the broker's node among them.
    var processes: [String: Int32] {
        cluster.processIdentifiers.merging(brokerProcess.map { ["broker": $0] } ?? [:]) { $1 }
    }

    /// Memory and disk as they are now.
    func footprint() -> Footprint {
        var footprint = Footprint.memory(of: processes)
        footprint.measureDisk(["store": cluster.folder + "/store", "broker": broker.folder + "/data"])
        return footprint
    }
}
