import AMQP
import Foundation
import Logging
import Messages
import MessagingSupport
import Operations
import ServiceLifecycle
import Storage
import StorageSQLite
import StorageSupport
import SyncModel
import Synchronization
import TestSupport

@testable import Gateway

/// A gateway on a free port with a real control store, and if asked a broker and a scripted owner behind it.
struct GatewayHarness: Sendable {
    let service: GatewayService
    let store: any ControlStore
    let readiness: Readiness
    let port: Int
    let clock: TestClock
    let owner: ScriptedOwner?
    let topology: Topology

    var base: String { "http://127.0.0.1:\(port)" }

    static func with(
        broker: Bool = false, store given: (any ControlStore)? = nil, rules: String = TestRules.open,
        topology: Topology? = nil,
        configure: (inout GatewayConfiguration) -> Void = { _ in },
        _ body: @Sendable @escaping (GatewayHarness) async throws -> Void
    ) async throws {
        let topology = topology ?? Topology(prefix: TestBroker.uniqueName("gateway"))
        guard let slices = SliceCount(2) else { throw HarnessError("two slices are a cluster") }
        let amqp =
            broker ? try TestTopology.configuration() : try AMQPConfiguration(url: "amqp://guest:guest@127.0.0.1:1/")
        var configuration = GatewayConfiguration(
            id: "g\(UInt32.random(in: 0 ... .max))", port: 0, amqp: amqp, topology: topology, slices: slices)
        configuration.passwords.logN = 8
        configuration.timings.housekeeping = .milliseconds(50)
        configuration.timings.progressDelay = .milliseconds(50)
        // What waits for an owner on a busy machine is no silent owner.
        configuration.timings.requestDeadline = .seconds(60)
        configuration.timings.resetDecision = .seconds(120)
        configure(&configuration)
        let opened: any ControlStore
        if let given { opened = given } else { opened = try await SQLiteStores.inMemory().control() }
        let store = opened
        if try await store.app("tasks") == nil {
            try await store.insert(AppRecord(id: "tasks", createdAt: 1), rules: rules)
        }
        let clock = TestClock()
        var logger = Logger(label: "gateway.test")
        logger.logLevel = ProcessInfo.processInfo.environment["GATEWAY_TEST_LOG"] == nil ? .critical : .debug
        let readiness = Readiness()
        let service = GatewayService(
            configuration: configuration, control: store, readiness: readiness, clock: clock.clock, logger: logger)
        let owner = broker ? ScriptedOwner(amqp: configuration.amqp, topology: topology, slices: slices) : nil
        try await owner?.start()
        let group = ServiceGroup(configuration: .init(services: [service], logger: logger))
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            tasks.addTask {
                defer { Task { await group.triggerGracefulShutdown() } }
                let port = try await service.boundPort.value()
                if broker {
                    try await eventually("the gateway is ready") { readiness.isReady }
                }
                try await body(
                    GatewayHarness(
                        service: service, store: store, readiness: readiness, port: port, clock: clock, owner: owner,
                        topology: topology))
            }
            do {
                while try await tasks.next() != nil {}
            } catch {
                await owner?.stop()
                throw error
            }
        }
        await owner?.stop()
    }
}

struct HarnessError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// The real time, moved by hand.
final class TestClock: Sendable {
    private let offset = Mutex<Int64>(0)

    func advance(by duration: Duration) { offset.withLock { $0 += duration.components.seconds * 1000 } }

    var clock: GatewayClock {
        GatewayClock { [self] in
            let now = Int64(Date().timeIntervalSince1970 * 1000)
            return UInt64(max(0, now + offset.withLock { $0 }))
        }
    }
}
