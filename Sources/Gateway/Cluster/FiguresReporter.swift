import Messages
import ServiceLifecycle

/// Tells the coordinators now and then how the gateway stands, and once more when it stops.
struct FiguresReporter: Service {
    /// Apps that are told of with what they have under way.
    private static let mostApps = 100

    let link: ClusterLink
    let budget: UploadBudget
    let interval: Duration
    let process: @Sendable () -> ProcessFacts?

    func run() async throws {
        while !Task.isShuttingDownGracefully && !Task.isCancelled {
            show(isStaying: true)
            try? await cancelWhenGracefulShutdown { try await Task.sleep(for: interval) }
        }
        show(isStaying: false)
    }

    private func show(isStaying: Bool) {
        let unacknowledged = budget.largest(Self.mostApps)
        link.showFigures(
            unacknowledged: unacknowledged.isEmpty ? nil : unacknowledged, process: process(), isStaying: isStaying)
    }
}
