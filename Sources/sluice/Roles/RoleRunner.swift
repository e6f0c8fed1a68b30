import Coordinator
import Foundation
import Gateway
import Logging
import Metrics
import Operations
import ServiceLifecycle
import Storage
import SyncModel
import UnixSignals
import Worker

/// Builds the services of a process from its settings and runs them as one group until SIGTERM or SIGINT.
struct RoleRunner {
    enum Role: String, CaseIterable { case coordinator, worker, gateway }

    let settings: ClusterSettings
    let logger: Logger
    private let metrics = PrometheusRegistry()
    private let readiness = Readiness()
    private let id: String

    /// - Parameter name: how the process is called in logs.
    init(settings: ClusterSettings, name: String) {
        let configuration = settings.configuration
        LoggingBootstrap.bootstrap(format: configuration.logFormat, level: configuration.logLevel)
        MetricsSystem.bootstrap(metrics)
        self.settings = settings
        id = configuration.id ?? "\(name)-\(String(UInt32.random(in: .min ... .max), radix: 36))"
        logger = Self.logger(name, id: id)
    }

    /// A logger with a name of its own, also where several roles run in one process.
    private static func logger(_ name: String, id: String) -> Logger {
        var logger = Logger(label: "sluice.\(name)")
        logger[metadataKey: "id"] = "\(id)"
        return logger
    }

    /// Runs the roles until a signal comes. Health, readiness and metrics are there from the beginning: what the process waits for
    /// before it can enter the cluster is what somebody then wants to know.
    func run(_ roles: [Role]) async throws {
        let configuration = settings.configuration
        let slices = try settings.sliceCount()
        let stores = try settings.stores(logger: logger)
        let names = roles.map(\.rawValue).joined(separator: ",")
        logger.info("starting", metadata: ["version": "\(Version.current)", "roles": "\(names)"])
        Gauge(label: "sluice.build_info", dimensions: [("version", Version.current), ("roles", names)]).record(1)
        Gauge(label: "sluice.slices").record(slices.value)

        let certificates = try Certificates(configuration, roles: roles, logger: logger)
        let operations = OperationsService(
            host: configuration.operationsHost, port: configuration.operationsPort ?? (roles.count > 1 ? 9091 : 0),
            tls: certificates.operations, readiness: readiness, metrics: metrics, logger: logger)
        let profile = ProcessProfile(
            readiness: readiness, port: operations.boundPort, host: configuration.operationsHost,
            isSecure: certificates.operations != nil)
        var services: [any Service] = [
            CertificateWatch(certificates.all, interval: configuration.certificateInterval),
            FreedMemory(),
            operations,
            ClusterMembership(
                enter: { try await enter(as: roles, slices, stores) },
                services: { try self.services(of: roles, $0, certificates, profile, slices: slices, stores: stores) },
                logger: logger),
        ]
        if let reports = ServiceManagerReports(
            environment: ProcessInfo.processInfo.environment,
            processIdentifier: ProcessInfo.processInfo.processIdentifier, readiness: readiness, logger: logger)
        {
            services.insert(reports, at: 0)
        }
        var group = ServiceGroupConfiguration(services, logger: logger)
        group.gracefulShutdownSignals = [.sigterm, .sigint]
        group.maximumGracefulShutdownDuration = configuration.shutdownDeadline
        group.maximumCancellationDuration = .seconds(5)
        do {
            try await ServiceGroup(configuration: group).run()
        } catch is CancellationError {
            // A signal came while something was still waiting to begin: that is an orderly end, too.
        }
        logger.info("stopped")
    }

    /// Brings the process into its cluster; waits for what is away, and says so.
    private func enter(
        as roles: [Role], _ slices: SliceCount, _ stores: any Stores
    ) async throws -> ClusterEntrance.Admission {
        for role in roles { role.waits(for: .store, "the process has just begun", in: readiness) }
        let entrance = ClusterEntrance(settings: settings, slices: slices, stores: stores, logger: logger) {
            for role in roles { role.waits(for: $0, $1, in: readiness) }
        }
        // An embedded store is on this machine's disk: what is wrong there is said at once.
        let mayBeAway = stores.inspector().files == nil
        let (admission, recorded) = try await waitingForStore { error in
            for role in roles { role.waits(for: .store, error.words, in: readiness) }
            logger.warning("the store cannot be reached", metadata: ["error": "\(error)"])
        } _: {
            do {
                let admission = try await entrance.enter()
                return (admission, try await admission.control.sliceCount(orCreate: slices.value))
            } catch let error as StoreError where error.isRetriable && !mayBeAway {
                throw CommandFailure(describing: error)
            }
        }
        guard recorded == slices.value else {
            throw CommandFailure(
                .badInput,
                "this cluster has \(recorded.counted("slice")) and the settings say \(slices.value): set SLUICE_SLICES=\(recorded)"
                    + " (sluice slices grow gives a stopped cluster more)"
            )
        }
        return admission
    }

    /// What runs once the process is in its cluster.
    private func services(
        of roles: [Role], _ admission: ClusterEntrance.Admission, _ certificates: Certificates,
        _ profile: ProcessProfile,
        slices: SliceCount, stores: any Stores
    ) throws -> [any Service] {
        let control = admission.control
        // A gateway whose store is away keeps the sessions that it has: others would not serve them better.
        let watched = roles.filter { $0 != .gateway }.map { "\($0.rawValue).store" }
        let watch = StoreWatch(
            of: watched, in: readiness, words: { ($0 as? StoreError)?.words ?? "\($0)" },
            ask: { _ = try await control.cluster() })
        let services = try roles.map { role -> any Service in
            switch role {
            case .coordinator: try coordinator(admission, certificates, profile, slices: slices, stores: stores)
            case .worker: try worker(admission, profile, slices: slices, stores: stores)
            case .gateway: try gateway(admission, certificates, profile, slices: slices)
            }
        }
        // From here on the roles say for themselves that they are not ready yet.
        for role in roles {
            for what in [ClusterEntrance.Waiting.store, .broker] { role.waits(for: what, nil, in: readiness) }
        }
        return [watch] + services
    }

    private func logger(of role: Role) -> Logger { Self.logger(role.rawValue, id: id) }

    /// Nil for 0 days: for ever, or never.
    private static func duration(ofDays days: Int) -> Duration? { days > 0 ? .seconds(days * 86_400) : nil }

    private func coordinator(
        _ admission: ClusterEntrance.Admission, _ certificates: Certificates, _ profile: ProcessProfile,
        slices: SliceCount, stores: any Stores
    ) throws -> CoordinatorService {
        let configuration = settings.configuration
        var coordinator = CoordinatorConfiguration(
            id: id, host: configuration.coordinator.host, port: configuration.coordinator.port,
            adminToken: configuration.adminToken,
            adminTokenFile: configuration.adminTokenFile ?? settings.defaultTokenFile,
            amqp: try settings.amqp(name: "coordinator \(id)"), topology: settings.topology, slices: slices,
            tickInterval: configuration.tickInterval,
            keyRotation: Self.duration(ofDays: configuration.keyRotationDays),
            maxDeadLetters: configuration.maxDeadLetters, stores: stores.inspector())
        coordinator.stalledReader = configuration.stalledReader
        coordinator.gate = admission.gate
        coordinator.process = { profile.facts(of: .coordinator) }
        coordinator.quotas = configuration.quotas
        coordinator.grafanaURL = configuration.grafanaURL
        coordinator.publicURL = configuration.coordinatorPublicURL
        coordinator.anonymousLifetime = Self.duration(ofDays: configuration.anonymousDays)
        coordinator.campaignLifetime = Self.duration(ofDays: configuration.campaignDays)
        coordinator.tls = certificates.coordinator
        return CoordinatorService(
            configuration: coordinator, control: admission.control, readiness: readiness,
            logger: logger(of: .coordinator))
    }

    private func worker(
        _ admission: ClusterEntrance.Admission, _ profile: ProcessProfile, slices: SliceCount, stores: any Stores
    ) throws -> WorkerService {
        let configuration = settings.configuration
        var limits = WorkerLimits()
        limits.mergeStepsPerUpload = UInt64(configuration.uploadMergeSteps)
        limits.mergeStepsPerRealm = UInt64(configuration.realmMergeSteps)
        limits.mergeStepsPerApp = UInt64(configuration.appMergeSteps)
        limits.compaction.minVersions = UInt64(configuration.compactionVersions)
        limits.compaction.minBytes = UInt64(configuration.compactionBytes)
        limits.resetSharePercent = configuration.resetSharePercent
        limits.quotas = configuration.quotas
        limits.clientFileLifetime = Self.duration(ofDays: configuration.clientFileDays)
        var worker = WorkerConfiguration(
            id: id, amqp: try settings.amqp(name: "worker \(id)"), topology: settings.topology, slices: slices,
            prefetch: configuration.workerPrefetch, heartbeatInterval: configuration.heartbeatInterval,
            leaseDuration: configuration.leaseDuration, limits: limits)
        worker.spoolFolder = configuration.spoolFolder
        worker.gate = admission.gate
        worker.process = { profile.facts(of: .worker) }
        worker.registry = admission.registry
        return WorkerService(
            configuration: worker, apps: admission.control, stores: stores, readiness: readiness,
            logger: logger(of: .worker))
    }

    private func gateway(
        _ admission: ClusterEntrance.Admission, _ certificates: Certificates, _ profile: ProcessProfile,
        slices: SliceCount
    ) throws -> GatewayService {
        let configuration = settings.configuration
        var gateway = GatewayConfiguration(
            id: id, host: configuration.gateway.host, port: configuration.gateway.port,
            publicURL: configuration.gatewayPublicURL, amqp: try settings.amqp(name: "gateway \(id)"),
            topology: settings.topology, slices: slices)
        gateway.gate = admission.gate
        gateway.process = { profile.facts(of: .gateway) }
        gateway.tls = certificates.gateway
        if let url = configuration.mailURL {
            gateway.mail = HTTPMailHook(url: url, secret: configuration.mailSecret)
        } else if let command = configuration.mailCommand {
            gateway.mail = CommandMailHook(command: command)
        }
        gateway.limits.quotas = configuration.quotas
        gateway.timings.failureDelay = .seconds(configuration.gatewayFailureDelaySeconds)
        gateway.limits.maxAppConnections = configuration.gatewayMaxAppSockets
        gateway.spoolFolder = configuration.gatewaySpoolFolder
        gateway.limits.passwordThreads = configuration.passwordHashes
        gateway.passwords.logN = configuration.passwordCost
        gateway.proxies.trusted = configuration.trustedProxies
        gateway.proxies.announceClients = configuration.proxyProtocol
        gateway.timings.requestDeadline = configuration.requestDeadline
        gateway.timings.resetDecision = configuration.requestDeadline * 3 / 2
        return GatewayService(
            configuration: gateway, control: admission.control, readiness: readiness, logger: logger(of: .gateway))
    }
}

extension RoleRunner.Role {
    /// Says in the readiness what the role waits for before it can begin, and why; or that it does not any more.
    func waits(for what: ClusterEntrance.Waiting, _ reason: String?, in readiness: Readiness) {
        let component =
            switch (self, what) {
            case (.gateway, .store): "gateway.listener"
            case (.gateway, .broker): "gateway.broker"
            case (_, .store): "\(rawValue).store"
            case (_, .broker): "\(rawValue).broker"
            }
        readiness.set(
            component, of: "entrance", ready: reason == nil, reason: reason.map { "waits to begin: \($0)" } ?? "")
    }
}
