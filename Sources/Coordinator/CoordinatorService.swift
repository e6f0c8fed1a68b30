package import Logging
import Messages
package import Operations
import ServiceLifecycle
package import Storage
import SyncModel

/// Apps, terminations and campaigns: serves the admin API, consumes reports, ticks the slices.
///
/// Several may run. All serve the admin API, for everything that lasts is in the store; the broker delivers reports to
/// one, which is the active one and also ticks.
package final class CoordinatorService: Service {
    /// The admin API's port, once it listens.
    package let boundPort = BoundPort()
    private let configuration: CoordinatorConfiguration
    private let control: any ControlStore
    private let readiness: Readiness
    private let logger: Logger

    package init(
        configuration: CoordinatorConfiguration, control: any ControlStore, readiness: Readiness, logger: Logger
    ) {
        self.configuration = configuration
        self.control = control
        self.readiness = readiness
        var logger = logger
        logger[metadataKey: "coordinator"] = "\(configuration.id)"
        self.logger = logger
        CoordinatorMetrics.start()
        for component in ["coordinator.broker", "coordinator.store", "coordinator.role", "coordinator.slices"] {
            readiness.set(component, ready: false, reason: "starting")
        }
    }

    package func run() async throws {
        defer { boundPort.stop() }
        let (readiness, logger) = (readiness, logger)
        do {
            try await cancelWhenGracefulShutdown {
                try await waitingForStore { error in
                    readiness.set("coordinator.store", ready: false, reason: "waits to begin: \(error.words)")
                    logger.warning("the store cannot be read, will try again", metadata: ["error": "\(error)"])
                } _: { [self] in
                    try await checkSlices()
                }
            }
        } catch  where Task.isShuttingDownGracefully {
            return
        }
        var configuration = configuration
        configuration.process = configuration.process.map { tell in Self.addressed(tell, configuration, boundPort) }
        let context = CoordinatorContext(
            configuration: configuration, store: control, readiness: readiness, clock: .system, logger: logger)
        let server = AdminServer(
            context: context, boundPort: boundPort, token: try AdminToken.resolve(configuration))
        try await withGracefulShutdownHandler {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await server.run() }
                group.addTask { try await BrokerWork(context: context).run() }
                group.addTask { await CoordinatorReporter(context: context).run() }
                // All end by themselves in a graceful shutdown; one that fails takes the others with it.
                while try await group.next() != nil {}
            }
        } onGracefulShutdown: {
            context.state.stop()
        }
    }

    /// The facts of the process with the admin API's address, once it listens.
    private static func addressed(
        _ tell: @escaping @Sendable () -> ProcessFacts, _ configuration: CoordinatorConfiguration, _ port: BoundPort
    ) -> @Sendable () -> ProcessFacts {
        let (host, isSecure) = (configuration.host, configuration.tls != nil)
        return {
            var facts = tell()
            facts.address = port.current.map { ReachableAddress.url(isSecure: isSecure, host: host, port: $0) }
            return facts
        }
    }

    private func checkSlices() async throws {
        let recorded = try await control.sliceCount(orCreate: configuration.slices.value)
        guard recorded == configuration.slices.value else {
            throw CoordinatorError(
                .sliceCount,
                "the cluster has \(recorded.counted("slice")), the configuration says \(configuration.slices.value): "
                    + "sluice slices grow gives it more")
        }
        readiness.set("coordinator.store", ready: true, reason: "open")
    }
}
