import AsyncHTTPClient
import Hummingbird
import HummingbirdCore
package import Logging
import Messages
import NIOCore
package import Operations
import ServiceLifecycle
package import Storage
import SyncProtocol
import Synchronization

/// The gateway role: clients on one side, the cluster on the other. Holds no state that must outlive it.
package final class GatewayService: Service {
    /// The port that clients are served on, once it is known.
    package let boundPort = BoundPort()
    private let configuration: GatewayConfiguration
    private let control: any AppStore & AccountStore
    private let readiness: Readiness
    private let logger: Logger
    private let clock: GatewayClock
    private let origin = Mutex("")
    /// Checks passwords while the service runs.
    let hasher: PasswordHasher

    package init(
        configuration: GatewayConfiguration, control: any AppStore & AccountStore, readiness: Readiness,
        clock: GatewayClock = .system, logger: Logger
    ) {
        self.configuration = configuration
        self.control = control
        self.readiness = readiness
        self.clock = clock
        hasher = PasswordHasher(
            parameters: configuration.passwords, threads: configuration.limits.passwordThreads,
            queue: configuration.limits.passwordQueue)
        var logger = logger
        logger[metadataKey: "gateway"] = "\(configuration.id)"
        self.logger = logger
        readiness.set("gateway.listener", ready: false, reason: "starting")
        readiness.set("gateway.broker", ready: false, reason: "starting")
    }

    package func run() async throws {
        defer { boundPort.stop() }
        let metrics = GatewayMetrics()
        let apps = AppDirectory(store: control, lifetime: configuration.timings.appCache)
        let tokens = TokenAuthority(
            store: control, policy: configuration.tokens, issuer: configuration.publicURL ?? "sluice", clock: clock)
        let (readiness, logger) = (readiness, logger)
        do {
            try await cancelWhenGracefulShutdown {
                try await waitingForStore { error in
                    readiness.set("gateway.listener", ready: false, reason: "waits to begin: \(error.words)")
                    logger.warning("the signing keys cannot be read, will try again", metadata: ["error": "\(error)"])
                } _: {
                    try await tokens.loadKeys()
                }
            }
        } catch  where Task.isShuttingDownGracefully {
            return
        }
        readiness.set("gateway.listener", ready: false, reason: "starting")
        hasher.start()
        // Follows no redirect: where another service has its keys is the operator's to say.
        let client = HTTPClient(configuration: .init(redirectConfiguration: .disallow))
        let mails = MailRoom(hook: configuration.mail, metrics: metrics, logger: logger)
        let accounts = AccountService(
            store: control, apps: apps, tokens: tokens, hasher: hasher,
            foreignKeys: ForeignKeys(metrics: metrics, fetch: ForeignKeys.overHTTP(client)), mails: mails,
            configuration: configuration,
            clock: clock, metrics: metrics, logger: logger)
        let registry = ConnectionRegistry(metrics: metrics)
        let watch = AppWatch(
            apps: apps, store: control, interval: configuration.timings.settingsWatch, logger: logger)
        let link = ClusterLink(
            configuration: configuration, apps: apps, watch: watch, readiness: readiness, clock: clock,
            metrics: metrics, keysChanged: { tokens.keysChanged() }, logger: logger)
        let environment = ConnectionEnvironment(
            gateway: configuration.id, limits: configuration.limits, timings: configuration.timings,
            protocolLimits: .standard, link: link, apps: apps, accounts: accounts,
            rights: RightsJudge(store: control, rules: apps.rules), watch: watch, registry: registry,
            budget: UploadBudget(limit: configuration.limits.gatewayUnacknowledgedBytes, metrics: metrics),
            rates: RateQuotas(settings: configuration.limits.quotas, clock: clock),
            sets: SetQuotas(settings: configuration.limits.quotas),
            metrics: metrics, clock: clock, logger: logger)
        let keeper = ConnectionKeeper(
            registry: registry, link: link, interval: configuration.timings.housekeeping,
            closing: configuration.timings.closing)
        // Stopped in the reverse order: clients are told first, then the port closes, then the link.
        let group = ServiceGroup(
            configuration: .init(
                services: [
                    KeyKeeper(tokens: tokens, interval: configuration.timings.keyReading, logger: logger), mails, link,
                    watch, reporter(environment), application(environment, metrics), keeper,
                ], logger: logger))
        var failure: (any Error)?
        do {
            try await reportingTakenPort(at: configuration.host, configuration.port, settings: "gateway") {
                try await group.run()
            }
        } catch {
            failure = error
        }
        await hasher.shutdown()
        try? await client.shutdown()
        readiness.set("gateway.listener", ready: false, reason: "stopped")
        if let failure { throw failure }
    }

    private func reporter(_ environment: ConnectionEnvironment) -> FiguresReporter {
        FiguresReporter(link: environment.link, budget: environment.budget, interval: .seconds(5)) { [self] in
            var facts = configuration.process?()
            facts?.address = origin.withLock { $0.isEmpty ? nil : $0 }
            return facts
        }
    }

    private func application(_ environment: ConnectionEnvironment, _ metrics: GatewayMetrics) -> some Service {
        let registry = environment.registry
        let link = environment.link
        let gate = UpgradeGate(
            apps: environment.apps, accounts: environment.accounts,
            sockets: AppSockets(limit: configuration.limits.maxAppConnections), quotas: configuration.limits.quotas,
            rates: environment.rates, isLinkUp: { link.isUp },
            isStopping: { registry.isStopping }, clock: clock, metrics: metrics, logger: logger)
        let configuration = configuration
        let origin: @Sendable () -> String = { [self] in self.origin.withLock { $0 } }
        let server = HTTPServerBuilder { responder in
            SyncChildChannel(
                responder: responder, timings: configuration.timings,
                maxMessageBytes: environment.protocolLimits.maxMessageBytes, proxies: configuration.proxies,
                tls: configuration.tls, gate: gate, origin: origin,
                serve: { socket, upgrade in
                    defer { upgrade.seat.giveUp() }
                    let connection = ClientConnection(upgrade: upgrade, environment: environment)
                    guard registry.add(connection) else {
                        try? await socket.channel.close()
                        return
                    }
                    await connection.run(socket)
                    registry.remove(connection)
                })
        }
        var quiet = logger
        quiet.logLevel = max(logger.logLevel, .notice)
        let router = ClientRoutes(
            accounts: environment.accounts, registry: registry, link: link, gate: gate, origin: origin,
            configuration: configuration, clock: clock, metrics: metrics
        ).router()
        router.refuseOtherMethods(answersHead: true) { APIError.methodNotAllowed($0) }
        return Application(
            router: router, server: server,
            configuration: ApplicationConfiguration(
                address: .hostname(configuration.host, port: configuration.port), serverName: nil,
                // As many as the kernel allows by itself: who finds no room comes again a second later at the earliest.
                backlog: 4096,
                availableConnectionsDelegate: MaximumAvailableConnections(configuration.limits.maxConnections)),
            onServerRunning: { channel in await self.listening(on: channel) }, logger: quiet)
    }

    private func listening(on channel: any Channel) async {
        let port = channel.localAddress?.port ?? configuration.port
        let host = ["0.0.0.0", "::", ""].contains(configuration.host) ? "localhost" : configuration.host
        let scheme = configuration.tls == nil ? "http" : "https"
        var url = configuration.publicURL ?? "\(scheme)://\(host.contains(":") ? "[\(host)]" : host):\(port)"
        while url.hasSuffix("/") { url.removeLast() }
        let origin = url
        self.origin.withLock { $0 = origin }
        boundPort.set(port)
        readiness.set("gateway.listener", ready: true)
        logger.info("serving clients", metadata: ["address": "\(configuration.host):\(port)", "origin": "\(origin)"])
    }
}
