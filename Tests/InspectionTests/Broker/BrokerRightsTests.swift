import AMQP
import Foundation
import Logging
import Messages
import MessagingSupport
import SyncModel
import TestSupport
import Testing

@testable import Inspection

/// What each role's user may do at a real broker.
@Suite(.needsBrokerControl, .hangGuard) struct BrokerRightsTests {
    private static let password = "a secret of this test"

    /// Runs `body` with a cluster's queues, and its roles' users at the broker.
    private func withRoles(_ body: (BrokerHarness, BrokerPlan) async throws -> Void) async throws {
        try await BrokerHarness.with { broker in
            let plan = BrokerPlan(
                topology: broker.topology, slices: broker.slices, virtualHost: broker.cluster.amqp.virtualHost,
                cluster: nil)
            let document = BrokerDefinitions(
                plan, passwords: Dictionary(uniqueKeysWithValues: BrokerRole.allCases.map { ($0, Self.password) }))
            let file = FileManager.default.temporaryDirectory.appending(path: "definitions-\(UUID().uuidString).json")
            try JSONEncoder().encode(document).write(to: file)
            try await TestBroker.control("-q", "import_definitions", file.path)
            try FileManager.default.removeItem(at: file)
            try await body(broker, plan)
        }
    }

    /// Runs `body` with a connection of a role's user.
    private func with<Value>(
        _ role: BrokerRole, _ plan: BrokerPlan, _ broker: BrokerHarness, _ body: (AMQPConnection) async throws -> Value
    ) async throws -> Value {
        var amqp = broker.cluster.amqp
        amqp.credentials = .plain(user: plan.user(role), password: Self.password)
        let connection = AMQPConnection(configuration: amqp, logger: TestTopology.logger)
        try await connection.start()
        let result: Result<Value, any Error>
        do { result = .success(try await body(connection)) } catch { result = .failure(error) }
        await connection.close()
        return try result.get()
    }

    @Test func aGatewayDoesItsWorkAndNothingElse() async throws {
        try await withRoles { broker, plan in
            let topology = broker.topology
            try await with(.gateway, plan, broker) { connection in
                let channel = try await connection.openChannel(confirms: true)
                // Everything is there, so it does without the right to declare it.
                try await topology.declareShared(on: channel, slices: broker.slices)
                let own = topology.gateway("one")
                try await channel.declareQueue(AMQPQueueDeclaration(name: own, durable: false, exclusive: true))
                try await channel.bindQueue(own, exchange: topology.realms, routingKey: "tasks.1")
                _ = try await channel.consume(queue: own)
                try await channel.publish(
                    AMQPMessage(body: "x"), exchange: topology.slices, routingKey: "0", mandatory: true)
                try await channel.publish(
                    AMQPMessage(body: "x"), exchange: topology.outcomes, routingKey: "", mandatory: true)

                for exchange in [topology.realms, topology.terminations, topology.presence, topology.dead, ""] {
                    let error = await #expect(throws: AMQPError.self) {
                        try await channel.publish(AMQPMessage(body: "forged"), exchange: exchange, routingKey: own)
                    }
                    expectEqual(error?.code, .accessRefused, "publish to \(exchange): \(String(describing: error))")
                }
                let slice = topology.slice(SliceNumber(0))
                let attempts: [(String, () async throws -> Void)] = [
                    ("consume", { _ = try await channel.consume(queue: slice) }),
                    ("consume outcomes", { _ = try await channel.consume(queue: topology.outcomes) }),
                    ("get", { _ = try await channel.get(queue: topology.dead) }),
                    ("purge", { try await channel.purgeQueue(slice) }),
                    ("delete", { try await channel.deleteQueue(slice) }),
                    ("delete exchange", { try await channel.deleteExchange(topology.realms) }),
                    ("declare", { try await channel.declareQueue(AMQPQueueDeclaration(name: "\(topology.prefix).x")) }),
                    ("listen", { try await channel.bindQueue(own, exchange: topology.slices, routingKey: "0") }),
                    (
                        "listen to terminations",
                        { try await channel.bindQueue(own, exchange: topology.terminations, routingKey: "") }
                    ),
                    ("unbind", { try await channel.unbindQueue(slice, exchange: topology.slices, routingKey: "0") }),
                ]
                for (what, attempt) in attempts {
                    let error = await #expect(throws: AMQPError.self, "\(what)") { try await attempt() }
                    expectEqual(error?.code, .accessRefused, "\(what): \(String(describing: error))")
                }
            }
            try await expectEqual(broker.count(topology.slice(SliceNumber(0))), 1)
        }
    }

    @Test(arguments: [BrokerRole.worker, .coordinator, .operator])
    func otherRolesFindEverythingAndDeleteNothing(role: BrokerRole) async throws {
        try await withRoles { broker, plan in
            let topology = broker.topology
            try await with(role, plan, broker) { connection in
                let channel = try await connection.openChannel(confirms: true)
                try await topology.declareShared(on: channel, slices: broker.slices)
                let queue = try await channel.declareQueue(
                    AMQPQueueDeclaration(name: "", durable: false, exclusive: true, autoDelete: true))
                try await channel.bindQueue(queue.name, exchange: topology.presence, routingKey: "")
                for name in plan.objects.queues.map(\.name) {
                    let error = await #expect(throws: AMQPError.self) { try await channel.deleteQueue(name) }
                    expectEqual(error?.code, .accessRefused)
                }
            }
        }
    }

    @Test func missingQueuesAreNamedToRolesThatCannotMakeThem() async throws {
        try await withRoles { broker, plan in
            let queue = broker.topology.slice(SliceNumber(1))
            try await broker.channel.deleteQueue(queue)
            try await with(.gateway, plan, broker) { connection in
                let channel = try await connection.openChannel(confirms: true)
                let error = await #expect(throws: MissingTopology.self) {
                    try await broker.topology.declareShared(on: channel, slices: broker.slices)
                }
                let text = "\(try #require(error))"
                expectTrue(text.contains("no queue \(queue),") && text.contains("sluice broker init"), "\(text)")
            }
        }
    }

    @Test(arguments: [BrokerRole.gateway, .worker, .coordinator])
    func everyProcessMaySayWhereItHasItsStore(_ role: BrokerRole) async throws {
        try await withRoles { broker, plan in
            let mark = BrokerMark(broker.topology, cluster: "aa")
            try await mark.make(on: broker.channel)
            func enter(_ connection: AMQPConnection, _ folder: String) async throws {
                let claim = FolderClaim(broker.topology, folder: folder, patience: .milliseconds(100))
                let gate = BrokerGate(mark: mark, place: "here", folder: claim, wasMarked: { true }, didMark: {})
                try await gate.enter(connection, try await connection.openChannel(confirms: true))
            }
            try await with(role, plan, broker) { connection in
                try await enter(connection, "0a1b2c3d/0011")
                await #expect(throws: ForeignBroker.self) { try await enter(connection, "0a1b2c3d/2233") }
            }
            for exchange in mark.exchanges { try await broker.channel.deleteExchange(exchange.name) }
        }
    }

    /// Another process has made the mark at another of the broker's nodes, and this one hears of it a little later.
    @Test func aMarkThatIsNotYetAtEveryNodeIsWaitedFor() async throws {
        try await withRoles { broker, plan in
            let mark = BrokerMark(broker.topology, cluster: "aa")
            try await with(.worker, plan, broker) { connection in
                let gate = BrokerGate(mark: mark, place: "here", wasMarked: { true }, didMark: {})
                let channel = try await connection.openChannel(confirms: true)
                async let entrance: Void = gate.enter(connection, channel)
                try await Task.sleep(for: BrokerGate.pauseBetweenAsks * 2)
                try await mark.make(on: broker.channel)
                try await entrance
            }
            for exchange in mark.exchanges { try await broker.channel.deleteExchange(exchange.name) }
        }
    }

    @Test func rolesThatMayNotCompareMarksFindTheirClustersOwn() async throws {
        try await withRoles { broker, plan in
            let (own, other) = (BrokerMark(broker.topology, cluster: "aa"), BrokerMark(broker.topology, cluster: "bb"))
            try await with(.gateway, plan, broker) { connection in
                try await expectEqual(own.find(on: connection), .none)
                let channel = try await connection.openChannel(confirms: true)
                let gate = BrokerGate(mark: own, place: "here", wasMarked: { false }, didMark: {})
                await #expect(throws: MissingTopology.self) { try await gate.enter(connection, channel) }

                try await own.make(on: broker.channel)
                try await expectEqual(own.find(on: connection), .own)
                try await expectEqual(other.find(on: connection), .unproven)
                try await gate.enter(connection, channel)

                try await other.replace(on: broker.channel)
                try await expectEqual(own.find(on: connection), .unproven)
                try await expectEqual(other.find(on: connection), .own)
                await #expect(throws: ForeignBroker.self) { try await gate.enter(connection, channel) }
            }
            for exchange in other.exchanges { try await broker.channel.deleteExchange(exchange.name) }
        }
    }
}
