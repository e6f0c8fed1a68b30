import ServiceLifecycle

/// Tells the coordinators now and then how the gateway stands, and once more when it stops.
struct FiguresReporter: Service {
    let link: ClusterLink
    let interval: Duration

    func run() async throws {
        while !Task.isShuttingDownGracefully && !Task.isCancelled {
            link.showFigures(isStaying: true)
            try? await cancelWhenGracefulShutdown { try await Task.sleep(for: interval) }
        }
        link.showFigures(isStaying: false)
    }
}
