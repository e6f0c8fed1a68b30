import Hummingbird
package import Logging
import ServiceLifecycle

/// The operator's port of a process: health, readiness and metrics, apart from what clients reach.
package final class OperationsService: Service {
    package let boundPort = BoundPort()
    private let host: String
    private let port: Int
    private let tls: ServerIdentity?
    private let firstRequest: Duration
    private let readiness: Readiness
    private let metrics: PrometheusRegistry?
    private let logger: Logger

    /// - Parameters:
    ///   - port: 0 for one that is free; `boundPort` and the log say which.
    ///   - tls: what it proves to be who it is with; nil: it speaks plain HTTP.
    ///   - firstRequest: a socket that has sent no request by then is closed.
    package init(
        host: String, port: Int, tls: ServerIdentity? = nil, firstRequest: Duration = .seconds(30),
        readiness: Readiness, metrics: PrometheusRegistry?, logger: Logger
    ) {
        self.host = host
        self.port = port
        self.tls = tls
        self.firstRequest = firstRequest
        self.readiness = readiness
        self.metrics = metrics
        self.logger = logger
    }

    package func run() async throws {
        defer { boundPort.stop() }
        // Load balancers ask by HEAD, too.
        let router = Router(options: .autoGenerateHeadEndpoints)
        addOperationsRoutes(to: router, readiness: readiness, metrics: metrics)
        let application = Application(
            router: router, server: .http1(tls: tls, firstRequest: firstRequest),
            configuration: ApplicationConfiguration(address: .hostname(host, port: port)),
            onServerRunning: { [boundPort, logger, host] channel in
                let port = channel.localAddress?.port ?? 0
                boundPort.set(port)
                logger.info("operations endpoint listening", metadata: ["host": "\(host)", "port": "\(port)"])
            },
            logger: logger)
        try await reportingTakenPort(at: host, port, settings: "operations") { try await application.run() }
    }
}
