import AMQP
import Foundation
import Messages
import Storage
import SyncModel
import TestSupport
import Testing

@testable import Inspection

@Suite(.needsBroker, .hangGuard) struct BrokerDoctorTests {
    private func examine(_ broker: BrokerHarness) async -> [Diagnosis] {
        await BrokerDoctor(
            connection: broker.connection, publisher: broker.connection, topology: broker.topology,
            slices: broker.slices, patience: .seconds(60)
        ).examine()
    }

    @Test func queuesWithoutConsumersAreAFaultAndTheRestIsWell() async throws {
        try await BrokerHarness.with { broker in
            let found = await examine(broker)
            expectEqual(found.filter { $0.level != .ok }.map(\.subject), ["consumers"], "\(found)")
        }
    }

    @Test func aMissingQueueIsNamedAndNotMade() async throws {
        try await BrokerHarness.with { broker in
            let queue = broker.topology.slice(SliceNumber(1))
            try await broker.channel.deleteQueue(queue)
            for _ in 0..<2 {
                let found = await examine(broker)
                expectTrue(found.contains { $0.level == .fault && $0.finding == "\(queue) does not exist" }, "\(found)")
            }
        }
    }

    @Test func aQueueDeclaredOtherwiseIsNamed() async throws {
        try await BrokerHarness.with { broker in
            let queue = broker.topology.slice(SliceNumber(0))
            try await broker.channel.deleteQueue(queue)
            try await broker.channel.declareQueue(AMQPQueueDeclaration(name: queue, durable: true))
            let found = await examine(broker)
            expectTrue(found.contains { $0.level == .fault && $0.finding.hasPrefix("\(queue) is declared otherwise") })
        }
    }

    @Test func aBrokerOfAnotherClusterIsAFault() async throws {
        try await BrokerHarness.with { broker in
            let doctor = BrokerDoctor(
                connection: broker.connection, publisher: broker.connection, topology: broker.topology,
                slices: broker.slices)
            var cluster = ClusterRecord(id: "aa", prefix: broker.topology.prefix)
            await expectEqual(doctor.belonging(to: cluster).level, .ok)
            cluster.hasMarkedBroker = true
            await expectEqual(doctor.belonging(to: cluster).level, .fault)
            let mark = BrokerMark(broker.topology, cluster: "aa")
            try await mark.make(on: broker.channel)
            await expectEqual(doctor.belonging(to: cluster).level, .ok)
            try await BrokerMark(broker.topology, cluster: "bb").replace(on: broker.channel)
            let foreign = await doctor.belonging(to: cluster)
            expectTrue(foreign.level == .fault && foreign.finding.hasSuffix("the store to aa"), "\(foreign)")
            try await broker.channel.deleteExchange(broker.topology.cluster)
        }
    }

    @Test func deadLettersAreAWarning() async throws {
        try await BrokerHarness.with { broker in
            try await broker.bury("a")
            // A broker that is busy says of a quorum queue that it is empty.
            try await eventually {
                await examine(broker).contains { $0.level == .warning && $0.subject == "dead letters" }
            }
        }
    }

    @Test func heartbeatsTellOwnersAndClocks() async throws {
        try await BrokerHarness.with { broker in
            let doctor = PresenceDoctor(
                connection: broker.connection, topology: broker.topology, slices: broker.slices)
            await expectEqual(doctor.examine(for: .milliseconds(50)).exitCode, 2)
            let beats = [("w1", 0, [0]), ("w2", 60_000, [])] as [(String, UInt64, [Int])]
            let beating = Task {
                while !Task.isCancelled {
                    for (worker, behind, owns) in beats {
                        let now = UInt64(Date().timeIntervalSince1970 * 1000)
                        let heartbeat = HeartbeatMessage(
                            worker: worker, at: now - behind, owns: owns.map { SliceNumber($0) }, standsBy: [],
                            epochs: [:],
                            load: 0, isStaying: true)
                        try await broker.channel.publish(
                            try AMQPMessage(heartbeat), exchange: broker.topology.presence, routingKey: "")
                    }
                    try await Task.sleep(for: .milliseconds(100))
                }
            }
            defer { beating.cancel() }
            var found: [Diagnosis] = []
            // The two workers are heard while the doctor listens, unless the machine has no time for them.
            try await eventually {
                found = await doctor.examine(for: .seconds(4))
                return found.contains { $0.subject == "workers" && $0.level == .ok && $0.area == .cluster }
            }
            expectTrue(found.contains { $0.level == .fault && $0.finding == "no owner: 1" }, "\(found)")
            expectTrue(
                found.contains { $0.area == .clock && $0.level == .fault && $0.finding.hasPrefix("w2's") }, "\(found)")
        }
    }
}
