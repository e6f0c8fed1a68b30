import Logging
import ServiceLifecycle

/// What a process does in its cluster: enters it, and then runs its roles. The process answers operators before that.
struct ClusterMembership: Service {
    let enter: @Sendable () async throws -> ClusterEntrance.Admission
    let services: @Sendable (ClusterEntrance.Admission) throws -> [any Service]
    let logger: Logger

    func run() async throws {
        let admission: ClusterEntrance.Admission
        do {
            admission = try await cancelWhenGracefulShutdown { try await enter() }
        } catch  where Task.isShuttingDownGracefully {
            // Whatever it was about to find out, nobody waits for it any more.
            return
        }
        let configuration = ServiceGroupConfiguration(try services(admission), logger: logger)
        try await ServiceGroup(configuration: configuration).run()
    }
}

extension ServiceGroupConfiguration {
    /// Services of which none is of use without the others: when one ends, all do.
    init(_ services: [any Service], logger: Logger) {
        self.init(
            services: services.map {
                ServiceConfiguration(
                    service: $0, successTerminationBehavior: .gracefullyShutdownGroup,
                    failureTerminationBehavior: .gracefullyShutdownGroup)
            }, logger: logger)
    }
}
