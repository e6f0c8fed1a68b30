package import AMQP
import Foundation
package import Messages
package import SyncModel

/// Listens to the workers' heartbeats for a while, to find out which workers live, which slices they own, and whether the
/// clocks agree.
package struct PresenceDoctor: Sendable {
    // Milliseconds between two clocks that are a warning and a fault: leases compare the clocks of workers.
    static let drift: UInt64 = 2_000
    static let badDrift: UInt64 = 7_000

    let connection: AMQPConnection
    let topology: Topology
    let slices: SliceCount

    package init(connection: AMQPConnection, topology: Topology, slices: SliceCount) {
        self.connection = connection
        self.topology = topology
        self.slices = slices
    }

    private struct Heard {
        var last: HeartbeatMessage
        /// How far the worker's clock is from ours, in milliseconds: the least difference of its heartbeats, since each
        /// includes the time that the heartbeat was under way.
        var drift: UInt64
    }

    /// - Parameter duration: how long to listen; more than two heartbeats.
    package func examine(for duration: Duration) async -> [Diagnosis] {
        do {
            return report(try await listen(for: duration), duration)
        } catch {
            return .one(
                .cluster, "workers", .unchecked, "the heartbeats cannot be heard: \(error)", "mend the broker first")
        }
    }

    private func listen(for duration: Duration) async throws -> [String: Heard] {
        let channel = try await connection.openChannel()
        let queue = try await channel.declareQueue(
            AMQPQueueDeclaration(
                name: "", durable: false, exclusive: true, autoDelete: true,
                arguments: ["x-max-length": 10_000, "x-overflow": "drop-head"])
        ).name
        try await channel.bindQueue(queue, exchange: topology.presence, routingKey: "")
        let deadline = ContinuousClock.now + duration
        var heard: [String: Heard] = [:]
        while ContinuousClock.now < deadline {
            guard let delivery = try await channel.get(queue: queue) else {
                try await Task.sleep(for: .milliseconds(20))
                continue
            }
            try await delivery.ack()
            guard let heartbeat = try? delivery.message.decode(HeartbeatMessage.self) else { continue }
            let now = UInt64(max(0, Date().timeIntervalSince1970 * 1000))
            let drift = heartbeat.at > now ? heartbeat.at - now : now - heartbeat.at
            heard[heartbeat.worker] = Heard(
                last: heartbeat, drift: min(drift, heard[heartbeat.worker]?.drift ?? drift))
        }
        await channel.close()
        return heard
    }

    private func report(_ heard: [String: Heard], _ duration: Duration) -> [Diagnosis] {
        let alive = heard.filter(\.value.last.isStaying)
        guard let worst = alive.max(by: { $0.value.drift < $1.value.drift }) else {
            return .one(
                .cluster, "workers", .fault, "no worker was heard within \(duration)",
                "start workers, with this prefix and virtual host")
        }
        var found = [
            alive.count == 1
                ? Diagnosis(
                    .cluster, "workers", .warning, "only \(alive.keys.sorted()[0]): nobody stands by",
                    "start a second worker")
                : Diagnosis(.cluster, "workers", .ok, "\(alive.count): \(BrokerDoctor.some(alive.keys.sorted()))")
        ]
        let owned = Set(alive.values.flatMap(\.last.owns))
        let ownerless = slices.all.filter { !owned.contains($0) }
        found.append(
            ownerless.isEmpty
                ? Diagnosis(.cluster, "slices", .ok, "all \(slices.value) have an owner")
                : Diagnosis(
                    .cluster, "slices", .fault,
                    "no owner: \(BrokerDoctor.some(ownerless.map(\.description)))",
                    "wait for a moment; if it stays so, read the workers' logs for the slice"))
        let beyond = owned.filter { $0.value >= slices.value }
        if let beyond = beyond.max() {
            found.add(
                .cluster, "slices", .fault,
                "a worker owns slice \(beyond), and the settings say \(slices.value) slices",
                "give every process the same SLUICE_SLICES")
        }
        found.append(clock(of: worst.key, worst.value.drift))
        return found
    }

    private func clock(of worker: String, _ drift: UInt64) -> Diagnosis {
        let text = "\(worker)'s clock is \(drift) ms from this machine's (heartbeats take a moment, too)"
        let advice = "run chrony or ntpd on every machine: leases of slices compare clocks"
        if drift >= Self.badDrift { return Diagnosis(.clock, "workers", .fault, text, advice) }
        if drift >= Self.drift { return Diagnosis(.clock, "workers", .warning, text, advice) }
        return Diagnosis(.clock, "workers", .ok, "at most \(drift) ms from this machine's")
    }
}
