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

    func run(_ roles: [Role]) async throws {
        let configuration = settings.configuration
        let slices = try settings.sliceCount()
        let stores = try settings.stores(logger: logger)
        let admission = try await ClusterEntrance(
            settings: settings, slices: slices, stores: stores, logger: logger
        ).enter()
        let control = admission.control
        let recorded = try await control.sliceCount(orCreate: slices.value)
        guard recorded == slices.value else {
            throw CommandFailure(
                .badInput,
                "this cluster has \(recorded) slices and the settings say \(slices.value): set SLUICE_SLICES=\(recorded)"
                    + " (sluice slices grow gives a stopped cluster more)"
            )
        }
        let names = roles.map(\.rawValue).joined(separator: ",")
        logger.info("starting", metadata: ["version": "\(Version.current)", "roles": "\(names)"])
        Gauge(label: "sluice.build_info", dimensions: [("version", Version.current), ("roles", names)]).record(1)
        Gauge(label: "sluice.slices").record(slices.value)

        let certificates = try Certificates(configuration, roles: roles, logger: logger)
        var services: [any Service] = [
            CertificateWatch(certificates.all, interval: configuration.certificateInterval),
            FreedMemory(),
            StoreWatch { _ = try await control.cluster() },
            OperationsService(
                host: configuration.operationsHost, port: configuration.operationsPort ?? (roles.count > 1 ? 9091 : 0),
                tls: certificates.operations,
                readiness: readiness, metrics: metrics, logger: logger),
        ]
        if let reports = ServiceManagerReports(
            environment: ProcessInfo.processInfo.environment,
            processIdentifier: ProcessInfo.processInfo.processIdentifier, readiness: readiness, logger: logger)
        {
            services.insert(reports, at: 0)
        }
        for role in roles {
            switch role {
            case .coordinator: services.append(try coordinator(admission, certificates, slices: slices, stores: stores))
            case .worker: services.append(try worker(admission, slices: slices, stores: stores))
            case .gateway: services.append(try gateway(admission, certificates, slices: slices))
            }
        }
        var group = ServiceGroupConfiguration(
            services: services.map {
                ServiceGroupConfiguration.ServiceConfiguration(
                    service: $0, successTerminationBehavior: .gracefullyShutdownGroup,
                    failureTerminationBehavior: .gracefullyShutdownGroup)
            },
            gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        group.maximumGracefulShutdownDuration = configuration.shutdownDeadline
        group.maximumCancellationDuration = .seconds(5)
        do {
            try await ServiceGroup(configuration: group).run()
        } catch is CancellationError {
            // A signal came while something was still waiting to begin: that is an orderly end, too.
        }
        logger.info("stopped")
    }

    private func logger(of role: Role) -> Logger { Self.logger(role.rawValue, id: id) }

    /// Nil for 0 days: for ever, or never.
    private static func duration(ofDays days: Int) -> Duration? { days > 0 ? .seconds(days * 86_400) : nil }

    private func coordinator(
        _ admission: ClusterEntrance.Admission, _ certificates: Certificates, slices: SliceCount, stores: any Stores
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
        coordinator.gate = admission.gate
        coordinator.quotas = configuration.quotas
        coordinator.grafanaURL = configuration.grafanaURL
        coordinator.anonymousLifetime = Self.duration(ofDays: configuration.anonymousDays)
        coordinator.campaignLifetime = Self.duration(ofDays: configuration.campaignDays)
        coordinator.tls = certificates.coordinator
        return CoordinatorService(
            configuration: coordinator, control: admission.control, readiness: readiness,
            logger: logger(of: .coordinator))
    }

    private func worker(
        _ admission: ClusterEntrance.Admission, slices: SliceCount, stores: any Stores
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
        worker.registry = admission.registry
        return WorkerService(
            configuration: worker, apps: admission.control, stores: stores, readiness: readiness,
            logger: logger(of: .worker))
    }

    private func gateway(
        _ admission: ClusterEntrance.Admission, _ certificates: Certificates, slices: SliceCount
    ) throws -> GatewayService {
        let configuration = settings.configuration
        var gateway = GatewayConfiguration(
            id: id, host: configuration.gateway.host, port: configuration.gateway.port,
            publicURL: configuration.gatewayPublicURL, amqp: try settings.amqp(name: "gateway \(id)"),
            topology: settings.topology, slices: slices)
        gateway.gate = admission.gate
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
