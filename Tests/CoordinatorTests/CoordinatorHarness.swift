import AMQP
import APIDescriptions
import AdminAPI
import AsyncHTTPClient
import Foundation
import Logging
import Messages
import MessagingSupport
import NIOCore
import NIOHTTP1
import Operations
import ServiceLifecycle
import Storage
import StorageSQLite
import SyncModel
import TestSupport
import Testing

@testable import Coordinator

/// A broker with a topology of its own, a store, and coordinators on them.
struct CoordinatorHarness: Sendable {
    static let token = "a-token-for-tests-of-32-bytes-or-more"
    let cluster: TestTopology
    let store: any ControlStore
    /// Where the store is; the slices' would be, too.
    let folder: String

    var topology: Topology { cluster.topology }
    var slices: SliceCount { cluster.slices }
    var amqp: AMQPConfiguration { cluster.amqp }
    /// The test's own channel, to play workers and gateways.
    var channel: AMQPChannel { cluster.channel }

    static func with(_ body: (CoordinatorHarness) async throws -> Void) async throws {
        // What a consumer holds when it is cancelled goes back to the queue: that is not to be hundreds of ticks.
        try await TestTopology.with("coordinator", prefetch: 1) { cluster in
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent(cluster.topology.prefix).path
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let store = try await SQLiteStores(folder: folder).control()
            try await body(CoordinatorHarness(cluster: cluster, store: store, folder: folder))
        }
    }

    /// Runs a coordinator for as long as `body` takes.
    func withCoordinator(
        _ id: String = "c1", tick: Duration = .milliseconds(200), keyRotation: Duration? = nil,
        maxDeadLetters: Int = 10_000, followerBytes: Int64? = nil, stalledReader: Duration? = nil,
        _ body: (RunningCoordinator) async throws -> Void
    ) async throws {
        let readiness = Readiness()
        var configuration = CoordinatorConfiguration(
            id: id, port: 0, adminToken: Secret(Self.token), amqp: amqp, topology: topology, slices: slices,
            tickInterval: tick, keyRotation: keyRotation, maxDeadLetters: maxDeadLetters,
            stores: SQLiteStores(folder: folder).inspector())
        configuration.settingsSpread = .zero
        if let followerBytes { configuration.followerBytes = followerBytes }
        if let stalledReader { configuration.stalledReader = stalledReader }
        let service = CoordinatorService(
            configuration: configuration,
            control: store, readiness: readiness, logger: TestTopology.logger)
        let group = ServiceGroup(services: [service], logger: TestTopology.logger)
        let task = Task { try await group.run() }
        let result: Result<Void, any Error>
        do {
            let running = RunningCoordinator(
                port: try await service.boundPort.value(), readiness: readiness, group: group, task: task)
            result = .success(try await body(running))
        } catch { result = .failure(error) }
        await group.triggerGracefulShutdown()
        _ = await task.result
        try result.get()
    }

    /// Has a slice's store hold a realm, as its owner leaves it.
    func makeRealm(_ name: RealmName) async throws {
        let slice = name.slice(of: slices)
        let store = try await SQLiteStores(folder: folder).store(for: slice)
        guard case .owned(let epoch) = try await store.claim(by: "w", now: 1, leaseUntil: 2, gone: nil) else {
            throw TestBrokerError("slice \(slice) is owned")
        }
        var batch = SliceBatch()
        batch.realms = [RealmRecord(id: RealmID(1), name: name, generation: 1, salt: 1, saltEpoch: epoch)]
        try await store.commit(batch, epoch: epoch)
    }

    /// Has a slice's store hold a realm as `makeRealm` does, in a slice that may have others already.
    func addRealm(_ name: RealmName, number: Int64 = 2) async throws {
        let (store, epoch) = try await owned(name.slice(of: slices))
        var batch = SliceBatch()
        batch.realms = [RealmRecord(id: RealmID(number), name: name, generation: 1, salt: 1, saltEpoch: epoch)]
        try await store.commit(batch, epoch: epoch)
    }

    /// The store of a slice that has an owner, with its epoch.
    func owned(_ slice: SliceNumber) async throws -> (store: any SliceStore, epoch: Epoch) {
        let store = try await SQLiteStores(folder: folder).store(for: slice)
        if let epoch = try await store.ownership()?.epoch { return (store, epoch) }
        guard case .owned(let epoch) = try await store.claim(by: "w", now: 1, leaseUntil: 2, gone: nil) else {
            throw TestBrokerError("slice \(slice) is owned")
        }
        return (store, epoch)
    }

    func publish<M: Message>(_ message: M, to exchange: String, mandatory: Bool = true) async throws {
        try await channel.publish(
            try AMQPMessage(message), exchange: exchange, routingKey: "", mandatory: mandatory)
    }

    /// The next message of a type in a queue; what else comes is dropped.
    func next<M: Message>(_ type: M.Type, in queue: String) async throws -> M {
        let consumer = try await channel.consume(queue: queue)
        for try await delivery in consumer {
            try await delivery.ack()
            if delivery.message.properties.type == M.type {
                try await consumer.cancel()
                return try delivery.message.decode(M.self)
            }
        }
        throw TestBrokerError("the consumer of \(queue) ended")
    }

    func found(
        _ clientFiles: [FileIdent], campaign: String, slice: Int, generation: UInt64 = 2, app: String = "tasks"
    ) -> FoundReport {
        FoundReport(
            kind: "termination", campaign: campaign, app: app, slice: SliceNumber(slice), generation: generation,
            reason: nil, chunk: 0, chunks: 1,
            clientRealms: clientFiles.map {
                .init(partition: "\"nw\"", clientFile: $0, user: "u1", lastSeen: 5)
            })
    }

    func outcome(
        _ clientFile: FileIdent, _ result: OutcomeReport.Result, campaign: String? = nil,
        evidence: OutcomeReport.Evidence = .client
    ) -> OutcomeReport {
        OutcomeReport(
            campaign: campaign, attempt: "a", realm: RealmName(app: "tasks", partition: "\"nw\""), user: "u1",
            identOld: clientFile, identNew: nil, modeRequested: nil, modeUsed: nil, result: result, changesets: nil,
            backupFile: nil, error: nil, evidence: evidence, confidence: 1, at: 100)
    }
}

struct RunningCoordinator: Sendable {
    /// What all requests and answers of the tests are compared with.
    private static let described = Result { try APIDescription("admin") }
    private static var description: APIDescription { get throws { try described.get() } }

    let port: Int
    let readiness: Readiness
    let group: ServiceGroup
    let task: Task<Void, any Error>

    /// Ready but for the slices, which have no owners here.
    var isServing: Bool { readiness.components.allSatisfy { $0.ready || $0.name == "coordinator.slices" } }

    struct Answer: Sendable {
        var status: Int
        var text: String

        /// The value at a path such as `counts.found`.
        subscript(path: String) -> String? {
            var value: Any? = try? JSONSerialization.jsonObject(with: Data(text.utf8))
            for key in path.split(separator: ".") {
                if let index = Int(key) {
                    let list = value as? [Any]
                    value = list.flatMap { $0.indices.contains(index) ? $0[index] : nil }
                } else {
                    value = (value as? [String: Any])?[String(key)]
                }
            }
            return value.map { "\($0)" }
        }
    }

    func request(
        _ method: String, _ path: String, _ body: String? = nil, token: String? = CoordinatorHarness.token
    ) async throws -> Answer {
        let response = try await execute(method, path, body, token: token)
        let buffer = try await response.body.collect(upTo: 1 << 20)
        let status = Int(response.status.code)
        let full = "\(AdminRoute.base)/\(path)"
        let problem = try Self.description.problem(
            method, full, status: status, contentType: response.headers.first(name: "Content-Type"),
            body: Array(buffer.readableBytesView))
        let ofBody =
            (200..<300).contains(status)
            ? try Self.description.problem(method, full, acceptedBody: Array((body ?? "").utf8)) : nil
        for found in [problem, ofBody].compactMap(\.self) { Issue.record("\(found)") }
        return Answer(status: status, text: String(decoding: buffer.readableBytesView, as: UTF8.self))
    }

    func execute(
        _ method: String, _ path: String, _ body: String? = nil, token: String? = CoordinatorHarness.token
    ) async throws -> HTTPClientResponse {
        var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)/api/admin/v1/\(path)")
        request.method = .RAW(value: method)
        if let token { request.headers.add(name: "Authorization", value: "Bearer \(token)") }
        if let body { request.body = .bytes(ByteBuffer(string: body)) }
        return try await Self.client.execute(request, timeout: .minutes(2))
    }

    /// Opens a connection for each request that is under way. The shared client opens eight for a server: behind eight streams that nobody
    /// reads, the next request would wait until their read time-out, a minute and a half.
    private static let client = HTTPClient(
        eventLoopGroupProvider: .singleton,
        configuration: {
            var configuration = HTTPClient.Configuration.singletonConfiguration
            configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 256
            return configuration
        }())
}
