import AMQP
import APIDescriptions
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import Messages
import Operations
import Storage
import StorageSQLite
import SyncModel
import TestSupport
import Testing

@testable import Gateway

/// `docs/api/client.json` is what gateways serve. What requests and answers hold is compared in every test that talks HTTP to a
/// gateway (`GatewayHarness.request`).
@Suite struct ClientDescriptionTests {
    @Test func everyRouteIsDescribedAndTheReverse() async throws {
        let description = try APIDescription("client")
        let served = try await Self.routes().router().routes.filter { $0.method != .head }
        let routes = Set(
            served.map { APIDescription.Operation($0.method.rawValue, "/\($0.path)".replacing("//", with: "/")) })
        expectTrue(routes.count > 15)
        for difference in description.differences(from: routes) { Issue.record("\(difference)") }
    }

    /// Routes of a gateway that never runs.
    private static func routes() async throws -> ClientRoutes {
        let slices = try #require(SliceCount(1))
        let configuration = GatewayConfiguration(
            id: "g1", port: 0, amqp: try AMQPConfiguration(url: "amqp://guest:guest@127.0.0.1:1/"), slices: slices)
        let store = try await SQLiteStores.inMemory().control()
        let logger = Logger(label: "gateway.test")
        let metrics = GatewayMetrics()
        let clock = GatewayClock.system
        let apps = AppDirectory(store: store, lifetime: .seconds(1))
        let tokens = TokenAuthority(store: store, policy: configuration.tokens, issuer: "sluice", clock: clock)
        let hasher = PasswordHasher(parameters: configuration.passwords, threads: 1, queue: 1)
        await hasher.shutdown()
        let accounts = AccountService(
            store: store, apps: apps, tokens: tokens, hasher: hasher,
            foreignKeys: ForeignKeys(metrics: metrics) { _ in throw HarnessError("no keys are fetched") },
            mails: MailRoom(hook: nil, metrics: metrics, logger: logger), configuration: configuration, clock: clock,
            metrics: metrics, logger: logger)
        let registry = ConnectionRegistry(metrics: metrics)
        let link = ClusterLink(
            configuration: configuration, apps: apps,
            watch: AppWatch(apps: apps, store: store, interval: .seconds(1), logger: logger), readiness: Readiness(),
            clock: clock, metrics: metrics, keysChanged: {}, logger: logger)
        let gate = UpgradeGate(
            apps: apps, accounts: accounts, sockets: AppSockets(limit: 1), quotas: QuotaValues(),
            rates: RateQuotas(settings: QuotaValues(), clock: clock), isLinkUp: { false },
            isStopping: { false },
            clock: clock, metrics: metrics, logger: logger)
        return ClientRoutes(
            accounts: accounts, registry: registry, link: link, gate: gate, origin: { "" },
            configuration: configuration, clock: clock, metrics: metrics)
    }
}
